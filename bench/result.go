package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// result is the outcome of a run that compares a store with another server.
type result struct {
	Machine   string `json:"machine"`
	Engine    string `json:"engine"`
	Purchases int    `json:"purchases"`
	Flags     string `json:"serve_flags"`
	Against   string `json:"against"`
	// Start is the time from the start of the process to the first correct response.
	Start time.Duration `json:"start_to_first_answer_ns"`
	Cases []comparison  `json:"cases"`
	// Figures are those of the whole run that have a bound.
	Figures []figure `json:"figures"`

	settings settings
	dropped  int64 // calls that the log of API requests did not keep up with
}

// measure runs all cases on one store.
func (s *shop) measure(ctx context.Context, log io.Writer) (result, error) {
	r := result{
		Machine: fmt.Sprintf("%s, %d processors, %s", runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
		Engine:  s.settings.engine(), Purchases: s.settings.purchases,
		Flags: strings.TrimSpace(s.settings.serveFlags), Against: "a bare net/http handler", settings: s.settings,
	}
	list := cases(s.settings)
	switch {
	case s.settings.mode == modeLog:
		r.Against = "the same store without the log of API requests"
	case s.settings.other != "":
		r.Against = s.settings.other
	}
	if s.settings.mode == modePeer {
		list = list[:min(2, len(list))]
	}
	began := time.Now()
	var err error
	if r.Start, err = s.startToAnswer(ctx); err != nil {
		return r, err
	}
	for _, c := range list {
		compared, err := s.compare(ctx, c)
		if err != nil {
			return r, fmt.Errorf("%s: %w", c.name, err)
		}
		compared.bounded = boundedBy(s.settings.decisive(compared), s.settings.bound(c.name))
		r.Cases = append(r.Cases, compared)
		fmt.Fprintf(log, "%s: %.2f\n", c.name, s.settings.decisive(compared))
	}
	if s.settings.mode == modeLog {
		if r.dropped, err = s.droppedSince(ctx, began); err != nil {
			return r, err
		}
	}
	r.Figures = r.figures()
	return r, nil
}

// decisive is the figure of a case that its bound is for.
func (s settings) decisive(c comparison) float64 {
	if s.mode == modeBaseline {
		return c.LowerQuartile
	}
	return c.Ratio
}

// missed names the cases that are slower than the baseline. Other bounds are only marked.
func (r result) missed() error {
	var all []error
	for _, c := range r.Cases {
		if r.settings.mode == modeBaseline && c.Missed {
			all = append(all, fmt.Errorf("slower than the baseline: %s: the lower quartile of the ratios is %.3f, at most %.2f", c.Name, c.LowerQuartile, c.AtMost))
		}
	}
	for _, f := range r.Figures {
		if r.settings.mode == modeLog && f.Missed {
			all = append(all, errors.New(f.String()))
		}
	}
	return errors.Join(all...)
}

// bounded is the highest value that is promised for a figure, 0 without a promise, and
// whether the figure is above it.
type bounded struct {
	AtMost float64 `json:"at_most,omitempty"`
	Missed bool    `json:"missed,omitempty"`
}

func boundedBy(value, atMost float64) bounded {
	return bounded{AtMost: atMost, Missed: atMost > 0 && value > atMost}
}

// String is the bound and a mark if it is missed, empty without a bound.
func (b bounded) String() string {
	switch {
	case b.AtMost == 0:
		return ""
	case b.Missed:
		return fmt.Sprintf("%.4g !", b.AtMost)
	}
	return fmt.Sprintf("%.4g", b.AtMost)
}

// bounds are the ratios to the floor that the store promises with default flags,
// by case, engine ("" is both) and number of purchases (0 is any).
var bounds = []struct {
	name, engine string
	purchases    int
	ratio        float64
}{
	{caseWarm, "", 1_000_000, 1.15},
	{caseCold, "sqlite", 1_000_000, 1.4},
	{caseBadKeys, "", 0, 1.15},
	{caseInvalid, "sqlite", 0, 1.4},
	{caseMixed, "sqlite", 0, 1.5},
	{"items/all, 10000 items, 304", "", 0, 1.15},
	{caseMembership, "", 0, 1.5},
	{"items/all, 10000 items", "", 0, 2},
	{"app/settings of the addon", "", 0, 1.3},
}

// peerBounds are the ratios to peers.
var peerBounds = map[string]float64{"pocketbase": 1.0 / 10, "php": 1.0 / 7}

const (
	// baselineBound is the most that the lower quartile of the ratios may be.
	baselineBound = 1.03
	// megabyte is what the figures call MB.
	megabyte = 1_000_000
)

// peer is the name of the peer: its folder.
func (s settings) peer() string { return filepath.Base(filepath.Dir(strings.Fields(s.other)[0])) }

// bound is the promised ratio of a case in this run, 0 without a promise.
func (s settings) bound(name string) float64 {
	switch {
	case s.mode == modeBaseline:
		return baselineBound
	case s.serveFlags != "", s.mode == modeLog:
		return 0
	case s.mode == modePeer:
		return peerBounds[s.peer()]
	}
	for _, b := range bounds {
		if b.name == name && (b.engine == "" || b.engine == s.engine()) && (b.purchases == 0 || b.purchases == s.purchases) {
			return b.ratio
		}
	}
	return 0
}

// figure is one number of a whole run, beside its bound.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	bounded
}

// figures are the start, the most memory of all cases with the default cache, and
// the largest write-ahead log of the mixed case for a minute.
func (r result) figures() []figure {
	var memory, log int64
	for _, c := range r.Cases {
		if c.Name != caseCold {
			memory = max(memory, c.Store.Anonymous)
		}
		if c.Name == caseMinute {
			log = c.Log
		}
	}
	var all []figure
	add := func(name, unit string, value, atMost float64, promised bool) {
		if !promised || r.Flags != "" {
			atMost = 0
		}
		if value > 0 {
			all = append(all, figure{name, value, unit, boundedBy(value, atMost)})
		}
	}
	if r.settings.mode == modeLog {
		for _, c := range r.Cases {
			cost := quantileOf(c.Pairs, median, func(p pair) float64 { return microseconds(p.store.CPU - p.other.CPU) })
			all = append(all, figure{"log of API requests, " + c.Name, cost, "µs of processor time a call", boundedBy(cost, logLimit)})
		}
		return append(all, figure{Name: "answered, but not logged in the whole run", Value: float64(r.dropped), Unit: "calls"})
	}
	add("start of the process to the first correct response", "ms", milliseconds(r.Start), 300, r.Purchases == 10_000_000)
	add("largest RssAnon of the store", "MB", float64(memory)/megabyte, 150, r.Purchases == 1_000_000)
	add("largest write-ahead log in a minute of the mixed case", "MB", float64(log)/megabyte, 64, true)
	return all
}

// growthBound is for 10,000,000 purchases to 10,000.
const growthBound = 1.35

// growthOf compares 10,000,000 purchases with 10,000 in the case that looks up every
// code, by processor time per request, with default flags.
func growthOf(results []result) []figure {
	type store struct {
		engine    string
		purchases int
	}
	cold := map[store]comparison{}
	for _, r := range results {
		for _, c := range r.Cases {
			if c.Name == caseCold && r.Flags == "" {
				cold[store{r.Engine, r.Purchases}] = c
			}
		}
	}
	var all []figure
	for _, engine := range []string{"sqlite", "postgres"} {
		few, many := cold[store{engine, 10_000}], cold[store{engine, 10_000_000}]
		if few.Ratio == 0 || many.Ratio == 0 {
			continue
		}
		atMost := map[string]float64{"sqlite": growthBound}[engine]
		over, plain := many.Ratio/few.Ratio, float64(many.Store.CPU)/float64(few.Store.CPU)
		name := engine + ", " + caseCold + ", 10,000,000 purchases to 10,000, "
		all = append(all, figure{name + "relative to the floor", over, "times", boundedBy(over, atMost)},
			figure{name + "without the floor", plain, "times", boundedBy(plain, atMost)})
	}
	return all
}

// newTable returns a table with right-aligned columns.
func newTable(out io.Writer) *tabwriter.Writer {
	return tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
}

func (r result) print(out io.Writer) {
	flags := ""
	if r.Flags != "" {
		flags = ", " + r.Flags
	}
	fmt.Fprintf(out, "\n%s, %d purchases%s, %s, against %s\n\n", r.Engine, r.Purchases, flags, r.Machine, r.Against)
	w := newTable(out)
	fmt.Fprintln(w, "case\tCPU µs\tother µs\tratio\tlower quartile\tat most\treq/s\tother req/s\tp50 ms\tp99 ms\tRssAnon MB\tWAL MB\tpairs\tomitted\tstolen %\t")
	for _, c := range r.Cases {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.3f\t%.3f\t%s\t%.0f\t%.0f\t%.2f\t%.2f\t%d\t%d\t%d\t%d\t%.0f\t\n", c.Name,
			microseconds(c.Store.CPU), microseconds(c.Other.CPU), c.Ratio, c.LowerQuartile, c.bounded,
			c.Store.PerSecond, c.Other.PerSecond, milliseconds(c.Store.P50), milliseconds(c.Store.P99),
			c.Store.Anonymous/megabyte, c.Log/megabyte, len(c.Pairs), len(c.LeftOut), 100*meanStolen(c.Pairs))
	}
	_ = w.Flush()
	printFigures(out, r.Figures)
}

func printFigures(out io.Writer, all []figure) {
	fmt.Fprintln(out)
	for _, f := range all {
		fmt.Fprintln(out, f)
	}
}

func (f figure) String() string {
	text := fmt.Sprintf("%s: %.4g %s", f.Name, f.Value, f.Unit)
	if f.AtMost > 0 {
		text += fmt.Sprintf(" (at most %s)", f.bounded)
	}
	return text
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1e3 }

func microseconds(d time.Duration) float64 { return d.Seconds() * 1e6 }
