//go:build linux

package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report is what one scenario came to.
type report struct {
	title string
	rows  []row
	// outage is how long no server took connections, and back how long after it the last
	// validation that failed was begun.
	outage, back time.Duration
	// refusals are the sorted times of answers of 503 meanwhile.
	refusals []time.Duration
	// opened is how many connections the store made meanwhile, to the server that had most.
	opened     int
	violations []string
	// note is an additional line, "" for none.
	note string
	// logs are the paths of logs, by name.
	logs map[string]string
}

// add adds rows and the violations of what the load saw.
func (r *report) add(seen *record, rows ...row) {
	r.rows = append(r.rows, rows...)
	r.violations = append(r.violations, seen.violations...)
}

// row is a part of the load in the table.
type row struct {
	name string
	count
}

// shown is how many violations of a scenario are printed.
const shown = 5

func printTable(out io.Writer, reports []report) {
	if len(reports) == 0 {
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\trequests\tright\t503\tgave up\tlongest s\tmissing\twrong\tunanswered\tearly\t\t")
	for _, r := range reports {
		fmt.Fprintf(w, "%s\t\t\t\t\t\t\t\t\t\t\t\n", r.title)
		for _, one := range r.rows {
			c := one.count
			mark := ""
			if c.violations() > 0 {
				mark = "!"
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.1f\t%d\t%d\t%d\t%d\t%s\t\n", one.name,
				c.requests, c.right, c.unavailable, c.gaveUp, c.longest.Seconds(), c.missing, c.wrong, c.unanswered, c.early, mark)
		}
	}
	_ = w.Flush()
	fmt.Fprintln(out)
	for _, r := range reports {
		r.printNotes(out)
	}
}

// printNotes prints what does not fit into the table.
func (r report) printNotes(out io.Writer) {
	if r.note != "" {
		fmt.Fprintf(out, "%s: %s\n", r.title, r.note)
	}
	if r.outage > 0 {
		fmt.Fprintf(out, "%s: no server took connections for %.1f s; the last validation that failed began %.1f s after that; %.1f new connections a second to one server meanwhile\n",
			r.title, r.outage.Seconds(), max(0, r.back.Seconds()), float64(r.opened)/r.outage.Seconds())
	}
	if n := len(r.refusals); n > 0 {
		fmt.Fprintf(out, "%s: answers of 503 to requests sent later than 2 s after that began: %d, after %.3f s (median), %.3f s (longest)\n",
			r.title, n, r.refusals[n/2].Seconds(), r.refusals[n-1].Seconds())
	}
	if n := len(r.violations); n > 0 {
		fmt.Fprintf(out, "%s: %d violations\n", r.title, n)
	}
	for i, line := range r.violations {
		if i == shown {
			fmt.Fprintf(out, "  ! and %d more\n", len(r.violations)-shown)
			break
		}
		fmt.Fprintf(out, "  ! %s\n", line)
	}
}
