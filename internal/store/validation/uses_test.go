package validation_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// used is what the list of keys tells of a key's use.
func used(t testing.TB, f *storetest.Fixture, id int64) string {
	t.Helper()
	k := must.Get(f.DB().Key(t.Context(), id))(t)
	if k.LastUsedAt.IsZero() {
		return fmt.Sprintf("%d", k.UsedCount)
	}
	return fmt.Sprintf("%d, last %s from %s", k.UsedCount, k.LastUsedAt, k.LastUsedFrom)
}

func TestUsesAreWrittenInABatchOffTheRequestsPath(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		other, otherToken := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "other"})
		unused, _ := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "unused"})
		changes := f.Rows(t, "changes")
		ask := func(token string, address string) {
			t.Helper()
			must.Get(f.Validation.Authenticate(t.Context(), token, netip.MustParseAddr(address)))(t)
		}
		ask(token, "192.0.2.1")
		ask(token, "192.0.2.2")
		f.Clock.Set(storetest.Noon.Add(90 * time.Second))
		ask(token, "2001:db8::1")
		ask(otherToken, "192.0.2.3")
		expect.Equalf(t, used(t, f, k.ID), "0", "before the batch")
		f.Validation.Close(t.Context())
		for id, want := range map[int64]string{
			k.ID:      "3, last 2026-11-01T12:01:30Z from 2001:db8::1",
			other.ID:  "1, last 2026-11-01T12:01:30Z from 192.0.2.3",
			unused.ID: "0",
		} {
			expect.Equalf(t, used(t, f, id), want, "key %d", id)
		}
		f.Validation.Close(t.Context())
		expect.Equalf(t, used(t, f, other.ID), "1, last 2026-11-01T12:01:30Z from 192.0.2.3", "a second batch without calls")
		expect.Equalf(t, f.Rows(t, "changes"), changes, "the batch marks changes, which empties memory")
	})
}

func TestWhatDoesNotOpenIsNoUse(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
		storetest.WantError(t, err, "key_revoked")
		f.Validation.Close(t.Context())
		expect.Equalf(t, used(t, f, k.ID), "0", "used")
	})
}

func TestUsesThatCannotBeWrittenAreKept(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		use := func() {
			t.Helper()
			must.Get(f.Validation.Authenticate(t.Context(), token, storetest.Client))(t)
		}
		use()
		f.Clock.Set(storetest.Noon.Add(time.Minute))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		f.Validation.Close(gone)
		if got := used(t, f, k.ID); got != "0" {
			t.Fatalf("written although the database was away: %s", got)
		}
		use()
		f.Validation.Close(t.Context())
		expect.Equalf(t, used(t, f, k.ID), "2, last 2026-11-01T12:01:00Z from 192.0.2.7", "used")
	})
}

func TestCloseWritesTheLastUses(t *testing.T) {
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		reader := storetest.Prepared(t, place)
		k, token := reader.MustCreate(t, store.NewKey{Workspace: "ada"})
		s := must.Get(store.Open(t.Context(), storetest.OptionsOf(place, reader.Clock)))(t)
		must.Do(t, s.Prepare(t.Context()))
		must.Get(s.Validation.Authenticate(t.Context(), token, storetest.Client))(t)
		must.Do(t, s.Close())
		expect.Equalf(t, used(t, reader, k.ID), "1, last 2026-11-01T12:00:00Z from 192.0.2.7", "used")
	})
}
