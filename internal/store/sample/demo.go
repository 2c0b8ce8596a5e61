package sample

import (
	"encoding/json"
	"fmt"
)

const (
	demoWorkspace  = "lumenfold" // sells all three kinds of items
	emptyWorkspace = "newleaf"   // has opened its shop and sells nothing yet
)

// Demo is what somebody needs to know to try the shop of Lines with Options.Keys.
type Demo struct {
	Workspace    string // whose purchases and key these are
	APIKey       string // secret key of Workspace
	PurchaseCode string // active, downloaded, with support beyond End
	RefundedCode string // refunded shortly before End
	EmptyAPIKey  string // secret key of a workspace without items
}

// NewDemo finds the values in the shop: the newest purchases that fit.
func NewDemo() Demo {
	d := Demo{
		Workspace:   demoWorkspace,
		APIKey:      SecretKey(demoWorkspace),
		EmptyAPIKey: SecretKey(emptyWorkspace),
	}
	for _, p := range purchases() {
		switch {
		case p.item.Workspace != demoWorkspace:
		case p.state == "refunded":
			d.RefundedCode = p.code
		case p.state == "active" && p.downloaded && p.item.Support && p.supportedUntil.After(End()):
			d.PurchaseCode = p.code
		}
	}
	return d
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
