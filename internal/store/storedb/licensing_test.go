package storedb

import (
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// before is the migrations of stores that knew no licenses.
func before(t *testing.T) []sqldb.Schema {
	t.Helper()
	first := fstest.MapFS{}
	for _, name := range []string{"migrations/00001_store.sqlite.sql", "migrations/00001_store.postgres.sql"} {
		text, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		first[name] = &fstest.MapFile{Data: text}
	}
	return []sqldb.Schema{peopledb.Schema, {Name: "store", Files: first}}
}

func TestAnItemOfAnOlderStoreHasTheDefaultLicensing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		open := func(schemas []sqldb.Schema) *sqldb.DB {
			db, err := sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "store.db"), Schemas: schemas})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			return db
		}
		old := New(open(before(t)))
		if err := old.AddWorkspace(t.Context(), Workspace{Account: countersign.Account{RegisteredAt: countersign.At(time.Unix(0, 0))}}); err != nil {
			t.Fatal(err)
		}
		_, err := old.Exec(t.Context(), `INSERT INTO items (id, workspace_id, kind, support, name, description, category, sub_category, options,
			version, demo_link, tags, media, regular, extended, currency, published_at, body)
			SELECT 7, id, 'other', true, 'x', '', '', '', '[]', '', '', '[]', '{}', 0, 0, '', '2024-01-01T00:00:00Z', '{}' FROM workspaces`)
		if err != nil {
			t.Fatal(err)
		}
		item, err := New(open(Schemas)).Item(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(DefaultLicensing(), item.Licensing, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
