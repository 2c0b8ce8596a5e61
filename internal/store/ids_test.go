package store

import (
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
)

// newItem creates an item of ada, without an id for 0.
func (f *fixture) newItem(t *testing.T, id int64) (Item, error) {
	t.Helper()
	return f.CreateItem(t.Context(), operator, "ada", func(i *Item) error { i.ID, i.Name = id, "New"; return nil })
}

func TestIDsAreNeverUsedAgain(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		added := f.mustImport(t, lines(itemText("ada", 7), itemText("ada", 9), purchaseText("ada", 7, "gone-1"), purchaseText("ada", 9, "gone-2")))
		highest := max(f.purchase(t, "gone-1").ID, f.purchase(t, "gone-2").ID)
		if _, err := f.Transfer.Undo(t.Context(), operator, added.ID, false); err != nil {
			t.Fatal(err)
		}
		if i, err := f.newItem(t, 0); err != nil || i.ID != 10 {
			t.Errorf("item %d, %v", i.ID, err)
		}
		p, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{ItemID: 1, License: "Regular"})
		if err != nil || p.ID <= highest {
			t.Errorf("purchase %d, %v, want one above %d", p.ID, err, highest)
		}
		second := f.mustImport(t, lines(purchaseText("ada", 1, "imported")))
		if _, err := f.Transfer.Undo(t.Context(), operator, second.ID, false); err != nil {
			t.Fatal(err)
		}
		f.mustImport(t, lines(purchaseText("ada", 1, "last")))
		if last := f.purchase(t, "last").ID; last <= p.ID+1 {
			t.Errorf("purchase %d after %d", last, p.ID)
		}
	})
}

func TestPeopleGiveItemsIDsThatEveryReaderKeeps(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		const tooHigh = storedb.MaxGivenID + 1
		if _, err := f.newItem(t, tooHigh); err == nil || !strings.Contains(messageOf(err), "at most 9007199254740991") {
			t.Error(err)
		}
		if _, err := f.newItem(t, storedb.MaxGivenID); err != nil {
			t.Error(err)
		}
		if i, err := f.newItem(t, 0); err != nil || i.ID != 4 {
			t.Errorf("item %d, %v", i.ID, err)
		}
		for name, of := range map[string]struct {
			file string
			o    transfer.ImportOptions
		}{
			"lines": {lines(itemText("ada", tooHigh)), transfer.ImportOptions{Workspace: "ada"}},
			"rows":  {"id,name,currency,published_at\n" + strconv.Itoa(tooHigh) + ",New,USD,2024-01-01\n", csvInto("ada", nil)},
		} {
			_, bad := f.importText(t, of.file, of.o)
			if len(bad) != 1 || !strings.Contains(bad[0].Reason, "at most 9007199254740991") {
				t.Errorf("%s: %v", name, bad)
			}
		}
	})
}

// A store may have ids from before they had a limit.
func TestAnItemWithAHigherIDKeepsWorking(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		const high = 1<<63 - 1
		for _, statement := range []string{`DELETE FROM item_versions WHERE item_id = 2 AND CAST($1 AS bigint) > 0`, `UPDATE items SET id = $1 WHERE id = 2`} {
			if _, err := f.database.Queries().Exec(t.Context(), statement, int64(high)); err != nil {
				t.Fatal(err)
			}
		}
		if i, err := f.EditItem(t.Context(), operator, high, func(i *Item, _ string) error { i.Name = "Edited"; return nil }); err != nil || i.Name != "Edited" {
			t.Error(err)
		}
		file := lines(itemText("ada", high, `"name":"Imported"`), purchaseText("ada", high, "of-it"))
		if _, bad := f.importText(t, file, transfer.ImportOptions{Workspace: "ada"}); len(bad) > 0 {
			t.Error(bad)
		}
		f.mustImport(t, lines(itemText("bob", high-1))) // in the export of another store
		if i, err := f.newItem(t, 0); err != nil || i.ID != 4 {
			t.Errorf("item %d, %v", i.ID, err)
		}
	})
}
