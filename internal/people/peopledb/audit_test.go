package peopledb

import (
	"context"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func opened(t *testing.T, at dbtest.DB) *DB {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, "people.db"), Schemas: []sqldb.Schema{Schema}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &DB{db.Queries()}
}

func TestAuditsAreReadAsTheyWereWrittenNewestFirst(t *testing.T) {
	at := func(second int) sqldb.Time {
		return sqldb.Time{Time: time.Date(2026, 11, 1, 12, 0, second, 0, time.UTC)}
	}
	written := []Audit{
		{At: at(0), Actor: people.Operator("root"), Action: "store.export", Detail: "with the values of all keys"},
		{At: at(2), Actor: people.Operator("a \"quoted\" é"), Action: "key.reveal", Workspace: "ada", Subject: "web"},
		{At: at(1), Actor: people.Actor{Kind: people.KindKey, ID: "7", Face: people.FaceAPI, Addr: netip.MustParseAddr("2001:db8::1")}, Action: "purchase.refund", Workspace: "bob", Subject: "a-code"},
	}
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		d := opened(t, place)
		for _, a := range written {
			if err := d.AddAudit(t.Context(), a); err != nil {
				t.Fatal(err)
			}
		}
		got, err := d.Audits(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		want := []Audit{written[2], written[1], written[0]}
		if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); diff != "" {
			t.Error(diff)
		}
		if newest, err := d.Audits(t.Context(), 1); err != nil || len(newest) != 1 || newest[0].Action != "purchase.refund" {
			t.Errorf("the newest is %+v, %v", newest, err)
		}
	})
}

func TestAuditOfATransactionThatFailsIsNotWritten(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		d := opened(t, place)
		_ = d.DB().Tx(t.Context(), func(q sqldb.Queries) error {
			if err := (&DB{q}).AddAudit(t.Context(), Audit{At: sqldb.Time{Time: time.Now()}, Action: "key.create"}); err != nil {
				t.Error(err)
			}
			return context.Canceled
		})
		if got, err := d.Audits(t.Context(), 10); err != nil || len(got) != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}
