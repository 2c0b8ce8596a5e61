package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/spf13/cobra"
)

// The formats of a list.
const (
	formatJSON  = "json"
	formatLines = "jsonl"
	formatCSV   = "csv"
)

// Listing adds the flag for the format of what a command lists.
func (t *Console) Listing(c *cobra.Command) *cobra.Command {
	ChoiceVar(c, &t.Format, "output", "o", "print the list as json (one array), jsonl (an object a line) or csv in place of a table", formatJSON, formatLines, formatCSV)
	return c
}

// List prints views one after the other: a table for people, which is aligned when it ends, or in the format that
// --json or --output names.
type List[V any] struct {
	console *Console
	format  string
	columns []column // of a table
	members []string // of a line of CSV
	rows    [][]string
	out     *bufio.Writer
	csv     *csv.Writer
	count   int
}

// NewList begins a list.
func NewList[V any](t *Console) *List[V] {
	view := reflect.TypeFor[V]()
	l := &List[V]{console: t, format: t.Format, columns: columnsOf(view, "row", "day"), out: bufio.NewWriter(t.Lines(t.Format != formatCSV))}
	switch {
	case t.JSON:
		l.format = formatLines
	case l.format == formatCSV:
		l.members, l.csv = membersOf(view), csv.NewWriter(l.out)
		_ = l.csv.Write(l.members) // its error is that of the last flush
	}
	return l
}

// membersOf lists the members of a view's JSON object.
func membersOf(view reflect.Type) []string {
	var names []string
	for _, f := range reflect.VisibleFields(view) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

// Len returns how many views were added.
func (l *List[V]) Len() int { return l.count }

// Add prints one view.
func (l *List[V]) Add(view V) error {
	l.count++
	if l.format == "" {
		row, of := make([]string, len(l.columns)), reflect.ValueOf(view)
		for i, c := range l.columns {
			row[i] = textOf(of.FieldByIndex(c.index), c.format)
		}
		l.rows = append(l.rows, row)
		return nil
	}
	text, err := countersign.EncodeJSON(view)
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	switch text = SafeJSON(text); {
	case l.format == formatCSV:
		return l.addCSV(text)
	case l.format == formatJSON && l.count == 1:
		text = append([]byte("["), text...)
	case l.format == formatJSON:
		text = append([]byte(",\n"), text...)
	default:
		text = append(text, '\n')
	}
	_, err = l.out.Write(text)
	return err
}

// addCSV writes the members of an object as cells: texts as they are, null as nothing, all else as JSON.
func (l *List[V]) addCSV(object []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(object, &values); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	cells := make([]string, len(l.members))
	for i, name := range l.members {
		value := values[name]
		switch text := ""; {
		case len(value) == 0 || string(value) == "null":
		case json.Unmarshal(value, &text) == nil:
			cells[i] = spreadsheet.Cell(text)
		case value[0] == '{' || value[0] == '[':
			cells[i] = spreadsheet.Cell(string(value))
		default:
			cells[i] = string(value)
		}
	}
	return l.csv.Write(cells)
}

// End prints what is left. nothing is what to tell a person about an empty list.
func (l *List[V]) End(nothing string) error {
	if l.count == 0 {
		l.console.Say("%s", nothing)
	}
	var err error
	switch {
	case l.format == "" && l.count > 0:
		err = l.writeTable()
	case l.csv != nil:
		l.csv.Flush()
	case l.format == formatJSON && l.count == 0:
		_, err = l.out.WriteString("[]\n")
	case l.format == formatJSON:
		_, err = l.out.WriteString("]\n")
	}
	if err != nil {
		return err
	}
	return l.out.Flush()
}

func (l *List[V]) writeTable() error {
	header, isText := make([]string, len(l.columns)), make([]bool, len(l.columns))
	for i, c := range l.columns {
		header[i], isText[i] = c.label, c.format == "text" || c.format == "brief"
	}
	return writeTable(l.out, append([][]string{header}, l.rows...), isText, l.console.Out.Width)
}

// PrintList prints the views of things. It returns err, the error of the call that the things came from, and prints
// nothing then. nothing is what to tell a person about an empty list.
func PrintList[T, V any](t *Console, things []T, view func(T) V, nothing string, err error) error {
	if err != nil {
		return err
	}
	l := NewList[V](t)
	for _, thing := range things {
		if err := l.Add(view(thing)); err != nil {
			return err
		}
	}
	return l.End(nothing)
}

// tableGap is how many spaces are between two columns.
const tableGap = 3

// writeTable writes rows of the same length in columns. Where they are wider than a terminal (0: not a terminal), the
// columns of free text are cut.
func writeTable(out io.Writer, rows [][]string, isText []bool, terminal int) error {
	if len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = orDash(Safe(row[i]))
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	if terminal > 0 {
		fit(widths, rows[0], isText, terminal)
	}
	w := tabwriter.NewWriter(out, 0, 0, tableGap, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = shorten(row[i], widths[i])
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// fit makes the widest columns of free text narrower until a table fits into a terminal, but none narrower than its header.
func fit(widths []int, header []string, isText []bool, terminal int) {
	all := tableGap * (len(widths) - 1)
	for _, w := range widths {
		all += w
	}
	for ; all > terminal; all-- {
		widest := -1
		for i, w := range widths {
			if isText[i] && w > utf8.RuneCountInString(header[i]) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// shorten cuts a text to a number of characters, the last of which then is an ellipsis.
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}
