package people

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
)

// chain is the audit chain of the fixture's database.
func (f *fixture) chain() *AuditChain {
	return NewAuditChain(f.db, func() *keyfile.Box { return f.keyFile }, f.clock.Now, f.People.log)
}

// write adds entries to the audit log, a minute apart.
func (f *fixture) addEntries(t *testing.T, n int) {
	t.Helper()
	for range n {
		f.clock.Move(time.Minute)
		must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			return Record(t.Context(), tx, f.clock.Now(), operator, Event{Action: "key.reveal", Subject: "web", Detail: "é \"x\""})
		}))
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
		must.Do(t, f.chain().sealAll(t.Context()))
		f.clock.Move(settleAfter)
	}
	must.Do(t, f.chain().sealAll(t.Context()))
}

// settle seals until all entries up to an id are settled: transactions of other tests on the same
// PostgreSQL delay that.
func (f *fixture) settle(t *testing.T, id int64) {
	t.Helper()
	for range 20_000 {
		h := must.Get(f.db.AuditHead(t.Context()))(t)
		if h.Settled >= id {
			return
		}
		f.seal(t)
	}
	t.Fatalf("the entry %d is not settled", id)
}

func TestSealedAuditLogIsIntact(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		if r := f.verify(t); !r.Intact() || r.Sealed != 0 || !r.SealedSince.IsZero() {
			t.Errorf("an empty one: %+v", r)
		}
		f.addEntries(t, 3) // before the chain begins
		if r := f.verify(t); !r.Intact() || r.Sealed != 0 || r.Waiting != 3 || !r.WaitingSince.Equal(f.clock.Now().Add(-2*time.Minute)) {
			t.Errorf("one that waits: %+v", r)
		}
		begun := f.clock.Now()
		f.seal(t)
		f.sealed(t, 2)
		f.addEntries(t, 1)
		r := f.verify(t)
		if !r.Intact() || r.Sealed != 5 || r.Checked != 5 || r.Waiting != 1 || r.Inherited != 3 || !r.SealedSince.Equal(begun) || len(r.LastSeal) != 64 {
			t.Errorf("%+v", r)
		}
		must.Do(t, f.chain().sealAll(t.Context()))
		if now := f.verify(t); !now.Intact() || now.Sealed != 6 || now.Waiting != 0 || now.LastSeal == r.LastSeal {
			t.Errorf("%+v", now)
		}
	})
}

func TestHeadIsBroughtToANewKeyFile(t *testing.T) {
	t.Parallel()
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
				fresh, err := keyfile.Create(t.TempDir())
				must.Do(t, err)
				old := f.keyFile
				if tt.lost {
					old = nil
				}
				err = f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
					checked, err := RekeyAudit(t.Context(), tx, old, fresh, f.clock.Now())
					expect.Equalf(t, checked, tt.checked, "checked")
					return err
				})
				must.Do(t, err)
				if tt.want == "" {
					f.addEntries(t, 1)
					_, err = f.chain().sealSome(t.Context()) // a server with the old key file
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
		fresh := must.Get(keyfile.Create(t.TempDir()))(t)
		must.Do(t, f.db.Tx(t.Context(), func(tx *peopledb.DB) error {
			_, err := RekeyAudit(t.Context(), tx, f.keyFile, fresh, f.clock.Now())
			return err
		}))
		_, err := f.chain().sealSome(t.Context())
		wantCode(t, err, "audit_broken") // a server with the old key file does not begin it
		f.keyFile = fresh
		f.seal(t)
		if r := f.verify(t); !r.Intact() || r.Sealed != 2 || r.Inherited != 2 {
			t.Errorf("%+v", r)
		}
	})
}
