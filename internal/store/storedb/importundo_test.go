package storedb

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// Without the whole key, each row would be compared with all rows of the import.
func TestAnUndoFindsARowBeforeByItsKey(t *testing.T) {
	d, _, _ := opened(t, dbtest.New(t, dbtest.SQLite))
	for _, u := range []undone{undonePurchases, undoneItems} {
		steps, err := sqldb.List(t.Context(), d.Queries, func(r sqldb.Row) (step string, err error) {
			var id, parent, unused int
			err = r.Scan(&id, &parent, &unused, &step)
			return step, err
		}, `EXPLAIN QUERY PLAN `+u.rows, 1, "2026-11-01T12:00:00Z")
		if err != nil {
			t.Fatal(err)
		}
		if plan := strings.Join(steps, "\n"); !strings.Contains(plan, "SEARCH b USING PRIMARY KEY (import_id=? AND before=? AND id=?)") {
			t.Errorf("%s:\n%s", u.table, plan)
		}
	}
}
