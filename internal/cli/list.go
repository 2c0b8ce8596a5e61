package cli

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

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
	t.Format.Choices = []string{formatJSON, formatLines, formatCSV}
	t.Format.Register(c, "output", "o", "print the list as json (one array), jsonl (an object a line) or csv in place of a table")
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
	l := &List[V]{console: t, format: t.Format.Value, columns: columnsOf(view, "row", "day"), out: bufio.NewWriter(t.Lines(t.Format.Value != formatCSV))}
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
		l.addRow(reflect.ValueOf(view))
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

func (l *List[V]) addRow(view reflect.Value) {
	row := make([]string, len(l.columns))
	for i, c := range l.columns {
		row[i] = textOf(view.FieldByIndex(c.index), c.format)
	}
	l.rows = append(l.rows, row)
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
		header[i], isText[i] = c.label, c.format == "text"
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
