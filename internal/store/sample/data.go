package sample

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

//go:embed data/workspaces.jsonl
var workspaceLines string

//go:embed data/items.jsonl
var itemLines string

// End returns the moment up to which the shop is told: no purchase, refund or
// registration is later.
func End() time.Time { return time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC) }

func embedded(file string) []string {
	return strings.Split(strings.TrimSuffix(file, "\n"), "\n")
}

// timestamp writes t as the API prints it (spec 2, conventions).
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// amount writes hundredths as a JSON number with two decimals. It must not be negative.
func amount(hundredths int64) string {
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100)
}

// workspaces returns the usernames of the shop in the order of their lines.
func workspaces() []string {
	lines := embedded(workspaceLines)
	names := make([]string, len(lines))
	for i, line := range lines {
		var w struct{ Username string }
		if err := json.Unmarshal([]byte(line), &w); err != nil {
			panic(fmt.Sprintf("sample: data/workspaces.jsonl line %d: %v", i+1, err)) // embedded, and tested
		}
		names[i] = w.Username
	}
	return names
}

// publishableItem is the item that the demo's publishable key is bound to.
const publishableItem = 1022

const (
	demoWorkspace  = "lumenfold" // sells all three kinds of items
	emptyWorkspace = "newleaf"   // has opened its shop and sells nothing yet
)
