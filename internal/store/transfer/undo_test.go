package transfer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestAnUndoneImportLeavesTheStoreAsItWas(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		id, before, _ := f.ImportToUndo(t)
		list, err := f.Transfer.Imports(t.Context(), storetest.Operator)
		if err != nil || len(list) != 2 || list[0].ID != id || list[0].Counts.Items != (transfer.Moved{New: 1, Changed: 1}) ||
			list[0].Counts.Purchases != (transfer.Moved{New: 2, Changed: 2, Same: 1}) || list[0].Actor != "tester" || !list[0].UndoneAt.IsZero() {
			t.Errorf("%+v, %v", list, err)
		}
		f.MustRekey(t) // gives every purchase another digest
		f = f.Again(t)
		report, err := f.Transfer.Undo(t.Context(), storetest.Operator, id, false)
		want := transfer.UndoReport{ID: id, Written: true, Items: transfer.UndoCounts{Removed: 1, Restored: 1}, Purchases: transfer.UndoCounts{Removed: 2, Restored: 2}}
		if err != nil || fmt.Sprint(report) != fmt.Sprint(want) {
			t.Errorf("%+v, %v", report, err)
		}
		if got := f.MustExport(t, false); got != before {
			t.Error(storetest.FirstDifference(before, got))
		}
		if got := f.Audits(t); !slices.ContainsFunc(got, func(line string) bool { return strings.Contains(line, "store.undo_import") }) {
			t.Errorf("audit %q", got)
		}
		expect.Equalf(t, f.NewestAudit(t).After, "removed 3, restored 3, left 0", "audit of the undo")
		if _, err := f.Transfer.Undo(t.Context(), storetest.Operator, id, false); !fault.HasCode(err, "import_undone") {
			t.Errorf("a second time: %v", err)
		}
		list, err = f.Transfer.Imports(t.Context(), storetest.Operator)
		if err != nil || list[0].UndoneAt.IsZero() || f.Rows(t, "import_purchases") != 3 { // of the first import
			t.Errorf("%+v, %v, %d rows", list, err, f.Rows(t, "import_purchases"))
		}
	})
}

func TestAnUndoLeavesAloneWhatHasChangedSince(t *testing.T) {
	cases := []struct {
		name string
		act  func(t *testing.T, f *storetest.Fixture) error
		left []string // kind, name and reason
	}{
		{"a purchase that was added is refunded", func(t *testing.T, f *storetest.Fixture) error {
			_, err := f.EndPurchase(t.Context(), storetest.Operator, "new-2", store.StateRefunded)
			return err
		}, []string{"purchase new-2 changed"}},
		{"one is refunded and restored", func(t *testing.T, f *storetest.Fixture) error {
			_, err := f.EndPurchase(t.Context(), storetest.Operator, "new-2", store.StateRefunded)
			if err == nil {
				_, err = f.RestorePurchase(t.Context(), storetest.Operator, "new-2")
			}
			return err
		}, []string{"purchase new-2 changed"}},
		{"a purchase that was changed is refunded", func(t *testing.T, f *storetest.Fixture) error {
			_, err := f.EndPurchase(t.Context(), storetest.Operator, "old-2", store.StateRefunded)
			return err
		}, []string{"purchase old-2 changed"}},
		{"a license was issued", func(t *testing.T, f *storetest.Fixture) error { f.Issue(t, "new-2", "a.example"); return nil }, []string{"purchase new-2 licensed"}},
		{"an item was edited", func(t *testing.T, f *storetest.Fixture) error {
			_, err := f.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error { i.Description = "edited"; return nil })
			return err
		}, []string{"item changed changed"}},
		{"a purchase of an item that was added", func(t *testing.T, f *storetest.Fixture) error {
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 7, "later")))
			return nil
		}, []string{"item Item 7 used"}},
		{"a key of an item that was added", func(t *testing.T, f *storetest.Fixture) error {
			_, _, err := f.CreateKey(t.Context(), storetest.Operator, store.NewKey{Workspace: "ada", Name: "bound", Class: store.ClassPublishable, Item: 7})
			return err
		}, []string{"item Item 7 used"}},
		{"another import changed a row", func(t *testing.T, f *storetest.Fixture) error {
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "new-2", `"price":3.00`)))
			return nil
		}, []string{"purchase new-2 changed"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				id, _, _ := f.ImportToUndo(t)
				must.Do(t, c.act(t, f))
				after := f.MustExport(t, false)
				report, err := f.Transfer.Undo(t.Context(), storetest.Operator, id, false)
				var left []string
				for _, row := range report.Left {
					left = append(left, row.Kind+" "+row.Name+" "+row.Reason)
				}
				if err != nil || report.Written || !slices.Equal(left, c.left) {
					t.Errorf("%+v, %v", report, err)
				}
				if got := f.MustExport(t, false); got != after {
					t.Error("something was undone: " + storetest.FirstDifference(after, got))
				}
				report, err = f.Transfer.Undo(t.Context(), storetest.Operator, id, true)
				if n := report.Items.Removed + report.Items.Restored + report.Purchases.Removed + report.Purchases.Restored; err != nil || !report.Written || n != 5 {
					t.Errorf("the rest: %+v, %v", report, err)
				}
			})
		})
	}
}

func TestAnImportCanBeUndoneForADay(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		id, before, after := f.ImportToUndo(t)
		f.Clock.Set(storetest.Noon.Add(24 * time.Hour))
		if _, err := f.Transfer.Undo(t.Context(), storetest.Operator, id, false); !fault.HasCode(err, "import_not_found") {
			t.Errorf("after a day: %v", err)
		}
		if list, err := f.Transfer.Imports(t.Context(), storetest.Operator); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
		if got := f.MustExport(t, false); got != after {
			t.Error(storetest.FirstDifference(after, got))
		}
		must.Do(t, f.Transfer.Prune(t.Context()))
		expect.Equalf(t, f.Rows(t, "imports")+f.Rows(t, "import_items")+f.Rows(t, "import_purchases"), 0, "rows are left")
		f.MustImport(t, storetest.BeforeImport)
		if got := f.MustExport(t, false); got == before {
			t.Error("an import removed something")
		}
	})
}

func TestOnlyImportsThatCanBeUndoneHaveAnID(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for name, file := range map[string]string{
			"with a workspace": storetest.Lines(storetest.WorkspaceText("eve"), storetest.ItemText("eve", 7)),
			"with a key":       storetest.Lines(storetest.KeyText("ada", "web"), storetest.ItemText("ada", 8)),
			"without changes":  storetest.Lines(storetest.ItemText("ada", 1, `"support":true`)),
		} {
			if r := f.MustImport(t, file); r.ID != 0 {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r, bad := f.ImportText(t, storetest.Lines(storetest.ItemText("ada", 9)), transfer.ImportOptions{DryRun: true}); r.ID != 0 || len(bad) > 0 {
			t.Errorf("a dry run: %+v", r)
		}
		expect.Equalf(t, f.Rows(t, "imports"), 0, "imports")
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
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		id, _, _ := f.ImportToUndo(t)
		valid := func(code string) bool {
			r, err := f.Validation.Check(t.Context(), storetest.Operator, code)
			return err == nil && r.Valid
		}
		if !valid("new-1") || !valid("old-1") {
			t.Fatal("not valid before the undo")
		}
		must.Get(f.Transfer.Undo(t.Context(), storetest.Operator, id, false))(t)
		if valid("new-1") || valid("old-1") || !valid("old-2") {
			t.Error("the undo is not seen")
		}
	})
}
