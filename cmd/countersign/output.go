package main

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/countersign/countersign"
)

// printJSON prints one object on a line of its own.
func (a *app) printJSON(v any) error {
	text, err := countersign.EncodeJSON(v)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	_, err = a.term.out.Write(append(safeJSON(text), '\n'))
	return err
}

// say talks to the person at the terminal, unless --quiet.
func (a *app) say(format string, args ...any) {
	if !a.quiet {
		fmt.Fprintf(a.term.err, format+"\n", args...)
	}
}

// warn is for what must be read, also with --quiet.
func (a *app) warn(format string, args ...any) {
	fmt.Fprintf(a.term.err, "countersign: warning: "+format+"\n", args...)
}

// list prints things one after the other: a table for people, which is aligned
// when it ends, or an object a line with --json.
type list struct {
	app    *app
	header []string
	rows   int
	out    *bufio.Writer
	table  *tabwriter.Writer
}

func (a *app) newList(header ...string) *list {
	out := bufio.NewWriter(a.term.out)
	return &list{app: a, header: header, out: out, table: tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)}
}

// add prints one thing: the object with --json, else the cells.
func (l *list) add(object any, cells ...string) error {
	l.rows++
	if l.app.json {
		text, err := countersign.EncodeJSON(object)
		if err != nil {
			return fmt.Errorf("print: %w", err)
		}
		_, err = l.out.Write(append(safeJSON(text), '\n'))
		return err
	}
	if l.rows == 1 {
		l.row(l.header)
	}
	l.row(cells)
	return nil
}

func (l *list) row(cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(l.table, "\t")
		}
		fmt.Fprint(l.table, orDash(safe(cell)))
	}
	fmt.Fprint(l.table, "\n")
}

// end prints what is left. nothing is what to tell a person about an empty list.
func (l *list) end(nothing string) error {
	if l.rows == 0 {
		l.app.say("%s", nothing)
	}
	if err := l.table.Flush(); err != nil {
		return err
	}
	return l.out.Flush()
}

// pair is a line of a card.
type pair struct{ label, value string }

// printCard prints what is known of one thing: an object with --json, else a
// line for each pair.
func (a *app) printCard(object any, pairs ...pair) error {
	if a.json {
		return a.printJSON(object)
	}
	table := tabwriter.NewWriter(a.term.out, 0, 0, 3, ' ', 0)
	for _, p := range pairs {
		fmt.Fprintf(table, "%s\t%s\n", p.label, orDash(safe(p.value)))
	}
	return table.Flush()
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// money writes an amount with its currency.
func money(m countersign.Money, currency string) string {
	return strings.TrimSuffix(m.String()+" "+currency, " ")
}

// day writes the day of a moment, "" for none.
func day(t countersign.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02")
}

// minute writes a moment for a table, "" for none.
func minute(t countersign.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

// second writes a moment for a card, "" for none.
func second(t countersign.Timestamp) string {
	if t.IsZero() {
		return ""
	}
	return t.String()
}

// orNull makes the zero value null in JSON.
func orNull[T interface{ IsZero() bool }](v T) *T {
	if v.IsZero() {
		return nil
	}
	return &v
}

// idOrNull makes the id 0 null in JSON.
func idOrNull(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// idText writes an id for a person, "" for 0.
func idText(id int64) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprint(id)
}

// thousands writes a number as 1,234,567.
func thousands[N int | int64](n N) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// count writes a number and its noun: "1 line", "2,000 lines".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}
