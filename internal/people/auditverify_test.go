package people

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

func (f *fixture) verify(t *testing.T) AuditReport {
	t.Helper()
	return must.Get(f.chain().Verify(t.Context(), operator))(t)
}

// problems are those of a report as "kind entry".
func problems(r AuditReport) string {
	var texts []string
	for _, p := range r.Problems {
		texts = append(texts, fmt.Sprintf("%s %d", p.Kind, p.Entry))
	}
	return strings.Join(texts, ", ")
}

// sql runs a statement as somebody with access to the database would.
func (f *fixture) sql(t *testing.T, query string, args ...any) {
	t.Helper()
	n, err := f.database.Queries().Exec(t.Context(), query, args...)
	if err != nil || n == 0 {
		t.Fatalf("%s: %d rows, %v", query, n, err)
	}
}

func TestTamperingWithTheAuditLogIsFound(t *testing.T) {
	t.Parallel()
	const insert = `INSERT INTO audit (at, actor_kind, actor, face, address, action, workspace, subject, detail) `
	withID := func(f *fixture) string {
		if f.database.Engine() == sqldb.Postgres {
			return strings.Replace(insert, "(at", "(id, at", 1) + "OVERRIDING SYSTEM VALUE "
		}
		return strings.Replace(insert, "(at", "(id, at", 1)
	}
	const forged = `'2026-11-01T12:00:00Z', 'operator', 'eve', 'cli', '', 'key.reveal', '', '', ''`
	tests := []struct {
		rule   string
		tamper func(t *testing.T, f *fixture)
		want   string
		later  string // when more was sealed behind it; "" is the same
	}{
		{"nothing", func(*testing.T, *fixture) {}, "", ""},
		{"a changed entry", func(t *testing.T, f *fixture) { f.sql(t, `UPDATE audit SET actor = 'eve' WHERE id = 3`) }, "changed 3", ""},
		{"a time that is none", func(t *testing.T, f *fixture) { f.sql(t, `UPDATE audit SET at = 'x' WHERE id = 3`) }, "changed 3", ""},
		{"a letter that moves to the next column", func(t *testing.T, f *fixture) {
			f.sql(t, `UPDATE audit SET subject = 'we', detail = 'b' || detail WHERE id = 3`)
		}, "changed 3", ""},
		{"two changed entries", func(t *testing.T, f *fixture) { f.sql(t, `UPDATE audit SET detail = '' WHERE id IN (2, 5)`) }, "changed 2, changed 5", ""},
		{"two swapped entries", func(t *testing.T, f *fixture) {
			f.sql(t, `UPDATE audit SET at = CASE id WHEN 2 THEN '2026-11-01T12:03:00Z' ELSE '2026-11-01T12:02:00Z' END WHERE id IN (2, 3)`)
		}, "changed 2, changed 3", ""},
		{"a removed entry", func(t *testing.T, f *fixture) { f.sql(t, `DELETE FROM audit WHERE id = 4`) }, "missing 4", ""},
		{"a removed entry with its seal", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id IN (3, 4)`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq IN (3, 4)`)
		}, "missing 2", ""},
		{"the first entry with its seal", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id = 1`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq = 1`)
		}, "missing 0", ""},
		{"removed seals", func(t *testing.T, f *fixture) { f.sql(t, `DELETE FROM audit_seals WHERE seq = 4`) }, "missing 3, inserted 4", ""},
		{"the last entry removed", func(t *testing.T, f *fixture) { f.sql(t, `DELETE FROM audit WHERE id = 6`) }, "missing 6", ""},
		{"the last entries with their seals", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id > 4`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq > 4`)
		}, "removed 4", "missing 4"},
		{"the last entries, their seals and the head", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id > 4`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq > 4`)
			f.sql(t, `DELETE FROM audit_head`)
		}, "head 0", ""},
		{"and a head that is made to fit", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id > 4`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq > 4`)
			f.sql(t, `UPDATE audit_head SET seq = 4, settled = 4, hash = (SELECT hash FROM audit_seals WHERE seq = 4)`)
		}, "head 0", ""},
		{"a head that is put back to its beginning", func(t *testing.T, f *fixture) {
			f.sql(t, `UPDATE audit_head SET seq = 0, settled = 0, mac = $1`, []byte{})
		}, "head 0", ""},
		{"an inserted entry", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id = 4`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq = 4`)
			f.sql(t, withID(f)+`VALUES (4, `+forged+`)`)
		}, "missing 3, inserted 4", ""},
		{"an entry inserted before all others", func(t *testing.T, f *fixture) { f.sql(t, withID(f)+`VALUES (-1, `+forged+`)`) }, "inserted -1", ""},
		{"an entry with a seal that nobody signed", func(t *testing.T, f *fixture) {
			f.sql(t, insert+`VALUES (`+forged+`)`)
			f.sql(t, `INSERT INTO audit_seals (seq, audit_id, hash) VALUES (7, 7, $1)`, []byte("x"))
		}, "inserted 7", ""},
		{"an entry with a seal from before the first one", func(t *testing.T, f *fixture) {
			f.sql(t, withID(f)+`VALUES (-1, `+forged+`)`)
			f.sql(t, `INSERT INTO audit_seals (seq, audit_id, hash) VALUES (0, -1, $1)`, []byte("x"))
		}, "inserted -1", ""},
		{"a seal that keeps an entry to come from being sealed", func(t *testing.T, f *fixture) {
			f.sql(t, `INSERT INTO audit_seals (seq, audit_id, hash) VALUES (-7, 7, $1)`, []byte("x"))
		}, "inserted 7", ""},
		{"entries and seals written anew", func(t *testing.T, f *fixture) {
			f.sql(t, `UPDATE audit SET actor = 'eve' WHERE id = 3`)
			f.rewriteSeals(t)
		}, "rewritten 0", "changed 7"},
		{"the cut moved", func(t *testing.T, f *fixture) {
			f.sql(t, `DELETE FROM audit WHERE id <= 2`)
			f.sql(t, `UPDATE audit_head SET cut_seq = 2, cut_hash = (SELECT hash FROM audit_seals WHERE seq = 2)`)
			f.sql(t, `DELETE FROM audit_seals WHERE seq <= 2`)
		}, "head 0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.sealed(t, 6)
				f.settle(t, 6)
				tt.tamper(t, f)
				r := f.verify(t)
				expect.Equalf(t, problems(r), tt.want, "%+v", r.Problems)
				if tt.want == "" {
					return
				}
				_, err := f.chain().Prune(t.Context(), operator, f.clock.Now())
				wantCode(t, err, "audit_broken")
				f.addEntries(t, 1)
				_ = f.chain().sealAll(t.Context()) // what comes later does not heal it
				if got := problems(f.verify(t)); got != cmp.Or(tt.later, tt.want) {
					t.Errorf("later: %s; want %s", got, tt.want)
				}
			})
		})
	}
}

// rewriteSeals computes all seals again, as somebody without the key file can.
func (f *fixture) rewriteSeals(t *testing.T) {
	t.Helper()
	var before []byte
	var fresh [][]byte
	must.Do(t, f.db.EachSealedAudit(t.Context(), 0, func(s peopledb.SealedAudit) error {
		before = entryHash(before, s.Entry)
		fresh = append(fresh, before)
		return nil
	}))
	for i, hash := range fresh {
		f.sql(t, `UPDATE audit_seals SET hash = $1 WHERE seq = $2`, hash, i+1)
	}
}

func TestReportListsTheFirstProblems(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sealed(t, maxProblems+5)
		f.sql(t, `UPDATE audit SET actor = 'eve'`)
		if r := f.verify(t); len(r.Problems) != maxProblems || r.Problems[0].Entry != 1 {
			t.Errorf("%d problems: %s", len(r.Problems), problems(r))
		}
	})
}

func TestNewestEntriesAreCheckedAlone(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sealed(t, 20)
		f.sql(t, `UPDATE audit SET actor = 'eve' WHERE id IN (3, 18)`)
		r, err := f.chain().VerifyNewest(t.Context(), operator, 5)
		if err != nil || problems(r) != "changed 18" || r.Checked != 5 || r.Sealed != 20 {
			t.Errorf("%+v, %v", r, err)
		}
		if r, err := f.chain().VerifyNewest(t.Context(), operator, 50); err != nil || problems(r) != "changed 3, changed 18" {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
