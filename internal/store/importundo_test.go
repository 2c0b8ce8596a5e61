package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/transfer"
)

// beforeImport has an item and two purchases that undoneFile changes.
var beforeImport = lines(itemText("ada", 1, `"description":"old"`, `"tags":["a"]`, `"media":{"screenshots":["https://x.example/1"]}`, `"licensing":{"regular_domains":5,"wildcard":false,"staging_hosts":[]}`),
	purchaseText("ada", 1, "old-1", `"state":"refunded","state_at":"2026-05-05T05:05:05Z"`, `"buyer":{"name":"Zoe","email":"z@x.example"}`), purchaseText("ada", 2, "old-2"), purchaseText("ada", 1, "old-3"))

// undoneFile adds the item 7 and the purchases new-1 and new-2, and changes item 1 and the
// purchases old-1 and old-2.
var undoneFile = lines(itemText("ada", 1, `"name":"changed"`), itemText("ada", 7),
	purchaseText("ada", 7, "new-1"), purchaseText("ada", 1, "new-2"), purchaseText("ada", 7, "OLD-1"), purchaseText("ada", 2, "old-2", `"price":7.00`), purchaseText("ada", 1, "old-3"))

// importToUndo imports both, and returns the second import and the exports before and after it.
func (f *fixture) importToUndo(t *testing.T) (id int64, before, after string) {
	t.Helper()
	f.mustImport(t, beforeImport)
	before = f.mustExport(t, false)
	id = f.mustImport(t, undoneFile).ID
	after = f.mustExport(t, false)
	if id == 0 || after == before {
		t.Fatalf("import %d", id)
	}
	return id, before, after
}

func TestAnUndoneImportLeavesTheStoreAsItWas(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		id, before, _ := f.importToUndo(t)
		list, err := f.Transfer.Imports(t.Context(), operator)
		if err != nil || len(list) != 2 || list[0].ID != id || list[0].Counts.Items != (transfer.Moved{New: 1, Changed: 1}) ||
			list[0].Counts.Purchases != (transfer.Moved{New: 2, Changed: 2, Same: 1}) || list[0].Actor != "tester" || !list[0].UndoneAt.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
		if _, err := f.Rekey(t.Context(), operator); err != nil { // gives every purchase another digest
			t.Fatal(err)
		}
		f = f.again(t)
		report, err := f.Transfer.Undo(t.Context(), operator, id, false)
		want := transfer.UndoReport{ID: id, Written: true, Items: transfer.UndoCounts{Removed: 1, Restored: 1}, Purchases: transfer.UndoCounts{Removed: 2, Restored: 2}}
		if err != nil || fmt.Sprint(report) != fmt.Sprint(want) {
			t.Errorf("%+v, %v", report, err)
		}
		if got := f.mustExport(t, false); got != before {
			t.Error(firstDifference(before, got))
		}
		if got := f.audits(t); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "store.undo_import") }) {
			t.Errorf("audit %q", got)
		}
		if got := f.newestAudit(t).After; got != "removed 3, restored 3, left 0" {
			t.Errorf("audit of the undo: %q", got)
		}
		if _, err := f.Transfer.Undo(t.Context(), operator, id, false); !fault.HasCode(err, "import_undone") {
			t.Errorf("a second time: %v", err)
		}
		list, err = f.Transfer.Imports(t.Context(), operator)
		if err != nil || list[0].UndoneAt.IsZero() || f.rows(t, "import_purchases") != 3 { // of the first import
			t.Errorf("%+v, %v, %d rows", list, err, f.rows(t, "import_purchases"))
		}
	})
}

func TestAnUndoLeavesAloneWhatHasChangedSince(t *testing.T) {
	cases := []struct {
		name string
		act  func(t *testing.T, f *fixture) error
		left []string // kind, name and reason
	}{
		{"a purchase that was added is refunded", func(t *testing.T, f *fixture) error {
			_, err := f.EndPurchase(t.Context(), operator, "new-2", StateRefunded)
			return err
		}, []string{"purchase new-2 changed"}},
		{"one is refunded and restored", func(t *testing.T, f *fixture) error {
			_, err := f.EndPurchase(t.Context(), operator, "new-2", StateRefunded)
			if err == nil {
				_, err = f.RestorePurchase(t.Context(), operator, "new-2")
			}
			return err
		}, []string{"purchase new-2 changed"}},
		{"a purchase that was changed is refunded", func(t *testing.T, f *fixture) error {
			_, err := f.EndPurchase(t.Context(), operator, "old-2", StateRefunded)
			return err
		}, []string{"purchase old-2 changed"}},
		{"a license was issued", func(t *testing.T, f *fixture) error { f.issue(t, "new-2", "a.example"); return nil }, []string{"purchase new-2 licensed"}},
		{"an item was edited", func(t *testing.T, f *fixture) error {
			_, err := f.EditItem(t.Context(), operator, 1, func(i *Item, _ string) error { i.Description = "edited"; return nil })
			return err
		}, []string{"item changed changed"}},
		{"a purchase of an item that was added", func(t *testing.T, f *fixture) error {
			f.mustImport(t, lines(purchaseText("ada", 7, "later")))
			return nil
		}, []string{"item Item 7 used"}},
		{"a key of an item that was added", func(t *testing.T, f *fixture) error {
			_, _, err := f.CreateKey(t.Context(), operator, NewKey{Workspace: "ada", Name: "bound", Class: ClassPublishable, Item: 7})
			return err
		}, []string{"item Item 7 used"}},
		{"another import changed a row", func(t *testing.T, f *fixture) error {
			f.mustImport(t, lines(purchaseText("ada", 1, "new-2", `"price":3.00`)))
			return nil
		}, []string{"purchase new-2 changed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				id, _, _ := f.importToUndo(t)
				if err := c.act(t, f); err != nil {
					t.Fatal(err)
				}
				after := f.mustExport(t, false)
				report, err := f.Transfer.Undo(t.Context(), operator, id, false)
				var left []string
				for _, row := range report.Left {
					left = append(left, row.Kind+" "+row.Name+" "+row.Reason)
				}
				if err != nil || report.Written || !slices.Equal(left, c.left) {
					t.Errorf("%+v, %v", report, err)
				}
				if got := f.mustExport(t, false); got != after {
					t.Error("something was undone: " + firstDifference(after, got))
				}
				report, err = f.Transfer.Undo(t.Context(), operator, id, true)
				if n := report.Items.Removed + report.Items.Restored + report.Purchases.Removed + report.Purchases.Restored; err != nil || !report.Written || n != 5 {
					t.Errorf("the rest: %+v, %v", report, err)
				}
			})
		})
	}
}

func TestAnImportCanBeUndoneForADay(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		id, before, after := f.importToUndo(t)
		f.clock.set(noon.Add(24 * time.Hour))
		if _, err := f.Transfer.Undo(t.Context(), operator, id, false); !fault.HasCode(err, "import_not_found") {
			t.Errorf("after a day: %v", err)
		}
		if list, err := f.Transfer.Imports(t.Context(), operator); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
		if got := f.mustExport(t, false); got != after {
			t.Error(firstDifference(after, got))
		}
		if err := f.Transfer.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := f.rows(t, "imports") + f.rows(t, "import_items") + f.rows(t, "import_purchases"); n != 0 {
			t.Errorf("%d rows are left", n)
		}
		f.mustImport(t, beforeImport)
		if got := f.mustExport(t, false); got == before {
			t.Error("an import removed something")
		}
	})
}

func TestOnlyImportsThatCanBeUndoneHaveAnID(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for name, file := range map[string]string{
			"with a workspace": lines(workspaceText("eve"), itemText("eve", 7)),
			"with a key":       lines(keyText("ada", "web"), itemText("ada", 8)),
			"without changes":  lines(itemText("ada", 1, `"support":true`)),
		} {
			if r := f.mustImport(t, file); r.ID != 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r, bad := f.importText(t, lines(itemText("ada", 9)), transfer.ImportOptions{DryRun: true}); r.ID != 0 || len(bad) > 0 {
			t.Errorf("a dry run: %+v", r)
		}
		if n := f.rows(t, "imports"); n != 0 {
			t.Errorf("%d imports", n)
		}
		for name, call := range map[string]func(people.Actor) error{
			"Imports": func(a people.Actor) error { _, err := f.Transfer.Imports(t.Context(), a); return err },
			"Undo":    func(a people.Actor) error { _, err := f.Transfer.Undo(t.Context(), a, 1, false); return err },
		} {
			if err := call(people.Actor{}); !fault.HasCode(err, "key_scope") {
				t.Errorf("%s by nobody: %v", name, err)
			}
		}
	})
}

// An undone purchase is not validated any more, and its refund counts again.
func TestAnUndoIsServedAtOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		id, _, _ := f.importToUndo(t)
		valid := func(code string) bool {
			r, err := f.Validation.Check(t.Context(), operator, code)
			return err == nil && r.Valid
		}
		if !valid("new-1") || !valid("old-1") {
			t.Fatal("not valid before the undo")
		}
		if _, err := f.Transfer.Undo(t.Context(), operator, id, false); err != nil {
			t.Fatal(err)
		}
		if valid("new-1") || valid("old-1") || !valid("old-2") {
			t.Error("the undo is not seen")
		}
	})
}
