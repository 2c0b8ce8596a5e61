package cli

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"
)

// tableGap is how many spaces are between two columns.
const tableGap = 3

// writeTable writes rows of the same length in columns. Where they are wider than a terminal (0: it is no terminal), the
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
	var b bytes.Buffer
	for _, row := range rows {
		for i, cell := range row {
			cell = shorten(cell, widths[i])
			b.WriteString(cell)
			if i < len(row)-1 {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+tableGap))
			}
		}
		b.WriteByte('\n')
	}
	_, err := b.WriteTo(out)
	return err
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
