package transfer

import "slices"

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
