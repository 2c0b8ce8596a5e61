package people

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
)

func TestPruneLeavesASealedCut(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sealed(t, 3)
		f.clock.Move(time.Hour)
		before := f.clock.Now()
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
		expect.Equalf(t, problems(f.verify(t)), "missing 0", "the first entry behind the cut removed")
	})
}

func TestPruneOfManyEntriesAndOfAll(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		n := int64(pruneBatch + 10)
		must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			for range n {
				if err := Record(t.Context(), tx, f.clock.Now(), operator, Event{Action: "key.reveal"}); err != nil {
					return err
				}
			}
			return nil
		}))
		f.clock.Move(time.Hour)
		_, err := f.chain().Prune(t.Context(), Actor{Kind: KindUser, User: 1}, f.clock.Now())
		wantCode(t, err, "not_allowed")
		if removed, err := f.chain().Prune(t.Context(), operator, f.clock.Now()); removed != n || err != nil {
			t.Errorf("pruned %d, %v", removed, err)
		}
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 1 {
			t.Errorf("%+v", r)
		}
	})
}
