package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign"
)

// A view is a struct that says once how a noun is printed: its json tags as an object, its row tags as a row of a table,
// its card tags as a card. A tag is the place among the others and the label, then how the value is written:
//
//	row:"5,SOLD"               a column; moments are days
//	row:"9,LAST USED,minute"   a moment to the minute
//	row:"8,USES,thousands"     a number as 1,234,567
//	row:"2,NAME,text"          free text, which is cut where the terminal is too narrow
//	row:"7,AFTER,brief"        free text of which no more than 40 characters are printed
//	card:"4,Sold"              a line; moments are to the second
//	card:"7,Ends,optional"     a line that is left out when it is empty
//
// Fields that are only printed have json:"-". A field of type []Line stands for several lines of a card.

// briefLength is how much of a brief text is printed, in characters.
const briefLength = 40

// Line is a line of a card.
type Line struct{ Label, Value string }

// Lines returns lines of a card from labels and values in turn.
func Lines(labelsAndValues ...string) []Line {
	var lines []Line
	for pair := range slices.Chunk(labelsAndValues, 2) {
		lines = append(lines, Line{pair[0], pair[1]})
	}
	return lines
}

// column is a field of a view that is printed.
type column struct {
	place  int
	label  string
	format string
	index  []int
}

// columnsOf lists the fields of a view that have a tag, in their order.
func columnsOf(view reflect.Type, tag, format string) []column {
	var all []column
	for _, f := range reflect.VisibleFields(view) {
		text, ok := f.Tag.Lookup(tag)
		if !ok {
			continue
		}
		parts := strings.SplitN(text, ",", 3)
		place, err := strconv.Atoi(parts[0])
		if err != nil || len(parts) < 2 {
			panic("cli: the tag " + text + " of " + view.Name() + "." + f.Name)
		}
		c := column{place, parts[1], format, f.Index}
		if len(parts) == 3 {
			c.format = parts[2]
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b column) int { return a.place - b.place })
	return all
}

// textOf writes a value for a person, "" for none.
func textOf(v reflect.Value, format string) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case bool:
		return YesNo(x)
	case countersign.Timestamp:
		switch format {
		case "day":
			return Day(x)
		case "minute":
			return Minute(x)
		}
		return Second(x)
	case int64:
		if format == "thousands" {
			return Thousands(x)
		}
	case string:
		if format == "brief" && utf8.RuneCountInString(x) > briefLength {
			return string([]rune(x)[:briefLength]) + "…"
		}
	}
	return fmt.Sprint(v.Interface())
}

// Show prints what is known of one thing: its view as a JSON object with --json, else as a card. It returns err, the error
// of the call that the view came from, and prints nothing then.
func (t *Console) Show(view any, err error) error {
	switch {
	case err != nil:
		return err
	case t.JSON:
		return t.PrintJSON(view)
	}
	var rows [][]string
	of := reflect.ValueOf(view)
	for _, c := range columnsOf(of.Type(), "card", "") {
		field := of.FieldByIndex(c.index)
		if several, ok := field.Interface().([]Line); ok {
			for _, line := range several {
				rows = append(rows, []string{line.Label, line.Value})
			}
		} else if text := textOf(field, c.format); text != "" || c.format != "optional" {
			rows = append(rows, []string{c.label, text})
		}
	}
	return writeTable(t.Out, rows, nil, 0)
}
