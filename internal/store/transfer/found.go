package transfer

import (
	"slices"
	"strconv"
	"strings"
)

// Found counts lines of an import that deserve a warning.
type Found struct {
	Count int `json:"count"`
	// Lines are the first few of them.
	Lines []int `json:"lines,omitempty"`
}

func (f *Found) note(line int) {
	f.Count++
	f.Lines = firstLines(f.Lines, line)
}

// namedLines is how many lines a report names.
const namedLines = 5

// firstLines appends a line, unless enough are named, it is one of them, or it is 0.
func firstLines(lines []int, line int) []int {
	if line > 0 && len(lines) < namedLines && !slices.Contains(lines, line) {
		lines = append(lines, line)
	}
	return lines
}

// NamedLines names the first of count lines in words.
func NamedLines(count int, first []int) string {
	lines := make([]string, len(first))
	for i, line := range first {
		lines[i] = strconv.Itoa(line)
	}
	if count == 1 {
		return "line " + lines[0]
	}
	return "for example lines " + strings.Join(lines, ", ")
}
