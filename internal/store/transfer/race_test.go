package transfer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// manyCodes is a file of CSV with purchases of item 7, and empty lines that take a while to read.
func manyCodes(n int) string {
	var file strings.Builder
	file.WriteString("code,item_id,license,currency,date\n")
	for i := range n {
		fmt.Fprintf(&file, "a-code-of-ada-number-%d,7,Regular,USD,2024-04-27\n", i)
	}
	return file.String() + strings.Repeat("\n", 200_000)
}

// bobTakesItem7 creates an item of bob with the id of one that ada had.
func bobTakesItem7(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	must.Get(f.CreateItem(t.Context(), storetest.Operator, "bob", func(i *store.Item) error { i.ID, i.Name = 7, "Bob's"; return nil }))(t)
}

func TestAPurchaseWhoseItemWasRemovedWhileTheFileWasReadIsRejected(t *testing.T) {
	for name, then := range map[string]func(*testing.T, *storetest.Fixture){
		"nobody has the id":            func(*testing.T, *storetest.Fixture) {},
		"another workspace has the id": func(t *testing.T, f *storetest.Fixture) { bobTakesItem7(t, f) },
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
				other := f.Again(t)
				added := f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7))).ID
				reasons := map[string]int{}
				o := storetest.CSVInto("ada", nil)
				o.CSV.Dates = transfer.DatesDayFirst // so that the file is read once
				o.SkipBad, o.Bad = true, func(_ int, why string, _ []byte) { reasons[why]++ }
				r, err := f.Transfer.Import(t.Context(), storetest.Operator, storetest.NewMeddler(strings.NewReader(manyCodes(3)), func() {
					if _, err := other.Transfer.Undo(t.Context(), storetest.Operator, added, false); err != nil {
						t.Error(err)
					}
					then(t, other)
				}), o)
				if err != nil || r.Bad != 3 || r.Purchases != (transfer.Moved{}) || reasons["the item of this purchase was removed while the file was read"] != 3 {
					t.Errorf("%+v, %v, %v", r, err, reasons)
				}
				expect.Equalf(t, f.Rows(t, "purchases"), 0, "purchases")
			})
		})
	}
}

func TestAnUndoGivesNoPurchaseAnItemOfAnotherWorkspace(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		added := f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7))).ID
		must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 7, License: "Regular", Code: "moved"}))(t)
		moved := f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "moved"))).ID
		must.Get(f.Transfer.Undo(t.Context(), storetest.Operator, added, false))(t)
		bobTakesItem7(t, f)
		report, err := f.Transfer.Undo(t.Context(), storetest.Operator, moved, true)
		if err != nil || report.Purchases != (transfer.UndoCounts{Left: 1}) || len(report.Left) != 1 || report.Left[0].Reason != "item_removed" {
			t.Errorf("%+v, %v", report, err)
		}
		if p := f.Purchase(t, "moved"); p.ItemID != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// An undo locks purchases before items, an import items before purchases.
func TestAnImportAndAnUndoDoNotWaitForEachOther(t *testing.T) {
	f := storetest.Prepared(t, storetest.TwoShopsStore.New(t, dbtest.Postgres))
	id, _, _ := f.ImportToUndo(t)
	other := f.Again(t)
	done := make(chan error, 1)
	err := f.DB().Tx(t.Context(), func(tx *storedb.DB) error {
		if err := tx.LockImports(t.Context()); err != nil {
			return err
		}
		i, err := tx.LockImport(t.Context(), id)
		if err != nil {
			return err
		}
		if _, err := tx.UndoPurchases(t.Context(), i, 1); err != nil {
			return err
		}
		go func() {
			_, err := other.Transfer.Import(context.WithoutCancel(t.Context()), storetest.Operator, strings.NewReader(storetest.Lines(storetest.ItemText("ada", 1, `"name":"later"`), storetest.PurchaseText("ada", 1, "old-1"))), transfer.ImportOptions{})
			done <- err
		}()
		awaitWaiting(t, f)
		_, err = tx.UndoItems(t.Context(), i, 1)
		return err
	})
	if after := storetest.Await(t, done); err != nil || after != nil {
		t.Errorf("undo: %v, import: %v", err, after)
	}
}

func TestWhatIsWrittenForAnItemThatAnUndoRemovesIsRefused(t *testing.T) {
	for name, write := range map[string]func(context.Context, *storetest.Fixture) error{
		"a new purchase": func(ctx context.Context, f *storetest.Fixture) error {
			_, err := f.CreatePurchase(ctx, storetest.Operator, "ada", store.Purchase{ItemID: 7, License: "Regular"})
			return err
		},
		"a new key": func(ctx context.Context, f *storetest.Fixture) error {
			_, _, err := f.CreateKey(ctx, storetest.Operator, store.NewKey{Workspace: "ada", Name: "bound", Class: store.ClassPublishable, Item: 7})
			return err
		},
		"a change of the item": func(ctx context.Context, f *storetest.Fixture) error {
			_, err := f.EditItem(ctx, storetest.Operator, 7, "", func(i *store.Item, _ string) error { i.Description = "edited"; return nil })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
				added := f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 7))).ID
				other, done := f.Again(t), make(chan error, 1)
				err := f.DB().Tx(t.Context(), func(tx *storedb.DB) error {
					if _, err := tx.UndoItems(t.Context(), storedb.Import{ID: added}, 1); err != nil {
						return err
					}
					go func() { done <- write(context.WithoutCancel(t.Context()), other) }()
					if f.At.Engine == dbtest.Postgres { // SQLite has one writer
						awaitWaiting(t, f)
					}
					return nil
				})
				if refused := storetest.Await(t, done); err != nil || !fault.HasCode(refused, "item_not_found") {
					t.Errorf("undo: %v, then: %v", err, refused)
				}
			})
		})
	}
}

// awaitWaiting returns when something waits for a lock of PostgreSQL.
func awaitWaiting(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	for waiting := int64(0); waiting == 0; {
		waiting = must.Get(sqldb.One(t.Context(), f.DB().Queries, sqldb.Value[int64], `SELECT count(*) FROM pg_locks WHERE NOT granted
			AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`))(t)
	}
}

// Each of two files has a part of a refund, and neither would know that nothing is left.
func TestRefundsThatAnotherImportNotesWhileAFileIsReadAreNotOverlooked(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		other, into := f.Again(t), storetest.CSVInto("ada", nil)
		f.ImportText(t, refundHeader+saleOf(1), into)
		calls, again := 0, into
		into.Progress = func(int64) {
			if calls++; calls == 2 { // the file is read
				other.ImportText(t, refundFile(1, "b"), again)
			}
		}
		_, err := f.Transfer.Import(t.Context(), storetest.Operator, strings.NewReader(refundFile(1, "a")), into)
		if !fault.HasCode(err, "refunds_changed") {
			t.Errorf("the first: %v", err)
		}
		f.ImportText(t, refundFile(1, "a"), again)
		expect.Equalf(t, codesAndStates(t, f), "SALE-1 refunded", "when it is imported again")
	})
}
