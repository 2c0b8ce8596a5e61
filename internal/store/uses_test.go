package store

import (
	"context"
	"errors"
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
			if _, err := f.Authenticate(t.Context(), token, netip.MustParseAddr(address)); err != nil {
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
		f.writeUses(t.Context())
		for id, want := range map[int64]string{
			k.ID:      "3, last 2026-11-01T12:01:30Z from 2001:db8::1",
			other.ID:  "1, last 2026-11-01T12:01:30Z from 192.0.2.3",
			unused.ID: "0",
		} {
			if got := f.used(t, id); got != want {
				t.Errorf("key %d: %s, want %s", id, got, want)
			}
		}
		f.writeUses(t.Context())
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
		_, err := f.Authenticate(t.Context(), token, client)
		wantError(t, err, "key_revoked")
		f.writeUses(t.Context())
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
			if _, err := f.Authenticate(t.Context(), token, client); err != nil {
				t.Fatal(err)
			}
		}
		use()
		f.clock.set(noon.Add(time.Minute))
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		f.writeUses(gone)
		if got := f.used(t, k.ID); got != "0" {
			t.Fatalf("written although the database was away: %s", got)
		}
		use()
		f.writeUses(t.Context())
		if got := f.used(t, k.ID); got != "2, last 2026-11-01T12:01:00Z from 192.0.2.7" {
			t.Errorf("used %s", got)
		}
	})
}

func TestGiveBackAddsToWhatCameMeanwhile(t *testing.T) {
	var u uses
	later := noon.Add(time.Minute)
	u.note(1, noon, client)
	u.note(2, noon, client)
	taken := u.take()
	u.note(2, later, netip.MustParseAddr("192.0.2.8"))
	u.note(3, later, client)
	u.giveBack(taken)
	got := u.take()
	want := map[int64]use{
		1: {1, noon, client}, 2: {2, later, netip.MustParseAddr("192.0.2.8")}, 3: {1, later, client},
	}
	for id, w := range want {
		if got[id] == nil || *got[id] != w {
			t.Errorf("key %d: %+v, want %+v", id, got[id], w)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	u.giveBack(got)
	if len(u.take()) != 3 {
		t.Error("what was given back to nothing is lost")
	}
}

func TestCloseWritesTheLastUses(t *testing.T) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		reader := prepared(t, place)
		reader.mustImport(t, twoShops)
		k, token := reader.mustCreate(t, NewKey{Workspace: "ada"})
		s, err := Open(t.Context(), optionsOf(place, reader.clock))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Authenticate(t.Context(), token, client); err != nil {
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

// Two servers on one database write the uses of the same keys at once.
func TestBatchesOfTwoServersAddUp(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		var keys []Key
		var tokens []string
		for i := range 20 {
			k, token := f.mustCreate(t, NewKey{Workspace: "ada", Name: text(i)})
			keys, tokens = append(keys, k), append(tokens, token)
		}
		other := f.again(t)
		failed := errors.New("told by the log")
		for range 5 {
			done := make(chan error, 2)
			for _, server := range []*fixture{f, other} {
				for _, token := range tokens {
					if _, err := server.Authenticate(t.Context(), token, client); err != nil {
						t.Fatal(err)
					}
				}
				go func() {
					server.writeUses(t.Context())
					if len(server.uses.take()) > 0 {
						done <- failed
					}
					done <- nil
				}()
			}
			for range 2 {
				if err := await(t, done); err != nil {
					t.Fatal("a batch could not be written")
				}
			}
		}
		for _, k := range keys {
			if got := f.used(t, k.ID); got != "10, last 2026-11-01T12:00:00Z from 192.0.2.7" {
				t.Errorf("key %s: %s", k.Name, got)
			}
		}
	})
}
