package store

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
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
func (f *fixture) bobTakesItem7(t *testing.T) {
	t.Helper()
	_, err := f.CreateItem(t.Context(), operator, "bob", func(i *Item) error { i.ID, i.Name = 7, "Bob's"; return nil })
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPurchaseWhoseItemWasRemovedWhileTheFileWasReadIsRejected(t *testing.T) {
	for name, then := range map[string]func(*testing.T, *fixture){
		"nobody has the id":            func(*testing.T, *fixture) {},
		"another workspace has the id": func(t *testing.T, f *fixture) { f.bobTakesItem7(t) },
	} {
		t.Run(name, func(t *testing.T) {
			shops(t, func(t *testing.T, f *fixture) {
				other := f.again(t)
				added := f.mustImport(t, lines(itemText("ada", 7))).ID
				reasons := map[string]int{}
				o := csvInto("ada", nil)
				o.SkipBad, o.Bad = true, func(_ int, why string, _ []byte) { reasons[why]++ }
				r, err := f.Transfer.Import(t.Context(), operator, &meddler{strings.NewReader(manyCodes(3)), func() {
					if _, err := other.Transfer.Undo(t.Context(), operator, added, false); err != nil {
						t.Error(err)
					}
					then(t, other)
				}}, o)
				if err != nil || r.Bad != 3 || r.Purchases != (transfer.Moved{}) || reasons["the item of this purchase was removed while the file was read"] != 3 {
					t.Errorf("%+v, %v, %v", r, err, reasons)
				}
				if n := f.rows(t, "purchases"); n != 0 {
					t.Errorf("%d purchases", n)
				}
			})
		})
	}
}

func TestAnUndoGivesNoPurchaseAnItemOfAnotherWorkspace(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		added := f.mustImport(t, lines(itemText("ada", 7))).ID
		if _, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 7, License: "Regular", Code: "moved"}); err != nil {
			t.Fatal(err)
		}
		moved := f.mustImport(t, lines(purchaseText("ada", 1, "moved"))).ID
		if _, err := f.Transfer.Undo(t.Context(), operator, added, false); err != nil {
			t.Fatal(err)
		}
		f.bobTakesItem7(t)
		report, err := f.Transfer.Undo(t.Context(), operator, moved, true)
		if err != nil || report.Purchases != (transfer.UndoCounts{Left: 1}) || len(report.Left) != 1 || report.Left[0].Reason != "item_removed" {
			t.Errorf("%+v, %v", report, err)
		}
		if p := f.purchase(t, "moved"); p.ItemID != 1 {
			t.Errorf("%+v", p)
		}
	})
}

// An undo locks purchases before items, an import items before purchases.
func TestAnImportAndAnUndoDoNotWaitForEachOther(t *testing.T) {
	f := prepared(t, twoShopsStore.New(t, dbtest.Postgres))
	id, _, _ := f.importToUndo(t)
	other := f.again(t)
	done := make(chan error, 1)
	err := f.db.Tx(t.Context(), func(tx *storedb.DB) error {
		if err := tx.BeginUndo(t.Context()); err != nil {
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
			_, err := other.Transfer.Import(context.WithoutCancel(t.Context()), operator, strings.NewReader(lines(itemText("ada", 1, `"name":"later"`), purchaseText("ada", 1, "old-1"))), transfer.ImportOptions{})
			done <- err
		}()
		f.awaitWaiting(t)
		_, err = tx.UndoItems(t.Context(), i, 1)
		return err
	})
	if after := await(t, done); err != nil || after != nil {
		t.Errorf("undo: %v, import: %v", err, after)
	}
}

func TestWhatIsWrittenForAnItemThatAnUndoRemovesIsRefused(t *testing.T) {
	for name, write := range map[string]func(context.Context, *fixture) error{
		"a new purchase": func(ctx context.Context, f *fixture) error {
			_, err := f.CreatePurchase(ctx, operator, "ada", Purchase{ItemID: 7, License: "Regular"})
			return err
		},
		"a new key": func(ctx context.Context, f *fixture) error {
			_, _, err := f.CreateKey(ctx, operator, NewKey{Workspace: "ada", Name: "bound", Class: ClassPublishable, Item: 7})
			return err
		},
		"a change of the item": func(ctx context.Context, f *fixture) error {
			_, err := f.EditItem(ctx, operator, 7, func(i *Item, _ string) error { i.Description = "edited"; return nil })
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			shops(t, func(t *testing.T, f *fixture) {
				added := f.mustImport(t, lines(itemText("ada", 7))).ID
				other, done := f.again(t), make(chan error, 1)
				err := f.db.Tx(t.Context(), func(tx *storedb.DB) error {
					if _, err := tx.UndoItems(t.Context(), storedb.Import{ID: added}, 1); err != nil {
						return err
					}
					go func() { done <- write(context.WithoutCancel(t.Context()), other) }()
					if f.database.Engine() == sqldb.Postgres { // SQLite has one writer
						f.awaitWaiting(t)
					}
					return nil
				})
				if refused := await(t, done); err != nil || !fault.HasCode(refused, "item_not_found") {
					t.Errorf("undo: %v, then: %v", err, refused)
				}
			})
		})
	}
}

// awaitWaiting returns when something waits for a lock of PostgreSQL.
func (f *fixture) awaitWaiting(t *testing.T) {
	t.Helper()
	for waiting := int64(0); waiting == 0; {
		var err error
		waiting, err = sqldb.One(t.Context(), f.database.Queries(), sqldb.Value[int64], `SELECT count(*) FROM pg_locks WHERE NOT granted
			AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A purchase that has another workspace's item all the same, for example from before, shows nothing of it.
func TestAPurchaseOfAnotherWorkspacesItemGetsNoLicense(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "stray")))
		stray := func() health.Finding {
			all := f.Doctor(t.Context())
			return all[slices.IndexFunc(all, func(one health.Finding) bool { return one.Name == "items of purchases" })]
		}
		if got := stray(); got.Level != health.OK {
			t.Errorf("%+v", got)
		}
		if _, err := f.database.Queries().Exec(t.Context(), `UPDATE purchases SET item_id = 3`); err != nil {
			t.Fatal(err)
		}
		if got := stray(); got.Level != health.Fail || !strings.Contains(got.What, ": 1.") {
			t.Errorf("%+v", got)
		}
		if _, err := f.Licensing.Issue(t.Context(), people.Buyer(people.FaceAPI, netip.Addr{}), "https://shop.example", "stray", "a.example"); err == nil {
			t.Error("a license was issued")
		}
		if c, err := f.Validation.Check(t.Context(), operator, "stray"); err != nil || c.Item.ID != 3 || c.Item.Name != "" {
			t.Errorf("%+v, %v", c.Item, err)
		}
	})
}
