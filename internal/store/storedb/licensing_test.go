package storedb

import (
	"errors"
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

// before is the migrations of an older store: the first ones, by their names.
func before(t *testing.T, names ...string) []sqldb.Schema {
	t.Helper()
	first := fstest.MapFS{}
	for _, name := range names {
		for _, engine := range []string{dbtest.SQLite, dbtest.Postgres} {
			path := "migrations/" + name + "." + engine + ".sql"
			text, err := files.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			first[path] = &fstest.MapFile{Data: text}
		}
	}
	return []sqldb.Schema{peopledb.Schema, {Name: "store", Files: first}}
}

// openMigrated opens a database that has the tables of schemas.
func openMigrated(t *testing.T, at dbtest.DB, schemas []sqldb.Schema) *DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "store.db"), Schemas: schemas})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return New(db)
}

func TestAnItemOfAnOlderStoreHasTheDefaultLicensing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		old := openMigrated(t, at, before(t, "00001_store"))
		if err := old.AddWorkspace(t.Context(), Workspace{Account: countersign.Account{RegisteredAt: countersign.At(time.Unix(0, 0))}}); err != nil {
			t.Fatal(err)
		}
		_, err := old.Exec(t.Context(), `INSERT INTO items (id, workspace_id, kind, support, name, description, category, sub_category, options,
			version, demo_link, tags, media, regular, extended, currency, published_at, body)
			SELECT 7, id, 'other', true, 'x', '', '', '', '[]', '', '', '[]', '{}', 0, 0, '', '2024-01-01T00:00:00Z', '{}' FROM workspaces`)
		if err != nil {
			t.Fatal(err)
		}
		item, err := openMigrated(t, at, Schemas).Item(t.Context(), 7)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(DefaultLicensing(), item.Licensing, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func scanLicense(r sqldb.Row) (License, error) {
	var l License
	var s licenseScan
	err := r.Scan(s.into(&l)...)
	s.finish(&l)
	return l, err
}

func TestLicensesOfAnOlderStoreAreKept(t *testing.T) {
	insert := func(db *DB, id string, code int, domain, ended string) error {
		_, err := db.Exec(t.Context(), `INSERT INTO licenses (id, code_digest, domain, wildcard, free, issued_at, ended, ended_at)
			VALUES ($1, $2, $3, true, false, '2024-01-0' || CAST($4 AS text) || 'T00:00:00Z', $5, CASE WHEN $5 = '' THEN NULL ELSE '2024-02-01T00:00:00Z' END)`,
			id, code, domain, id[:1], ended)
		return err
	}
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		old := openMigrated(t, at, before(t, "00001_store", "00002_licenses"))
		for _, l := range []struct {
			id, domain, ended string
			code              int
		}{
			{"3", "a.example", "", 7}, {"1", "a.example", "moved", 7}, {"2", "a.example", "revoked", 7}, {"4", "b.example", "", 7}, {"5", "a.example", "", 8},
		} {
			if err := insert(old, l.id, l.code, l.domain, l.ended); err != nil {
				t.Fatal(err)
			}
		}
		read := func(db *DB) []License {
			list, err := sqldb.List(t.Context(), db.Queries, scanLicense, `SELECT `+licenseColumns+` FROM licenses l ORDER BY l.issued_at`)
			if err != nil || len(list) != 5 {
				t.Fatalf("%d licenses, error %v", len(list), err)
			}
			return list
		}
		want := read(old)
		fresh := openMigrated(t, at, Schemas)
		if diff := cmp.Diff(want, read(fresh)); diff != "" {
			t.Error(diff)
		}
		for id, rule := range map[string]struct {
			code          int
			domain, ended string
			err           error
		}{
			"6 a second one in use":        {7, "a.example", "", sqldb.ErrExists},
			"7 a third one that has ended": {7, "a.example", "moved", nil},
			"8 another domain":             {7, "c.example", "", nil},
			"9 another purchase":           {9, "a.example", "", nil},
		} {
			if err := insert(fresh, id, rule.code, rule.domain, rule.ended); !errors.Is(err, rule.err) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
