package storedb

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

// A migration that differs between the engines makes the same columns on both.
func TestBothEnginesHaveTheSameColumns(t *testing.T) {
	columns := map[string][]string{}
	dbtest.Both(t, func(t *testing.T, at dbtest.DB) {
		db := openMigrated(t, at, Schemas)
		query := `SELECT m.name, c.name, c.type, c."notnull" = 0 AND c.pk = 0 FROM sqlite_schema m JOIN pragma_table_info(m.name) c
			WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE '%_versions'`
		if at.Engine == dbtest.Postgres {
			query = `SELECT table_name, column_name, data_type, is_nullable = 'YES' FROM information_schema.columns
				WHERE table_schema = current_schema() AND table_name NOT LIKE '%_versions'`
		}
		list := must.Get(sqldb.List(t.Context(), db.Queries, func(r sqldb.Row) (string, error) {
			var table, column, kind string
			var nullable bool
			err := r.Scan(&table, &column, &kind, &nullable)
			if of, differs := map[string]string{"integer": "bigint", "blob": "bytea"}[strings.ToLower(kind)]; differs {
				kind = of
			}
			return fmt.Sprintf("%s.%s %s, nullable %t", table, column, strings.ToLower(kind), nullable), err
		}, query))(t)
		slices.Sort(list)
		columns[at.Engine] = list
	})
	if len(columns[dbtest.SQLite]) < 40 {
		t.Errorf("%d columns", len(columns[dbtest.SQLite]))
	}
	if columns[dbtest.Postgres] == nil {
		return // its subtest was skipped, and says why
	}
	expect.Equal(t, cmp.Diff(columns[dbtest.SQLite], columns[dbtest.Postgres]), "")
}
