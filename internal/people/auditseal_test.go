package people

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestManyEntriesAreSealedInBatches(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		n := 2*sealBatch + 70
		must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			for range n {
				if err := Record(t.Context(), tx, f.clock.Now(), operator, Event{Action: "key.reveal"}); err != nil {
					return err
				}
			}
			return nil
		}))
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
		f.settle(t, 3)
		head := func() peopledb.AuditHead {
			return must.Get(f.db.AuditHead(t.Context()))(t)
		}
		before := head()
		expect.Equalf(t, before.Settled, 3, "settled up to")
		for range 5 {
			f.clock.Move(time.Hour)
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
				err := Record(t.Context(), tx, f.clock.Now(), operator, Event{Action: "license.issue", Detail: "late"})
				close(held)
				<-release
				return err
			})
		}()
		<-held
		for range 3 { // ids behind the late one are sealed long before it
			f.sealed(t, 2)
		}
		f.clock.Move(time.Hour)
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 8 {
			t.Errorf("while it is open: %+v", r)
		}
		close(release)
		must.Do(t, <-done)
		if r := f.verify(t); !r.Intact() || r.Waiting != 1 {
			t.Errorf("before it is sealed: %+v", r)
		}
		f.settle(t, 9)
		if r := f.verify(t); !r.Intact() || r.Sealed != 9 || r.Waiting != 0 {
			t.Errorf("at the end: %+v", r)
		}
		if h, err := f.db.AuditHead(t.Context()); err != nil || h.Settled != 9 {
			t.Errorf("settled up to %d, %v", h.Settled, err)
		}
		f.sql(t, `UPDATE audit SET actor = 'eve' WHERE detail = 'late'`)
		expect.Equalf(t, problems(f.verify(t)), "changed 3", "a change of it")
	})
}

func TestEntriesSettleAlsoWhenTheLookBeforeMeansNothing(t *testing.T) {
	tests := map[string]func(h *peopledb.AuditHead, now time.Time){
		"the database was moved to a new PostgreSQL by a dump": func(h *peopledb.AuditHead, _ time.Time) { h.SeenXmax = 1 << 40 },
		"the clock was ahead": func(h *peopledb.AuditHead, now time.Time) { h.SeenAt.Time = now.AddDate(4, 0, 0) },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			engines(t, func(t *testing.T, f *fixture) {
				f.addEntries(t, 2)
				must.Do(t, f.chain().sealAll(t.Context()))
				must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
					h, err := tx.LockAuditHead(t.Context())
					if err != nil {
						return err
					}
					spoil(&h, f.clock.Now())
					return saveHead(t.Context(), tx, f.keyFile, h)
				}))
				f.settle(t, 2)
				if h, err := f.db.AuditHead(t.Context()); err != nil || h.Settled != 2 {
					t.Errorf("settled up to %d, %v", h.Settled, err)
				}
				f.sealed(t, 1)
				if r := f.verify(t); !r.Intact() || r.Sealed != 3 {
					t.Errorf("%+v", r)
				}
			})
		})
	}
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

func TestUnsealedEntriesAreCountedUntilTheirSeal(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		want := func(entries int64, longest time.Duration) {
			t.Helper()
			if n, d, err := f.chain().Unsealed(t.Context()); n != entries || d != longest || err != nil {
				t.Errorf("%d for %s, %v; want %d for %s", n, d, err, entries, longest)
			}
		}
		want(0, 0)
		f.addEntries(t, 3)
		want(3, 2*time.Minute)
		f.seal(t)
		want(0, 0)
		f.sql(t, `DELETE FROM audit_head`)
		_, _, err := f.chain().Unsealed(t.Context())
		wantCode(t, err, "audit_broken")
	})
}
