package storedb

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
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
			text := must.Get(files.ReadFile(path))(t)
			first[path] = &fstest.MapFile{Data: text}
		}
	}
	return []sqldb.Schema{peopledb.Schema, {Name: "store", Files: first}}
}

// openMigrated opens a database that has the tables of schemas.
func openMigrated(t *testing.T, at dbtest.DB, schemas []sqldb.Schema) *DB {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "store.db"), Schemas: schemas}))(t)
	t.Cleanup(func() { _ = db.Close() })
	must.Do(t, db.Migrate(t.Context()))
	return New(db)
}

func TestAnItemOfAnOlderStoreHasTheDefaultLicensing(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		old := openMigrated(t, at, before(t, "00001_store"))
		must.Do(t, old.AddWorkspace(t.Context(), Workspace{Account: countersign.Account{RegisteredAt: countersign.At(time.Unix(0, 0))}}))
		must.Get(old.Exec(t.Context(), `INSERT INTO items (id, workspace_id, kind, support, name, description, category, sub_category, options,
			version, demo_link, tags, media, regular, extended, currency, published_at, body)
			SELECT 7, id, 'other', true, 'x', '', '', '', '[]', '', '', '[]', '{}', 0, 0, '', '2024-01-01T00:00:00Z', '{}' FROM workspaces`))(t)
		item := must.Get(openMigrated(t, at, Schemas).Item(t.Context(), 7))(t)
		expect.Equal(t, cmp.Diff(DefaultLicensing(), item.Licensing, cmpopts.EquateEmpty()), "")
	})
}

// oldPurchases writes purchases with some digests as an older store has them.
func oldPurchases(t *testing.T, db *DB, digests ...Digest) {
	t.Helper()
	must.Do(t, db.AddWorkspace(t.Context(), Workspace{Account: countersign.Account{RegisteredAt: countersign.At(time.Unix(0, 0))}}))
	must.Get(db.Exec(t.Context(), `INSERT INTO items (id, workspace_id, kind, support, name, description, category, sub_category, options,
		version, demo_link, tags, media, regular, extended, currency, published_at, body)
		SELECT 7, id, 'other', true, 'x', '', '', '', '[]', '', '', '[]', '{}', 0, 0, '', '2024-01-01T00:00:00Z', '{}' FROM workspaces`))(t)
	for _, digest := range digests {
		must.Get(db.Exec(t.Context(), `INSERT INTO purchases (code_digest, code, workspace_id, item_id, license, price, currency, downloaded,
			sold_at, state, buyer_name, buyer_email)
			SELECT CAST($1 AS bigint), 'code ' || CAST(CAST($1 AS bigint) AS text), workspace_id, id, 'Regular', 1, 'USD', false, '2024-01-01T00:00:00Z', 'active', '', '' FROM items`, digest))(t)
	}
}

func TestLicensesOfAnOlderStoreAreKept(t *testing.T) {
	insert := func(db *DB, column, id string, purchase int, domain, ended string) error {
		_, err := db.Exec(t.Context(), `INSERT INTO licenses (id, `+column+`, domain, wildcard, free, issued_at, ended, ended_at)
			VALUES ($1, $2, $3, true, false, '2024-01-0' || CAST($4 AS text) || 'T00:00:00Z', $5, CASE WHEN $5 = '' THEN NULL ELSE '2024-02-01T00:00:00Z' END)`,
			id, purchase, domain, id[:1], ended)
		return err
	}
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		old := openMigrated(t, at, before(t, "00001_store", "00002_licenses"))
		oldPurchases(t, old, 700, 800, 900)
		for _, l := range []struct {
			id, domain, ended string
			code              int
		}{
			{"3", "a.example", "", 700}, {"1", "a.example", "moved", 700}, {"2", "a.example", "revoked", 700}, {"4", "b.example", "", 700}, {"5", "a.example", "", 800},
		} {
			must.Do(t, insert(old, "code_digest", l.id, l.code, l.domain, l.ended))
		}
		fresh := openMigrated(t, at, Schemas)
		var got []string
		must.Do(t, fresh.EachLicense(t.Context(), func(l Licensed) error {
			got = append(got, fmt.Sprintln(l.License.ID, l.PurchaseID, l.Digest, l.Domain, l.Wildcard, l.Ended, l.IssuedAt.Day(), l.EndedAt.Month(), l.Claim))
			return nil
		}))
		want := []string{
			"1 1 700 a.example true moved 1 February \n", "2 1 700 a.example true revoked 2 February \n",
			"3 1 700 a.example true  3 January \n", "4 1 700 b.example true  4 January \n", "5 2 800 a.example true  5 January \n",
		}
		expect.Equal(t, cmp.Diff(want, got), "")
		for id, rule := range map[string]struct {
			purchase      int
			domain, ended string
			err           error
		}{
			"6 a second one in use":        {1, "a.example", "", sqldb.ErrExists},
			"7 a third one that has ended": {1, "a.example", "moved", nil},
			"8 another domain":             {1, "c.example", "", nil},
			"9 another purchase":           {3, "a.example", "", nil},
		} {
			if err := insert(fresh, "purchase_id", id, rule.purchase, rule.domain, rule.ended); !errors.Is(err, rule.err) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}
