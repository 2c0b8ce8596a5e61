// Package spreadsheet makes text fit for files that people open in a spreadsheet.
package spreadsheet

import "strings"

// Cell keeps a spreadsheet from taking a cell for a formula, which could send
// other cells elsewhere. People choose some of these texts, their e-mail address
// for example. What stands behind a separator counts like the beginning: programs
// that split at semicolons, tabs or line ends take it for a cell of its own.
func Cell(cell string) string {
	if cell != "" && strings.ContainsRune("\t\r\n", rune(cell[0])) {
		cell = "'" + cell
	}
	var out strings.Builder
	starts := true
	for i, r := range cell {
		if starts && strings.ContainsRune("=+-@＝＋－＠", r) {
			out.WriteByte('\'')
		}
		starts = strings.ContainsRune(";\t\r\n", r) || starts && i > 0 && r == '"'
		out.WriteRune(r)
	}
	return out.String()
}
