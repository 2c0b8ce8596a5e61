package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// result is all that one run prints as JSON.
type result struct {
	Machine   string `json:"machine"`
	Engine    string `json:"engine"`
	Purchases int    `json:"purchases"`
	Flags     string `json:"serve_flags"`
	Against   string `json:"against"`
	// Baseline is the path of the other binary of the store, "" without one.
	Baseline string `json:"baseline,omitempty"`
	// Start is the time from the start of the process to the first right answer.
	Start time.Duration `json:"start_to_first_answer_ns"`
	Cases []comparison  `json:"cases"`
	// Figures are those of the whole run that have a bound.
	Figures []figure `json:"figures"`
}

const bareHandler = "a bare net/http handler"

// measure runs all cases on one store.
func (s *shop) measure(ctx context.Context, log io.Writer) (result, error) {
	r := result{
		Machine: fmt.Sprintf("%s, %d processors, %s", runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Engine:  s.settings.engine(), Purchases: s.settings.purchases,
		Flags: strings.TrimSpace(s.settings.serveFlags), Against: bareHandler,
	}
	list := cases(s.settings)
	switch {
	case s.baseline != nil:
		r.Baseline, r.Against = s.baseline.binary, "the binary "+s.baseline.binary
	case s.settings.peer != "":
		r.Against = s.settings.peer
		list = list[:min(2, len(list))]
	}
	var err error
	if r.Start, err = s.startToAnswer(ctx); err != nil {
		return r, err
	}
	for _, c := range list {
		compared, err := s.compare(ctx, c)
		if err != nil {
			return r, fmt.Errorf("%s: %w", c.name, err)
		}
		compared.bounded = boundedBy(r.held(compared), r.bound(c.name))
		r.Cases = append(r.Cases, compared)
		fmt.Fprintf(log, "%s: %.2f\n", c.name, r.held(compared))
	}
	r.Figures = r.figures()
	return r, nil
}

// held is the figure of a case that its bound is for.
func (r result) held(c comparison) float64 {
	if r.Baseline != "" {
		return c.LowerQuartile
	}
	return c.Ratio
}

// leftOut counts the pairs of turns that do not count.
func (r result) leftOut() int {
	n := 0
	for _, c := range r.Cases {
		n += len(c.LeftOut)
	}
	return n
}

// peer is the name of the server of another make, "" for the bare handler and for a
// baseline.
func (r result) peer() string {
	if r.Against == bareHandler || r.Baseline != "" {
		return ""
	}
	return filepath.Base(filepath.Dir(strings.Fields(r.Against)[0]))
}

// file is the name under which a result is kept.
func (r result) file() string {
	name := fmt.Sprintf("%s-%d", r.Engine, r.Purchases)
	if strings.Contains(r.Flags, "--log") {
		name += "-log"
	}
	if peer := r.peer(); peer != "" {
		name += "-" + peer
	}
	if r.Baseline != "" {
		name += "-baseline"
	}
	return name + ".json"
}
