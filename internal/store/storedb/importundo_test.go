package storedb

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

// Without the whole key, each row would be compared with all rows of the import.
func TestAnUndoFindsARowBeforeByItsKey(t *testing.T) {
	d, _, _ := opened(t, dbtest.New(t, dbtest.SQLite))
	for _, u := range []undone{undonePurchases, undoneItems} {
		if plan := strings.Join(plan(t, d, dbtest.SQLite, u.rows, 1, "2026-11-01T12:00:00Z"), "\n"); !strings.Contains(plan, "SEARCH b USING PRIMARY KEY (import_id=? AND before=? AND id=?)") {
			t.Errorf("%s:\n%s", u.table, plan)
		}
	}
}
