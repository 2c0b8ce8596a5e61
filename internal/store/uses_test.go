package store

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
)

// used is what the list of keys tells of a key's use.
func (f *fixture) used(t testing.TB, id int64) string {
	t.Helper()
	k, err := f.db.Key(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if k.LastUsedAt.IsZero() {
		return fmt.Sprintf("%d", k.UsedCount)
	}
	return fmt.Sprintf("%d, last %s from %s", k.UsedCount, k.LastUsedAt, k.LastUsedFrom)
}

func TestUsesAreWrittenInABatchOffTheRequestsPath(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		other, otherToken := f.mustCreate(t, NewKey{Workspace: "ada", Name: "other"})
		unused, _ := f.mustCreate(t, NewKey{Workspace: "ada", Name: "unused"})
		changes := f.rows(t, "changes")
		ask := func(token string, address string) {
			t.Helper()
			if _, err := f.Validation.Authenticate(t.Context(), token, netip.MustParseAddr(address)); err != nil {
				t.Fatal(err)
			}
		}
		ask(token, "192.0.2.1")
		ask(token, "192.0.2.2")
		f.clock.set(noon.Add(90 * time.Second))
		ask(token, "2001:db8::1")
		ask(otherToken, "192.0.2.3")
		if got := f.used(t, k.ID); got != "0" {
			t.Errorf("before the batch: %s", got)
		}
		f.Validation.Close(t.Context())
		for id, want := range map[int64]string{
			k.ID:      "3, last 2026-11-01T12:01:30Z from 2001:db8::1",
			other.ID:  "1, last 2026-11-01T12:01:30Z from 192.0.2.3",
			unused.ID: "0",
		} {
			if got := f.used(t, id); got != want {
				t.Errorf("key %d: %s, want %s", id, got, want)
			}
		}
		f.Validation.Close(t.Context())
		if got := f.used(t, other.ID); got != "1, last 2026-11-01T12:01:30Z from 192.0.2.3" {
			t.Errorf("a second batch without calls: %s", got)
		}
		if f.rows(t, "changes") != changes {
			t.Error("the batch marks changes, which empties memory")
		}
	})
}

func TestWhatDoesNotOpenIsNoUse(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil {
			t.Fatal(err)
		}
		_, err := f.Validation.Authenticate(t.Context(), token, client)
		wantError(t, err, "key_revoked")
		f.Validation.Close(t.Context())
		if got := f.used(t, k.ID); got != "0" {
			t.Errorf("used %s", got)
		}
	})
}

func TestUsesThatCannotBeWrittenAreKept(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		use := func() {
			t.Helper()
			if _, err := f.Validation.Authenticate(t.Context(), token, client); err != nil {
				t.Fatal(err)
			}
		}
		use()
		f.clock.set(noon.Add(time.Minute))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		f.Validation.Close(gone)
		if got := f.used(t, k.ID); got != "0" {
			t.Fatalf("written although the database was away: %s", got)
		}
		use()
		f.Validation.Close(t.Context())
		if got := f.used(t, k.ID); got != "2, last 2026-11-01T12:01:00Z from 192.0.2.7" {
			t.Errorf("used %s", got)
		}
	})
}

func TestCloseWritesTheLastUses(t *testing.T) {
	twoShopsStore.Engines(t, func(t *testing.T, place dbtest.DB) {
		reader := prepared(t, place)
		k, token := reader.mustCreate(t, NewKey{Workspace: "ada"})
		s, err := Open(t.Context(), optionsOf(place, reader.clock))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Validation.Authenticate(t.Context(), token, client); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if got := reader.used(t, k.ID); got != "1, last 2026-11-01T12:00:00Z from 192.0.2.7" {
			t.Errorf("used %s", got)
		}
	})
}
