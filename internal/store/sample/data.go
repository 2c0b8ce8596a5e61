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

// decoded returns what the lines of an embedded file of JSON Lines say.
func decoded[T any](file string) []T {
	lines := embedded(file)
	all := make([]T, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal([]byte(line), &all[i]); err != nil {
			panic(fmt.Sprintf("sample: line %d: %v", i+1, err)) // embedded, and tested
		}
	}
	return all
}

// publishableItem is the item that the demo's publishable key is bound to.
const publishableItem = 1010

const (
	demoWorkspace  = "pixelgrove" // sells themes and plugins, which are licensed for a domain
	emptyWorkspace = "newleaf"    // has opened its shop and sells nothing yet
)
