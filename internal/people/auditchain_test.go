package people

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/seal"
	"github.com/countersign/countersign/internal/sqldb"
)

// chain is the audit chain of the fixture's database.
func (f *fixture) chain() *AuditChain {
	return NewAuditChain(f.db, func() *seal.Box { return f.keyFile }, f.clock.now, f.People.log)
}

// write adds entries to the audit log, a minute apart.
func (f *fixture) addEntries(t *testing.T, n int) {
	t.Helper()
	for range n {
		f.clock.move(time.Minute)
		err := f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			return Record(t.Context(), tx, f.clock.now(), operator, Event{Action: "key.reveal", Subject: "web", Detail: "é \"x\""})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// sealed writes entries and seals them; the next look finds them settled.
func (f *fixture) sealed(t *testing.T, n int) {
	t.Helper()
	f.addEntries(t, n)
	f.seal(t)
}

func (f *fixture) seal(t *testing.T) {
	t.Helper()
	for range 2 { // the second settles what the first has seen
		if err := f.chain().sealAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.clock.move(settleAfter)
	}
	if err := f.chain().sealAll(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) verify(t *testing.T) AuditReport {
	t.Helper()
	r, err := f.chain().Verify(t.Context(), operator)
	if err != nil {
		t.Fatal(err)
	}
	return r
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

func TestSealedAuditLogIsIntact(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if r := f.verify(t); !r.Intact() || r.Sealed != 0 || !r.SealedSince.IsZero() {
			t.Errorf("an empty one: %+v", r)
		}
		f.addEntries(t, 3) // before the chain begins
		if r := f.verify(t); !r.Intact() || r.Sealed != 0 || r.Waiting != 3 || !r.WaitingSince.Equal(f.clock.now().Add(-2*time.Minute)) {
			t.Errorf("one that waits: %+v", r)
		}
		begun := f.clock.now()
		f.seal(t)
		f.sealed(t, 2)
		f.addEntries(t, 1)
		r := f.verify(t)
		if !r.Intact() || r.Sealed != 5 || r.Checked != 5 || r.Waiting != 1 || r.Inherited != 3 || !r.SealedSince.Equal(begun) || len(r.LastSeal) != 64 {
			t.Errorf("%+v", r)
		}
		if err := f.chain().sealAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now := f.verify(t); !now.Intact() || now.Sealed != 6 || now.Waiting != 0 || now.LastSeal == r.LastSeal {
			t.Errorf("%+v", now)
		}
	})
}

func TestTamperingWithTheAuditLogIsFound(t *testing.T) {
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
				tt.tamper(t, f)
				r := f.verify(t)
				if got := problems(r); got != tt.want {
					t.Errorf("%s; want %s; %+v", got, tt.want, r.Problems)
				}
				if tt.want == "" {
					return
				}
				_, err := f.chain().Prune(t.Context(), operator, f.clock.now())
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

// rewriteSeals computes all seals anew, as somebody without the key file can.
func (f *fixture) rewriteSeals(t *testing.T) {
	t.Helper()
	var before []byte
	var fresh [][]byte
	err := f.db.EachSealedAudit(t.Context(), 0, func(s peopledb.SealedAudit) error {
		before = entryHash(before, s.Entry)
		fresh = append(fresh, before)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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

func TestManyEntriesAreSealedInBatches(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		n := 2*sealBatch + 70
		err := f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			for range n {
				if err := Record(t.Context(), tx, f.clock.now(), operator, Event{Action: "key.reveal"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []int64{sealBatch, 2 * sealBatch, int64(n)} {
			full, err := f.chain().sealSome(t.Context())
			if err != nil || full != (want < int64(n)) {
				t.Fatalf("up to %d: %v, %v", want, full, err)
			}
			if r := f.verify(t); !r.Intact() || r.Sealed != want || r.Waiting+r.Sealed != int64(n) {
				t.Errorf("%+v, want %d sealed", r, want)
			}
		}
	})
}

func TestSealsAreWrittenOnlyWhenThereIsSomethingNew(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sealed(t, 3)
		f.seal(t)
		head := func() peopledb.AuditHead {
			h, err := f.db.AuditHead(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return h
		}
		before := head()
		if before.Settled != 3 {
			t.Errorf("settled up to %d", before.Settled)
		}
		for range 5 {
			f.clock.move(time.Hour)
			if due, err := f.chain().due(t.Context()); due || err != nil {
				t.Errorf("%v, %v", due, err)
			}
		}
		f.addEntries(t, 1)
		if due, err := f.chain().due(t.Context()); !due || err != nil {
			t.Errorf("with a new entry: %v, %v", due, err)
		}
		changes, err := sqldb.One(t.Context(), f.database.Queries(), sqldb.Value[int64], `SELECT count(*) FROM changes WHERE topic <> 'users'`)
		if err != nil || changes != 0 {
			t.Errorf("sealing marked %d changes, %v", changes, err)
		}
	})
}

func TestSealersOfSeveralServersDoNotDisturbEachOther(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		chains := []*AuditChain{f.chain(), f.second(t).chain(), f.second(t).chain()}
		for range 5 {
			f.addEntries(t, 7)
			if counts := atOnce(6, func(i int) error { return chains[i%3].sealAll(t.Context()) }); counts[""] != 6 {
				t.Errorf("%v", counts)
			}
		}
		if r := f.verify(t); !r.Intact() || r.Sealed != 35 || r.Waiting != 0 {
			t.Errorf("%+v", r)
		}
	})
}

func TestEntryThatCommitsLateIsSealed(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if f.database.Engine() != sqldb.Postgres {
			return // SQLite gives ids to one transaction at a time
		}
		f.sealed(t, 2)
		held, release, done := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			done <- f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
				err := Record(t.Context(), tx, f.clock.now(), operator, Event{Action: "license.issue", Detail: "late"})
				close(held)
				<-release
				return err
			})
		}()
		<-held
		for range 3 { // ids behind the late one are sealed long before it
			f.sealed(t, 2)
		}
		f.clock.move(time.Hour)
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 8 {
			t.Errorf("while it is open: %+v", r)
		}
		close(release)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if r := f.verify(t); !r.Intact() || r.Waiting != 1 {
			t.Errorf("before it is sealed: %+v", r)
		}
		f.seal(t)
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 9 || r.Waiting != 0 {
			t.Errorf("at the end: %+v", r)
		}
		if h, err := f.db.AuditHead(t.Context()); err != nil || h.Settled != 9 {
			t.Errorf("settled up to %d, %v", h.Settled, err)
		}
		f.sql(t, `UPDATE audit SET actor = 'eve' WHERE detail = 'late'`)
		if got := problems(f.verify(t)); got != "changed 3" {
			t.Errorf("a change of it: %s", got)
		}
	})
}

func TestPruneLeavesASealedCut(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sealed(t, 3)
		f.clock.move(time.Hour)
		before := f.clock.now()
		f.addEntries(t, 4) // still to be sealed
		if n, err := f.chain().PlanPrune(t.Context(), operator, before); n != 3 || err != nil {
			t.Errorf("planned %d, %v", n, err)
		}
		if n, err := f.chain().Prune(t.Context(), operator, before); n != 3 || err != nil {
			t.Errorf("pruned %d, %v", n, err)
		}
		lines, err := f.Audit(t.Context(), operator, AuditFilter{})
		if err != nil || len(lines) != 5 || lines[0].Action != "audit.prune" || lines[0].Detail != "3 entries removed" || lines[0].Kind != KindOperator {
			t.Errorf("%+v, %v", lines, err)
		}
		f.seal(t)
		r := f.verify(t)
		if !r.Intact() || r.Sealed != 5 || r.Checked != 5 || !r.PrunedBefore.Equal(before) {
			t.Errorf("%+v", r)
		}
		if n, err := f.chain().Prune(t.Context(), operator, before); n != 0 || err != nil {
			t.Errorf("once more: %d, %v", n, err)
		}
		f.sql(t, `DELETE FROM audit WHERE id = 4`)
		f.sql(t, `DELETE FROM audit_seals WHERE seq = 4`)
		if got := problems(f.verify(t)); got != "missing 0" {
			t.Errorf("the first entry behind the cut removed: %s", got)
		}
	})
}

func TestPruneOfManyEntriesAndOfAll(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		n := int64(pruneBatch + 10)
		err := f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			for range n {
				if err := Record(t.Context(), tx, f.clock.now(), operator, Event{Action: "key.reveal"}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		f.clock.move(time.Hour)
		_, err = f.chain().Prune(t.Context(), Actor{Kind: KindUser, User: 1}, f.clock.now())
		wantCode(t, err, "not_allowed")
		if removed, err := f.chain().Prune(t.Context(), operator, f.clock.now()); removed != n || err != nil {
			t.Errorf("pruned %d, %v", removed, err)
		}
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 1 {
			t.Errorf("%+v", r)
		}
	})
}

func TestHeadIsBroughtToANewKeyFile(t *testing.T) {
	tests := []struct {
		rule    string
		lost    bool
		tamper  func(t *testing.T, f *fixture)
		checked bool
		want    string
	}{
		{"with the old key file", false, func(*testing.T, *fixture) {}, true, ""},
		{"without it", true, func(*testing.T, *fixture) {}, false, ""},
		{"a forged head stays forged", false, func(t *testing.T, f *fixture) { f.sql(t, `UPDATE audit_head SET seq = 2`) }, false, "head 0"},
		{"a removed head stays removed", false, func(t *testing.T, f *fixture) { f.sql(t, `DELETE FROM audit_head`) }, false, "head 0"},
		{"a head that was put back is not begun anew", false, func(t *testing.T, f *fixture) {
			f.sql(t, `UPDATE audit_head SET seq = 0, settled = 0, mac = $1`, []byte{})
		}, false, "head 0"},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.sealed(t, 3)
				tt.tamper(t, f)
				fresh, err := seal.Create(t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				old := f.keyFile
				if tt.lost {
					old = nil
				}
				err = f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
					checked, err := RekeyAudit(t.Context(), tx, old, fresh, f.clock.now())
					if checked != tt.checked {
						t.Errorf("checked: %v", checked)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if tt.want == "" {
					_, err := f.chain().sealSome(t.Context()) // a server with the old key file
					wantCode(t, err, "")
					f.addEntries(t, 1)
					_, err = f.chain().sealSome(t.Context())
					wantCode(t, err, "audit_broken")
				}
				f.keyFile = fresh
				_ = f.chain().sealAll(t.Context())
				if r := f.verify(t); problems(r) != tt.want || (tt.want == "" && r.Sealed != 4) {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

func TestNewDatabaseIsRekeyedBeforeTheChainHasBegun(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.addEntries(t, 2)
		fresh, err := seal.Create(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		err = f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			_, err := RekeyAudit(t.Context(), tx, f.keyFile, fresh, f.clock.now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.chain().sealSome(t.Context())
		wantCode(t, err, "audit_broken") // a server with the old key file does not begin it
		f.keyFile = fresh
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 2 || r.Inherited != 2 {
			t.Errorf("%+v", r)
		}
	})
}

func TestNothingIsSealedWithoutAKeyFile(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.addEntries(t, 2)
		box := f.keyFile
		f.keyFile = nil
		if full, err := f.chain().sealSome(t.Context()); full || err != nil {
			t.Errorf("%v, %v", full, err)
		}
		_, err := f.chain().Verify(t.Context(), operator)
		wantCode(t, err, "unavailable")
		f.keyFile = box
		if r := f.verify(t); r.Waiting != 2 {
			t.Errorf("%+v", r)
		}
	})
}
