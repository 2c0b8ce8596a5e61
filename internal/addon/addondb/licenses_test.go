package addondb

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// migrated opens a database with the migrations of the addon that come before a
// file's name, "~" for all.
func migrated(t *testing.T, at dbtest.DB, before string) *sqldb.DB {
	t.Helper()
	names := must.Get(fs.Glob(files, "migrations/*.sql"))(t)
	some := fstest.MapFS{}
	for _, name := range names {
		text := must.Get(fs.ReadFile(files, name))(t)
		if filepath.Base(name) < before {
			some[name] = &fstest.MapFile{Data: text}
		}
	}
	db, err := sqldb.Open(t.Context(), sqldb.Options{
		URL: at.URL, Path: filepath.Join(at.Dir, "addon.db"), Schemas: []sqldb.Schema{peopledb.Schema, {Name: "addon", Files: some}},
	})
	if err == nil {
		err = db.Migrate(t.Context())
	}
	must.Do(t, err)
	return db
}

func TestCodesThatAreKeptAlreadyAreBoundToTheSavedStore(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := migrated(t, at, "00004")
		exec := func(statement string, args ...any) {
			t.Helper()
			must.Get(db.Queries().Exec(t.Context(), statement, args...))(t)
		}
		exec(`INSERT INTO meta (name, value) VALUES ('addon_store', 'https://store.example')`)
		exec(`INSERT INTO purchase_codes (hint, sealed, kept_at) VALUES ('7c0f…8e37', $1, '2026-01-02T00:00:00Z')`, []byte("sealed"))
		exec(`INSERT INTO licenses (license_id, code_id, domain, domains, item_id, item_name, license_type, issued_at, made_at, answer, file)
			VALUES ('one', 1, 'site.example', '["site.example"]', 7, 'Rain', 'Regular', '2026-01-02T00:00:00Z', '2026-01-02T00:00:00Z', 'valid', 'a.b.c')`)
		must.Do(t, db.Close())
		now := migrated(t, at, "~")
		t.Cleanup(func() { _ = now.Close() })
		tables := New(now)
		codes, errCodes := tables.PurchaseCodes(t.Context())
		kept, errKept := tables.Licenses(t.Context())
		if err := errors.Join(errCodes, errKept); err != nil || len(codes) != 1 || codes[0].Store != "https://store.example" || string(codes[0].Sealed) != "sealed" {
			t.Fatalf("%+v, %v", codes, err)
		}
		if len(kept) != 1 || kept[0].CodeID != 1 || kept[0].File != "a.b.c" || kept[0].Answer != "valid" || kept[0].Domains.V[0] != "site.example" || !kept[0].SupportedUntil.IsZero() {
			t.Errorf("%+v", kept)
		}
		err := tables.Tx(t.Context(), func(tx *DB) error {
			if id, err := tx.PutLicense(t.Context(), kept[0]); err != nil || id != kept[0].ID {
				t.Errorf("the same license again has the id %d, %v", id, err)
			}
			other, err := tx.AddPurchaseCode(t.Context(), PurchaseCode{Hint: "7c0f…8e37", Store: "https://other.example", Sealed: []byte("sealed"), KeptAt: codes[0].KeptAt})
			if err != nil {
				return err
			}
			kept[0].CodeID = other
			if id, err := tx.PutLicense(t.Context(), kept[0]); err != nil || id == kept[0].ID {
				t.Errorf("a license of another store has the id %d, %v", id, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
