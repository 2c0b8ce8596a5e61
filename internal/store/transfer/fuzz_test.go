package transfer

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/go-json-experiment/json"
)

var seeds = []string{
	`{"type":"workspace","username":"ada","name":{"firstname":"Ada","lastname":"Byron"},"email":"ada@shop.example","balance":-90000000000.99,"currency":"USD","registered_at":"2024-04-27T12:00:00Z","profile":{"social_links":[]}}`,
	`{"type":"key","workspace":"ada","name":"a","class":"publishable","item_id":2,"key":"another-key-01","previous_key":"earlier-key-01","expires_at":"2030-01-01T00:00:00Z"}`,
	`{"type":"item","workspace":"ada","id":1,"kind":"other","name":"Item 1","version":"1.2.3","price":{"regular":49.00,"extended":0.1},"currency":"USD","published_at":"2024-04-27T12:00:00Z","media":{"preview_video":"https://v.example","screenshots":[]},"options":null}`,
	`{"type":"purchase","workspace":"ada","item_id":1,"purchase_code":"a-code","license_type":"Regular","price":49.00,"currency":"USD","date":"2024-04-27T12:00:00Z","supported_until":"2025-04-27 12:00:00","state":"revoked","state_at":"2024-09-22T05:02:13.000000+02:00"}`,
	`{"type":"purchase","workspace":"ada","item_id":1,"purchase_code":"a-code","price":1e3}`,
	`{"type":"item","workspace":"ada","id":1,"id":2}`,
	`{"type":"key","workspace":"ada","name":"\u0000"}`,
	`null`, `[{"type":"item"}]`, `{"type":"sale"}`,
}

// exportedLine is what an export writes of an accepted line. Its workspace has
// to be there.
func exportedLine(raw []byte) ([]byte, error) {
	kind, err := lineType(raw)
	if err != nil {
		return nil, err
	}
	var owner struct {
		Workspace string `json:"workspace"`
	}
	if json.Unmarshal(raw, &owner) == nil && kind != "workspace" && owner.Workspace != "ada" {
		return nil, fmt.Errorf("no workspace %q", owner.Workspace)
	}
	switch kind {
	case "workspace":
		var l workspaceLine
		if err := decodeLine(raw, &l); err != nil {
			return nil, err
		}
		if err := rules.CheckWorkspace(l.workspace()); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(lineOfWorkspace(l.workspace()))
	case "key":
		var l keyLine
		if err := decodeLine(raw, &l); err != nil {
			return nil, err
		}
		if err := checkKeyLine(l); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(l)
	case "item":
		var l itemLine
		if err := decodeLine(raw, &l); err != nil {
			return nil, err
		}
		i := l.item()
		if err := cmp.Or(rules.CheckItem(i), rules.RenderItem(&i)); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(lineOfItem(i, l.Workspace))
	case "purchase":
		var l purchaseLine
		if err := decodeLine(raw, &l); err != nil {
			return nil, err
		}
		p := l.purchase()
		if err := rules.CheckPurchase(&p); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(lineOfPurchase(p, l.Workspace))
	}
	return nil, fmt.Errorf("no kind %q", kind)
}

// FuzzImportLine passes the importer a line of anybody's making. What it accepts
// comes through an export and an import unchanged, and both engines can store it.
func FuzzImportLine(f *testing.F) {
	for _, line := range seeds {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := exportedLine(raw)
		if err != nil {
			if err.Error() == "" {
				t.Error("refused without a reason")
			}
			return
		}
		if bytes.Contains(once, []byte(`\u0000`)) && !bytes.Contains(once, []byte(`\\u0000`)) || !utf8.Valid(once) || bytes.ContainsAny(once, "\n\r") {
			t.Errorf("accepted: %q", once)
		}
		twice, err := exportedLine(once)
		if err != nil {
			t.Fatalf("%s was accepted, but what it exports is not: %s: %v", raw, once, err)
		}
		if !bytes.Equal(once, twice) {
			t.Errorf("not the same after a second round:\n%s\n%s", once, twice)
		}
	})
}
