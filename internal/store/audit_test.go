package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/store/storetest"
)

// report verifies the whole audit log.
func report(t *testing.T, f *storetest.Fixture) people.AuditReport {
	t.Helper()
	return must.Get(f.Instance.Chain.Verify(t.Context(), storetest.Operator))(t)
}

func TestServerSealsTheAuditLog(t *testing.T) {
	t.Parallel()
	storetest.EmptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := storetest.Prepared(t, at)
		f.Start(t, f.Instance.Database)
		addWorkspace(t, f)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ends a hang
		defer cancel()
		for report(t, f).Sealed == 0 {
			if ctx.Err() != nil {
				t.Fatal("the entry is not sealed")
			}
		}
		if r := report(t, f); !r.Intact() || r.Waiting != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestRekeyRenewsTheHeadOfTheAuditLog(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		before func(t *testing.T, at dbtest.DB)
		says   string
	}{
		{"with the key file", func(*testing.T, dbtest.DB) {}, "0 key values deleted"},
		{"without it", func(t *testing.T, at dbtest.DB) { remove(t, keyFile(at)) }, "0 key values deleted; the head of the audit log's seals could not be checked"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EmptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
				f := storetest.Prepared(t, at)
				addWorkspace(t, f)
				f.Instance.Chain.SealNow(t.Context())
				c.before(t, at)
				f = f.Unprepared(t)
				f.MustRekey(t)
				f = f.Again(t)
				f.Instance.Chain.SealNow(t.Context())
				if r := report(t, f); !r.Intact() || r.Sealed != 2 || r.Waiting != 0 {
					t.Errorf("%+v", r)
				}
				lines, err := f.DB().Audits(t.Context(), peopledb.AuditFilter{Limit: 10, Action: "store.rekey"})
				if err != nil || len(lines) != 1 || lines[0].Detail != c.says {
					t.Errorf("%+v, %v", lines, err)
				}
			})
		})
	}
}

func TestDoctorLooksAtTheAuditLog(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		spoil string // a statement, "" for none
		level health.Level
		says  string
	}{
		{"as it was written", "", health.OK, "newest 1 entries"},
		{"changed", `UPDATE audit SET actor = 'eve'`, health.Fail, "countersign store audit verify"},
		{"without seals", `DELETE FROM audit_seals`, health.Fail, "tampered"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EmptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
				f := storetest.Prepared(t, at)
				addWorkspace(t, f)
				f.Instance.Chain.SealNow(t.Context())
				if c.spoil != "" {
					f.Execute(t, c.spoil)
				}
				for _, one := range f.Unprepared(t).Doctor(t.Context()) {
					if one.Name == "audit log" {
						if one.Level != c.level || !strings.Contains(one.What+one.Fix, c.says) {
							t.Errorf("%+v", one)
						}
						return
					}
				}
				t.Error("nothing is said about the audit log")
			})
		})
	}
}

// addWorkspace writes one entry into the audit log.
func addWorkspace(t *testing.T, f *storetest.Fixture) {
	t.Helper()
	must.Get(f.CreateWorkspace(t.Context(), storetest.Operator, full("ada")))(t)
}
