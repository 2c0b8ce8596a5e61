// Package health holds what "doctor" and the health pages say about a service,
// and the checks that both services share.
package health

// Level describes how much a finding matters.
type Level string

// The levels.
const (
	OK   Level = "ok"
	Warn Level = "warn"
	Fail Level = "fail"
	// Skipped is for what was not checked, and What says why.
	Skipped Level = "skipped"
)

// Finding is the result of one check. Its texts are for people and hold no
// secret.
type Finding struct {
	// Name is short and stable, for example "database".
	Name  string `json:"name"`
	Level Level  `json:"level"`
	// What was found.
	What string `json:"what"`
	// Why it matters; empty when all is well.
	Why string `json:"why,omitempty"`
	// Fix is what to do next, often a command; empty when all is well.
	Fix string `json:"fix,omitempty"`
}

func good(name, what string) Finding { return Finding{Name: name, Level: OK, What: what} }
