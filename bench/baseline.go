package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/countersign/countersign/bench/program"
)

// baselineCases are the cases that are measured against another binary of the store.
var baselineCases = []string{caseWarm, caseCold, caseInvalid, caseBadKeys, caseMixed}

const (
	// baselineRounds is how many pairs of turns a case has by default: the lower
	// quartile of few pairs says little.
	baselineRounds = 31
	// baselineBound is the most that the lower quartile of the ratios may be.
	baselineBound = 1.03
)

// useBaseline fills a store with the baseline's binary, and copies it for the binary
// under test, which migrates its copy. Both begin with the same bytes, and the older
// binary keeps the schema that it knows.
func (s *shop) useBaseline(ctx context.Context, log io.Writer) error {
	dir := filepath.Join(s.settings.out, "baseline")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	old := &shop{settings: s.settings, binary: s.settings.baseline, data: filepath.Join(dir, "old")}
	old.settings.out = dir // its server's log
	if err := old.fill(ctx, log); err != nil {
		return err
	}
	if err := os.Remove(old.lines()); err != nil {
		return err
	}
	s.baseline, s.data = old, filepath.Join(dir, "new")
	if err := program.Copy(ctx, old.data, s.data); err != nil {
		return fmt.Errorf("copy the baseline's store: %w", err)
	}
	return s.command(ctx, "store", "migrate", "up", "--quiet")
}

// serveBaseline starts the baseline on its own store and brings it to where the store
// under test begins its turns.
func (s *shop) serveBaseline(ctx context.Context, c benchCase) (*process, error) {
	p, err := s.baseline.serve(ctx, c.serve...)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(waitReady(ctx, p.address), warm(ctx, p.address, c)); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// lowerQuartile is the ratio that a quarter of the pairs do not exceed.
func lowerQuartile(all []pair) float64 {
	ratios := make([]float64, len(all))
	for i, p := range all {
		ratios[i] = p.Ratio
	}
	slices.Sort(ratios)
	return ratios[(len(ratios)-1)/4]
}

// slower is an error that names the cases in which the store misses its bound against
// the baseline, nil when there are none.
func (r result) slower() error {
	var all []error
	for _, c := range r.Cases {
		if r.Baseline != "" && c.Missed {
			all = append(all, fmt.Errorf("slower than the baseline: %s: the lower quartile of the ratios is %.3f, at most %.2f", c.Name, c.LowerQuartile, c.AtMost))
		}
	}
	return errors.Join(all...)
}

// printBaseline prints the table of a run against a baseline.
func printBaseline(out io.Writer, r result) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tCPU µs\tbaseline's\tlower quartile\tat most\t\tmedian\treq/s\tbaseline's\tpairs\tleft out\tstolen %\t")
	for _, c := range r.Cases {
		fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.3f\t%s\t%s\t%.3f\t%.0f\t%.0f\t%d\t%d\t%.0f\t\n", c.Name,
			float64(c.Store.CPU.Nanoseconds())/1000, float64(c.Other.CPU.Nanoseconds())/1000, c.LowerQuartile, c.atMost(), c.mark(), c.Ratio,
			c.Store.PerSecond, c.Other.PerSecond, len(c.Pairs), len(c.LeftOut), 100*meanStolen(c.Pairs))
	}
	_ = w.Flush()
	fmt.Fprintln(out)
}
