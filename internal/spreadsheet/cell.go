// Package spreadsheet makes text fit for files that people open in a spreadsheet.
package spreadsheet

import "strings"

// formulaSigns begin a formula, also in their wide forms.
const formulaSigns = "=+-@＝＋－＠"

// separators stand between cells, in one program or another.
const separators = ",;|\t\r\n"

// Cell keeps a spreadsheet from taking a cell for a formula, which could send
// other cells elsewhere. People choose some of these texts, their e-mail address
// for example. What stands behind a separator counts like the beginning: programs
// that split at commas, semicolons, bars, tabs or line ends take it for a cell of its own.
func Cell(cell string) string {
	if cell != "" && strings.ContainsRune("\t\r\n", rune(cell[0])) {
		cell = "'" + cell
	}
	var out strings.Builder
	starts := true
	for i, r := range cell {
		if starts && strings.ContainsRune(formulaSigns, r) {
			out.WriteByte('\'')
		}
		starts = strings.ContainsRune(separators, r) || starts && i > 0 && r == '"'
		out.WriteRune(r)
	}
	return out.String()
}

// Row is [Cell] for all cells of a row, which it returns as a new one.
func Row(cells []string) []string {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Cell(cell)
	}
	return row
}

// Uncell takes away what [Cell] has put before formulas, so that a cell of ours, or of
// another program that protects its cells, comes back as the text that it was.
func Uncell(cell string) string {
	if len(cell) > 1 && cell[0] == '\'' && strings.ContainsRune("\t\r\n", rune(cell[1])) {
		cell = cell[1:]
	}
	var out strings.Builder
	starts := true
	for i, r := range cell {
		if starts && r == '\'' && beginsFormula(cell[i+1:]) {
			continue
		}
		starts = strings.ContainsRune(separators, r) || starts && i > 0 && r == '"'
		out.WriteRune(r)
	}
	return out.String()
}

func beginsFormula(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(formulaSigns, r) }) == 0
}
