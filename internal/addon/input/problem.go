package input

import "slices"

// Severity distinguishes what stops a publish from what the owner ought to know.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
)

// Problem is something about the settings as a whole.
type Problem struct {
	Severity Severity
	// Key is the setting it is about, "" for none.
	Key  string
	Text string
}

// SortProblems sorts errors before warnings.
func SortProblems(list []Problem) {
	slices.SortStableFunc(list, func(a, b Problem) int { return rank(a.Severity) - rank(b.Severity) })
}

func rank(s Severity) int { return slices.Index([]Severity{SeverityError, SeverityWarning}, s) }
