package store

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestRotateKey(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, first := f.mustCreate(t, NewKey{Workspace: "ada", ExpiresAt: at("2027-01-01T00:00:00Z")})
		rotated, second, err := f.RotateKey(t.Context(), operator, k.ID, 24*time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if rotated.ID != k.ID || rotated.Name != k.Name || !rotated.ExpiresAt.Equal(k.ExpiresAt.Time) || rotated.Hint == k.Hint {
			t.Errorf("rotated %+v, was %+v", rotated, k)
		}
		if second == first || rotated.PreviousExpiresAt.String() != "2026-11-02T12:00:00Z" {
			t.Errorf("the value before ends %s", rotated.PreviousExpiresAt)
		}
		_, _, err = f.RotateKey(t.Context(), operator, k.ID, -time.Second)
		wantError(t, err, "invalid")
		_, _, err = f.RotateKey(t.Context(), operator, 99, 0)
		wantError(t, err, "key_not_found")
		if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil {
			t.Fatal(err)
		}
		_, _, err = f.RotateKey(t.Context(), operator, k.ID, 0)
		wantError(t, err, "key_revoked")
	})
}

// Another rotation ends an earlier value that still works, and no other one.
func TestEarlierValueOfAKey(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, first := f.mustCreate(t, NewKey{Workspace: "ada", ExpiresAt: at("2026-11-03T00:00:00Z")})
		want := func(what, hint, ends string) {
			t.Helper()
			e, err := f.EarlierValue(t.Context(), operator, k.ID)
			end := ""
			if !e.EndsAt.IsZero() {
				end = e.EndsAt.String()
			}
			if err != nil || e.Key.ID != k.ID || e.Hint != hint || end != ends {
				t.Errorf("%s: %+v, %v; want %q until %q", what, e, err, hint, ends)
			}
		}
		rotate := func(overlap time.Duration) string {
			t.Helper()
			_, value, err := f.RotateKey(t.Context(), operator, k.ID, overlap)
			wantError(t, err, "")
			return value
		}
		want("never rotated", "", "")
		second := rotate(time.Hour)
		want("within the overlap", rules.Hint(first), "2026-11-01T13:00:00Z")
		if e := f.newestAudit(t); e.Before != rules.Hint(first) || e.After != rules.Hint(second) || e.Detail != "" {
			t.Errorf("%+v", e)
		}
		rotate(72 * time.Hour)
		if e := f.newestAudit(t); e.Before != rules.Hint(second) || e.Detail != "ended an earlier value before 2026-11-01T13:00:00Z" {
			t.Errorf("%+v", e)
		}
		_, err := f.Validation.Authenticate(t.Context(), first, client)
		wantError(t, err, "key_unknown")
		want("the key expires before the overlap", rules.Hint(second), "2026-11-03T00:00:00Z")
		rotate(0)
		want("no overlap", "", "")
		rotate(time.Hour)
		f.clock.set(noon.Add(time.Hour))
		want("after the overlap", "", "")
		rotate(time.Hour)
		if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil {
			t.Fatal(err)
		}
		want("a revoked key", "", "")
		_, err = f.EarlierValue(t.Context(), operator, 99)
		wantError(t, err, "key_not_found")
	})
}

// Two who change a key at once: neither undoes what the other did. On SQLite
// there is one writer.
func TestRevocationIsNotLostToAChangeUnderWay(t *testing.T) {
	t.Parallel()
	place := twoShopsStore.New(t, dbtest.Postgres)
	f := prepared(t, place)
	impatient := place
	impatient.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := prepared(t, impatient)
	cases := []struct {
		name   string
		change func(k Key, meanwhile func()) error
	}{
		{"a rotation", func(k Key, meanwhile func()) error {
			_, err := f.changeKey(t.Context(), operator, k.ID, actionRotateKey, func(tx *storedb.DB, k *Key, _ *people.Event) error {
				meanwhile()
				rules.SetKeyValue(f.gate.Box(), k, rules.NewKeyValue(k.Class))
				return tx.UpdateKey(t.Context(), *k)
			})
			return err
		}},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			k, _ := f.mustCreate(t, NewKey{Workspace: "ada", Name: fmt.Sprint(i)})
			var revoked error
			err := c.change(k, func() { _, revoked = other.RevokeKey(t.Context(), operator, k.ID) })
			if err != nil {
				t.Fatal(err)
			}
			if got := f.keyNamed(t, "ada", k.Name); revoked == nil && got.RevokedAt.IsZero() {
				t.Error("the key was revoked, and is open again")
			}
			if _, err := other.RevokeKey(t.Context(), operator, k.ID); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

func TestOfTwoRotationsOfASeenValueOneIsDone(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, first := f.mustCreate(t, NewKey{Workspace: "ada"})
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, _, errs[i] = f.RotateSeenKey(t.Context(), operator, k.ID, time.Hour, k.Hint) })
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else {
				wantError(t, err, "key_rotated")
			}
		}
		if done != 1 {
			t.Errorf("%d rotations, want 1: %v", done, errs)
		}
		if _, err := f.Validation.Authenticate(t.Context(), first, client); err != nil {
			t.Errorf("the value within its overlap: %v", err)
		}
	})
}
