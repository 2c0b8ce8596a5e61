package storedb

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

// ids lists the ids of all purchases in the order of their digests, 0 for none.
func ids(t *testing.T, db *DB) []int64 {
	t.Helper()
	return must.Get(sqldb.List(t.Context(), db.Queries, sqldb.Value[int64], `SELECT coalesce(id, 0) FROM purchases ORDER BY code_digest`))(t)
}

func TestPurchasesOfAnOlderStoreGetIDs(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		old := openMigrated(t, at, before(t, "00001_store", "00002_licenses"))
		oldPurchases(t, old, 900, 5, 70)
		fresh := openMigrated(t, at, Schemas)
		expect.Equal(t, cmp.Diff([]int64{1, 2, 3}, ids(t, fresh)), "")
		p, err := fresh.PurchaseByID(t.Context(), 3)
		if err != nil || p.Digest != 900 {
			t.Fatalf("%+v, %v", p, err)
		}
		p.Digest, p.Code = 6, "new"
		add := func() (id int64, err error) {
			err = fresh.Tx(t.Context(), func(tx *DB) error {
				id, err = tx.AddPurchase(t.Context(), p)
				return err
			})
			return id, err
		}
		if id, err := add(); err != nil || id != 4 {
			t.Errorf("the next purchase is %d, %v", id, err)
		}
		if _, err := add(); !errors.Is(err, sqldb.ErrExists) {
			t.Errorf("a second one of one digest: %v", err)
		}
	})
}

// What has an id keeps it when the work begins again, and what an older build has
// written in between gets one.
func TestTheNumberingGoesOnWhereItWas(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := openMigrated(t, at, Schemas)
		oldPurchases(t, db, 10, 20, 30, 40)
		must.Get(db.Exec(t.Context(), `UPDATE purchases SET id = code_digest / 10 + 3 WHERE code_digest IN (20, 30)`))(t)
		for range 2 {
			var told []int64
			must.Do(t, db.DB.DB().Session(t.Context(), func(session *sqldb.DB) error {
				return numberPurchases(t.Context(), session, func(done, total int64) { told = append(told, done, total) })
			}))
			expect.Equal(t, cmp.Diff([]int64{7, 5, 6, 8}, ids(t, db)), "")
			if n := len(told); told[n-2] != 4 || told[n-1] != 4 {
				t.Errorf("progress %v", told)
			}
		}
	})
}

func TestWorkThatIsCalledOffEnds(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, at dbtest.DB) {
		db := openMigrated(t, at, Schemas)
		oldPurchases(t, db, 10)
		ctx, cancel := context.WithCancel(t.Context())
		err := db.DB.DB().Session(ctx, func(session *sqldb.DB) error {
			return numberPurchases(ctx, session, func(int64, int64) { cancel() })
		})
		if !errors.Is(err, context.Canceled) || ids(t, db)[0] != 0 {
			t.Errorf("%v, ids %v", err, ids(t, db))
		}
	})
}
