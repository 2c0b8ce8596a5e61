package transfer

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/countersign/countersign/internal/spreadsheet"
	"github.com/countersign/countersign/internal/store/rules"
)

var (
	// formulaBegin is how a formula of a spreadsheet begins.
	formulaBegin = regexp.MustCompile(`^=\s*[-+@("'{.$#\\_\pL\pN]`)
	// quotedText is the formula by which exports keep a spreadsheet from changing a text.
	quotedText = regexp.MustCompile(`^="((?:[^"]|"")*)"$`)
)

func isFormula(text string) bool {
	return strings.HasPrefix(text, "=") && formulaBegin.MatchString(text)
}

// plainCell is the text of a cell. One that would be a formula keeps the apostrophe by which somebody has said that
// it is a text.
func plainCell(cell string) string {
	cell = rules.TrimInvisible(cell)
	text := spreadsheet.Uncell(cell)
	if !strings.HasPrefix(text, "=") {
		return text
	}
	if m := quotedText.FindStringSubmatch(text); m != nil {
		return rules.TrimInvisible(strings.ReplaceAll(m[1], `""`, `"`))
	}
	if isFormula(text) {
		return cell
	}
	return text
}

// textOf is the text of a plain cell. It is an error for a formula.
func textOf(cell string) (string, error) {
	if isFormula(cell) {
		return "", fmt.Errorf("%q is a formula of a spreadsheet; write its value, or an apostrophe before a text that begins like one", cell)
	}
	if text, ok := strings.CutPrefix(cell, "'"); ok && isFormula(text) {
		return spreadsheet.Uncell(cell), nil
	}
	return cell, nil
}
