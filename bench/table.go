package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

func printTable(out io.Writer, r result) {
	flags := ""
	if r.Flags != "" {
		flags = ", " + r.Flags
	}
	fmt.Fprintf(out, "\n%s, %d purchases%s, %s, against %s\n\n", r.Engine, r.Purchases, flags, r.Machine, r.Against)
	if r.Baseline != "" {
		printBaseline(out, r)
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "case\tCPU µs\tother µs\tratio\tat most\t\treq/s\tother req/s\tp50 ms\tp99 ms\tRssAnon MB\tWAL MB\tstolen %\t")
	for _, c := range r.Cases {
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.2f\t%s\t%s\t%.0f\t%.0f\t%.2f\t%.2f\t%d\t%d\t%.0f\t\n", c.Name,
			float64(c.Store.CPU.Nanoseconds())/1000, float64(c.Other.CPU.Nanoseconds())/1000, c.Ratio, c.atMost(), c.mark(),
			c.Store.PerSecond, c.Other.PerSecond, milliseconds(c.Store.P50), milliseconds(c.Store.P99), c.Store.Anonymous/megabyte, c.Log/megabyte, 100*meanStolen(c.Pairs))
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	if n := r.leftOut(); n > 0 {
		fmt.Fprintf(out, "left out, because other machines took more of the processors meanwhile: %d pairs of turns\n", n)
	}
	for _, f := range r.Figures {
		fmt.Fprintf(out, "%s: %.0f %s%s\n", f.Name, f.Value, f.Unit, f.aside())
	}
}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// atMost is the bound in the table, empty where there is none.
func (b bounded) atMost() string {
	if b.AtMost == 0 {
		return ""
	}
	return fmt.Sprintf("%.4g", b.AtMost)
}

// aside is the bound behind a figure.
func (b bounded) aside() string {
	switch {
	case b.AtMost == 0:
		return ""
	case b.Missed:
		return fmt.Sprintf(" (at most %s) !", b.atMost())
	}
	return fmt.Sprintf(" (at most %s)", b.atMost())
}
