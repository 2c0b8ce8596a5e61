package storedb

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

// The page Health is asked for while purchases are validated, in a store of any size.
func TestHealthReadsNoTableToItsEnd(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		d, _, _ := opened(t, at)
		for name, query := range map[string]struct {
			text string
			args []any
		}{
			"sums of sales":             {wrongSales, []any{1, 5, 1000}},
			"items of purchases":        {straySample, []any{1, 1000}},
			"items without a picture":   {`SELECT count(*)` + withoutPicture, nil},
			"their names":               {`SELECT id, name` + withoutPicture + ` ORDER BY id LIMIT $1`, []any{5}},
			"what a workspace uploaded": {uploadedBytes, []any{1}},
		} {
			for _, step := range plan(t, d, at.Engine, query.text, query.args...) {
				if scan := strings.Contains(step, "Seq Scan") || strings.Contains(step, "SCAN") && !strings.Contains(step, "INDEX"); scan && step != "SCAN p" {
					t.Errorf("%s: %s", name, step)
				}
			}
		}
	})
}

// plan is how an engine would run a query on a large database.
func plan(t *testing.T, d *DB, engine, query string, args ...any) (steps []string) {
	t.Helper()
	err := d.Tx(t.Context(), func(tx *DB) (err error) {
		if engine == dbtest.Postgres {
			if err := tx.Run(t.Context(), `SET LOCAL enable_seqscan = off`); err != nil { // these tables are small
				return err
			}
			steps, err = sqldb.List(t.Context(), tx.Queries, sqldb.Value[string], `EXPLAIN `+query, args...)
			return err
		}
		steps, err = sqldb.List(t.Context(), tx.Queries, func(r sqldb.Row) (step string, err error) {
			var id, parent, unused int
			err = r.Scan(&id, &parent, &unused, &step)
			return step, err
		}, `EXPLAIN QUERY PLAN `+query, args...)
		return err
	})
	if err != nil || len(steps) == 0 {
		t.Fatalf("%s: %v", query, err)
	}
	return steps
}
