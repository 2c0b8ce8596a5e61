package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/transfer"
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

// FuzzImportFile passes the importer a whole file of anybody's making, on a real
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
		report, err := s.Transfer.Import(t.Context(), operator, bytes.NewReader(file), transfer.ImportOptions{DryRun: true, SkipBad: true,
			Bad: func(line int, reason string, _ []byte) {
				if line < 1 || reason == "" || numbers[line] {
					t.Errorf("line %d: %q, told before: %t", line, reason, numbers[line])
				}
				numbers[line] = true
			}})
		if err != nil {
			t.Fatal(err)
		}
		moved := func(m transfer.Moved) int64 { return m.New + m.Changed + m.Same }
		good := moved(report.Workspaces) + moved(report.Keys) + moved(report.Items) + moved(report.Purchases)
		if report.Bad != len(numbers) || report.Lines < report.Bad || good > int64(report.Lines-report.Bad) {
			t.Errorf("%+v, %d lines refused", report, len(numbers))
		}
	})
}
