package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

func TestCreateKey(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustCreate(t, NewKey{Workspace: "ada", Name: "taken"})
		gone, _ := f.mustCreate(t, NewKey{Workspace: "ada", Name: "revoked"})
		if _, err := f.RevokeKey(t.Context(), operator, gone.ID); err != nil {
			t.Fatal(err)
		}
		cases := []struct {
			name string
			key  NewKey
			want string // code of the error
		}{
			{"a secret key opens all items", NewKey{Workspace: "ada", Name: "a", Class: ClassSecret}, ""},
			{"a publishable key is bound to an item", NewKey{Workspace: "ada", Name: "b", Class: ClassPublishable, Item: 1}, ""},
			{"a name of another workspace is free", NewKey{Workspace: "bob", Name: "taken", Class: ClassSecret}, ""},
			{"names differ by the case of letters", NewKey{Workspace: "ada", Name: "Taken", Class: ClassSecret}, ""},
			{"a name may have a hundred letters of any alphabet", NewKey{Workspace: "ada", Name: strings.Repeat("é", 100), Class: ClassSecret}, ""},
			{"a name is given once", NewKey{Workspace: "ada", Name: "taken", Class: ClassSecret}, "key_exists"},
			{"a revoked key keeps its name", NewKey{Workspace: "ada", Name: "revoked", Class: ClassSecret}, "key_exists"},
			{"an unknown workspace has no keys", NewKey{Workspace: "eve", Name: "a", Class: ClassSecret}, "workspace_not_found"},
			{"an impossible workspace has no keys", NewKey{Workspace: "a\x00b\xff", Name: "a", Class: ClassSecret}, "workspace_not_found"},
			{"a secret key is not bound to an item", NewKey{Workspace: "ada", Name: "c", Class: ClassSecret, Item: 1}, "invalid"},
			{"a publishable key without an item opens nothing", NewKey{Workspace: "ada", Name: "c", Class: ClassPublishable}, "invalid"},
			{"a publishable key is not bound to an unknown item", NewKey{Workspace: "ada", Name: "c", Class: ClassPublishable, Item: 99}, "item_not_found"},
			{"a publishable key is not bound to another workspace's item", NewKey{Workspace: "ada", Name: "c", Class: ClassPublishable, Item: 3}, "item_not_found"},
			{"a class is secret or publishable", NewKey{Workspace: "ada", Name: "c", Class: "admin"}, "invalid"},
			{"a class is named", NewKey{Workspace: "ada", Name: "c"}, "invalid"},
			{"a name is not empty", NewKey{Workspace: "ada", Class: ClassSecret}, "invalid"},
			{"a name has no spaces around it", NewKey{Workspace: "ada", Name: " c", Class: ClassSecret}, "invalid"},
			{"a name has no control characters", NewKey{Workspace: "ada", Name: "c\x00d", Class: ClassSecret}, "invalid"},
			{"a name is UTF-8", NewKey{Workspace: "ada", Name: "c\xffd", Class: ClassSecret}, "invalid"},
			{"a name has at most a hundred characters", NewKey{Workspace: "ada", Name: strings.Repeat("é", 101), Class: ClassSecret}, "invalid"},
		}
		for _, c := range cases {
			before := f.rows(t, "keys")
			k, token, err := f.CreateKey(t.Context(), operator, c.key)
			if codeOf(err) != c.want {
				t.Errorf("%s: code %q, want %q", c.name, codeOf(err), c.want)
			}
			if err != nil {
				if f.rows(t, "keys") != before {
					t.Errorf("%s: a key was written", c.name)
				}
				continue
			}
			if access, err := f.Validation.Authenticate(t.Context(), token, client); err != nil || access.Actor.ID != fmt.Sprint(k.ID) {
				t.Errorf("%s: the new key opens %+v, %v", c.name, access, err)
			}
		}
	})
}

func TestKeyIsShownAgain(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		imported := "4f9c1b7e8d2a4f9c1b7e8d2a4f9c1b7e"
		f.mustImport(t, lines(keyText("ada", "old", `"key":"`+imported+`"`)))
		old := f.keyNamed(t, "ada", "old")
		for id, want := range map[int64]string{k.ID: token, old.ID: imported} {
			if _, got, err := f.RevealKey(t.Context(), operator, id); err != nil || got != want {
				t.Errorf("key %d: %q, %v; want %q", id, got, err, want)
			}
		}
		_, fresh, err := f.RotateKey(t.Context(), operator, k.ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := f.RevealKey(t.Context(), operator, k.ID); err != nil || got != fresh {
			t.Errorf("after a rotation: %q, %v; want the current value %q", got, err, fresh)
		}
		if _, _, err := f.RevealKey(t.Context(), operator, 99); codeOf(err) != "key_not_found" {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

func (f *fixture) keyNamed(t testing.TB, workspace, name string) Key {
	t.Helper()
	keys, err := f.Keys(t.Context(), operator, workspace)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("the workspace %s has no key %q", workspace, name)
	}
	return keys[i]
}

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

func TestARevokedKeyComesBackForTenMinutes(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		works := func() bool {
			_, err := f.Validation.Authenticate(t.Context(), token, client)
			return err == nil
		}
		_, err := f.RestoreKey(t.Context(), operator, k.ID)
		wantError(t, err, "key_active")
		for _, c := range []struct {
			after time.Duration
			code  string
		}{{UndoRevoke - time.Second, ""}, {UndoRevoke, "key_revoked"}} {
			f.clock.set(noon)
			if _, err := f.RevokeKey(t.Context(), operator, k.ID); err != nil || works() {
				t.Fatalf("%v, works: %t", err, works())
			}
			f.clock.set(noon.Add(c.after))
			if _, err := f.RestoreKey(t.Context(), operator, k.ID); c.code != "" {
				wantError(t, err, c.code)
			} else if err != nil {
				t.Error(err)
			}
			if works() != (c.code == "") {
				t.Errorf("%s after its revocation the key works: %t", c.after, works())
			}
		}
	})
}

func TestRevokingTwiceKeepsTheFirstTime(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, _ := f.mustCreate(t, NewKey{Workspace: "ada"})
		first, err := f.RevokeKey(t.Context(), operator, k.ID)
		if err != nil {
			t.Fatal(err)
		}
		f.clock.set(noon.Add(time.Hour))
		second, err := f.RevokeKey(t.Context(), operator, k.ID)
		if err != nil || second.RevokedAt != first.RevokedAt || first.RevokedAt != countersign.At(noon) {
			t.Errorf("revoked %s, then %s, %v", first.RevokedAt, second.RevokedAt, err)
		}
	})
}

func TestExpiryIsGivenAndTaken(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		for _, c := range []struct {
			end  countersign.Timestamp
			want string
		}{
			{at("2026-11-01T11:00:00Z"), "key_expired"}, {at("2026-11-01T13:00:00Z"), ""}, {at("2026-11-01T11:00:00Z"), "key_expired"}, {countersign.Timestamp{}, ""},
		} {
			if _, err := f.SetKeyExpiry(t.Context(), operator, k.ID, c.end); err != nil {
				t.Fatal(err)
			}
			_, err := f.Validation.Authenticate(t.Context(), token, client)
			wantError(t, err, c.want)
		}
	})
}

func TestListOfKeysIsByWorkspaceAndName(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"b", "a", "B", "é", "z"} {
			f.mustCreate(t, NewKey{Workspace: "ada", Name: name})
		}
		f.mustCreate(t, NewKey{Workspace: "bob", Name: "a"})
		names := func(workspace string) string {
			keys, err := f.Keys(t.Context(), operator, workspace)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, k := range keys {
				list = append(list, k.Workspace+"/"+k.Name)
			}
			return strings.Join(list, " ")
		}
		if got, want := names(""), "ada/B ada/a ada/b ada/z ada/é bob/a"; got != want {
			t.Errorf("all: %s, want %s", got, want)
		}
		if got, want := names("bob"), "bob/a"; got != want {
			t.Errorf("of bob: %s, want %s", got, want)
		}
		_, err := f.Keys(t.Context(), operator, "eve")
		wantError(t, err, "workspace_not_found")
	})
}

func TestEverythingDoneToAKeyIsWrittenDown(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		before := len(f.audits(t))
		k, first := f.mustCreate(t, NewKey{Workspace: "ada"})
		ctx := t.Context()
		_, _, err1 := f.RevealKey(ctx, operator, k.ID)
		_, second, err2 := f.RotateKey(ctx, operator, k.ID, time.Hour)
		_, err3 := f.SetKeyExpiry(ctx, operator, k.ID, at("2027-01-01T00:00:00Z"))
		_, err4 := f.RevokeKey(ctx, operator, k.ID)
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				t.Fatal(err)
			}
		}
		_, _, failed := f.RotateKey(ctx, operator, k.ID, 0)
		wantError(t, failed, "key_revoked") // what fails is not written down
		got := f.audits(t)[before:]
		want := []string{"key.create ada web", "key.reveal ada web", "key.rotate ada web", "key.expire ada web", "key.revoke ada web"}
		if !slices.Equal(got, want) {
			t.Errorf("audit %q, want %q", got, want)
		}
		for _, table := range []string{"audit", "changes"} {
			all := f.dump(t, table)
			if strings.Contains(all, first) || strings.Contains(all, second) {
				t.Errorf("the table %s holds the value of a key", table)
			}
		}
	})
}

// The value of a key is nowhere in the clear: not in the database, not in what
// lies beside it.
func TestKeyValuesAreNotKeptInTheClear(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		if all := f.dump(t, "keys"); strings.Contains(all, token) || !strings.Contains(all, "web") {
			t.Errorf("the table of keys: %s", all)
		}
		files, err := filepath.Glob(filepath.Join(f.at.Dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(token)) {
				t.Errorf("%s holds the value of a key", path)
			}
		}
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

func TestASecondRevocationIsNotInTheAuditLog(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		k, _ := f.mustCreate(t, NewKey{Workspace: "ada"})
		first, err := f.RevokeKey(t.Context(), operator, k.ID)
		if err != nil {
			t.Fatal(err)
		}
		entries := len(f.audits(t))
		again, err := f.RevokeKey(t.Context(), operator, k.ID)
		if err != nil || !again.RevokedAt.Equal(first.RevokedAt.Time) {
			t.Errorf("%+v, %v", again, err)
		}
		if n := len(f.audits(t)); n != entries {
			t.Errorf("%d entries, want %d", n, entries)
		}
	})
}
