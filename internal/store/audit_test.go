package store

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// report verifies the whole audit log.
func (f *fixture) report(t *testing.T) people.AuditReport {
	t.Helper()
	r, err := f.AuditChain().Verify(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestServerSealsTheAuditLog(t *testing.T) {
	t.Parallel()
	emptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		f := prepared(t, at)
		f.run(t)
		f.addWorkspace(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ends a hang
		defer cancel()
		for f.report(t).Sealed == 0 {
			if ctx.Err() != nil {
				t.Fatal("the entry is not sealed")
			}
		}
		if r := f.report(t); !r.Intact() || r.Waiting != 0 {
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
			emptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
				f := prepared(t, at)
				f.addWorkspace(t)
				f.AuditChain().SealNow(t.Context())
				c.before(t, at)
				f = &fixture{opened(t, optionsOf(at, f.clock)), f.clock, at}
				if _, err := f.Rekey(t.Context(), operator); err != nil {
					t.Fatal(err)
				}
				f = f.again(t)
				f.AuditChain().SealNow(t.Context())
				if r := f.report(t); !r.Intact() || r.Sealed != 2 || r.Waiting != 0 {
					t.Errorf("%+v", r)
				}
				lines, err := f.db.Audits(t.Context(), peopledb.AuditFilter{Limit: 10, Action: "store.rekey"})
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
			emptyStore.Engines(t, func(t *testing.T, at dbtest.DB) {
				f := prepared(t, at)
				f.addWorkspace(t)
				f.AuditChain().SealNow(t.Context())
				if c.spoil != "" {
					if _, err := f.db.Exec(t.Context(), c.spoil); err != nil {
						t.Fatal(err)
					}
				}
				for _, one := range opened(t, optionsOf(at, f.clock)).Doctor(t.Context()) {
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
func (f *fixture) addWorkspace(t *testing.T) {
	t.Helper()
	if _, err := f.CreateWorkspace(t.Context(), operator, full("ada")); err != nil {
		t.Fatal(err)
	}
}

// audits lists the audit log as "action workspace subject", oldest first.
func (f *fixture) audits(t testing.TB) []string {
	t.Helper()
	list, err := (&peopledb.DB{Queries: f.database.Queries()}).Audits(t.Context(), peopledb.AuditFilter{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, a := range slices.Backward(list) {
		texts = append(texts, strings.TrimSpace(string(a.Action)+" "+a.Workspace+" "+a.Subject))
	}
	return texts
}

// newestAudit is the newest entry of the audit log.
func (f *fixture) newestAudit(t testing.TB) peopledb.Audit {
	t.Helper()
	list, err := (&peopledb.DB{Queries: f.database.Queries()}).Audits(t.Context(), peopledb.AuditFilter{Limit: 1})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	return list[0]
}
