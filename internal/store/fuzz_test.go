package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
)

// seeds are lines of every kind, good and bad.
func seeds() []string {
	list := strings.Split(strings.TrimSpace(before), "\n")
	for _, c := range badLines {
		if len(c.line) < 1000 {
			list = append(list, c.line)
		}
	}
	return append(list,
		purchaseText("ada", 1, "a-code", `"supported_until":"2025-04-27 12:00:00"`, `"state":"revoked"`, `"state_at":"2024-09-22T05:02:13.000000+02:00"`),
		keyText("ada", "a", `"class":"publishable"`, `"item_id":2`, `"key":"another-key-01"`, `"previous_key":"earlier-key-01"`, `"expires_at":"2030-01-01T00:00:00Z"`),
		itemText("ada", 1, `"media":{"preview_video":"https://v.example","screenshots":[]}`, `"options":null`, `"price":{"extended":0.1}`),
		workspaceText("eve", `"profile":{"social_links":[]}`, `"balance":-90000000000.99`))
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
		if err := checkWorkspace(l.workspace()); err != nil {
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
		if err := first(checkItem(i), render(&i)); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(lineOfItem(i, l.Workspace))
	case "purchase":
		var l purchaseLine
		if err := decodeLine(raw, &l); err != nil {
			return nil, err
		}
		p := l.purchase()
		if err := checkPurchase(&p); err != nil {
			return nil, err
		}
		return countersign.EncodeJSON(lineOfPurchase(p, l.Workspace))
	}
	return nil, fmt.Errorf("no kind %q", kind)
}

// FuzzImportLine gives the importer a line of anybody's making. What it accepts
// comes through an export and an import unchanged, and both engines can store it.
func FuzzImportLine(f *testing.F) {
	for _, line := range seeds() {
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

// FuzzImportFile gives the importer a whole file of anybody's making, on a real
// database. It never fails: every line is good or has a reason.
func FuzzImportFile(f *testing.F) {
	list := seeds()
	for i := range list {
		f.Add([]byte(strings.Join(list[i:min(i+5, len(list))], "\r\n")))
	}
	f.Add([]byte("\ufeff\n\n" + before))
	s := prepared(f, dbtest.New(f, dbtest.SQLite))
	s.mustImport(f, before)
	f.Fuzz(func(t *testing.T, file []byte) {
		numbers := map[int]bool{}
		report, err := s.Import(t.Context(), operator, bytes.NewReader(file), ImportOptions{DryRun: true, SkipBad: true,
			Bad: func(line int, reason string, _ []byte) {
				if line < 1 || reason == "" || numbers[line] {
					t.Errorf("line %d: %q, told before: %t", line, reason, numbers[line])
				}
				numbers[line] = true
			}})
		if err != nil {
			t.Fatal(err)
		}
		moved := func(m Moved) int64 { return m.New + m.Changed + m.Same }
		good := moved(report.Workspaces) + moved(report.Keys) + moved(report.Items) + moved(report.Purchases)
		if report.Bad != len(numbers) || report.Lines < report.Bad || good > int64(report.Lines-report.Bad) {
			t.Errorf("%+v, %d lines refused", report, len(numbers))
		}
	})
}
