package peopledb

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
)

func opened(t *testing.T, at dbtest.DB) *DB {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "people.db"), Schemas: []sqldb.Schema{Schema}}))(t)
	t.Cleanup(func() {
		expect.NoError(t, db.Close())
	})
	must.Do(t, db.Migrate(t.Context()))
	return &DB{db.Queries()}
}

func at(second int) sqldb.Time {
	return sqldb.Time{Time: time.Date(2026, 11, 1, 12, 0, second, 0, time.UTC)}
}

func TestAuditsAreReadAsTheyWereWrittenNewestFirst(t *testing.T) {
	written := []Audit{
		{ID: 1, At: at(0), Kind: "operator", Actor: "root", FrontEnd: "cli", Event: Event{Action: "store.export", Detail: "including the values of all keys"}},
		{ID: 2, At: at(2), Kind: "operator", Actor: "a \"quoted\" é", FrontEnd: "cli", Event: Event{Action: "key.reveal", Workspace: "ada", Subject: "web"}},
		{ID: 3, At: at(1), Kind: "user", Actor: "ada@site.example", FrontEnd: "page", Address: "2001:db8::1", Event: Event{Action: "setting.set", Subject: "appName", Before: "Old", After: "New"}},
	}
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		d := opened(t, place)
		for _, a := range written {
			must.Do(t, d.AddAudit(t.Context(), a))
		}
		got := must.Get(d.Audits(t.Context(), AuditFilter{Limit: 10}))(t)
		expect.Equal(t, cmp.Diff([]Audit{written[2], written[1], written[0]}, got), "")
	})
}

func TestAuditOfATransactionThatFailsIsNotWritten(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		d := opened(t, place)
		_ = d.DB().Tx(t.Context(), func(q sqldb.Queries) error {
			expect.NoError(t, (&DB{q}).AddAudit(t.Context(), Audit{At: sqldb.Time{Time: time.Now()}, Event: Event{Action: "key.create"}}))
			return context.Canceled
		})
		if got, err := d.Audits(t.Context(), AuditFilter{Limit: 10}); err != nil || len(got) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
