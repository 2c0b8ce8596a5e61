package store_test

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
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestCreateKey(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "taken"})
		gone, _ := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "revoked"})
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, gone.ID))(t)
		cases := []struct {
			name string
			key  store.NewKey
			want string // code of the error
		}{
			{"a secret key opens all items", store.NewKey{Workspace: "ada", Name: "a", Class: store.ClassSecret}, ""},
			{"a publishable key is bound to an item", store.NewKey{Workspace: "ada", Name: "b", Class: store.ClassPublishable, Item: 1}, ""},
			{"a name of another workspace is free", store.NewKey{Workspace: "bob", Name: "taken", Class: store.ClassSecret}, ""},
			{"names differ by the case of letters", store.NewKey{Workspace: "ada", Name: "Taken", Class: store.ClassSecret}, ""},
			{"a name may have a hundred letters of any alphabet", store.NewKey{Workspace: "ada", Name: strings.Repeat("é", 100), Class: store.ClassSecret}, ""},
			{"a name is given once", store.NewKey{Workspace: "ada", Name: "taken", Class: store.ClassSecret}, "key_exists"},
			{"a revoked key keeps its name", store.NewKey{Workspace: "ada", Name: "revoked", Class: store.ClassSecret}, "key_exists"},
			{"an unknown workspace has no keys", store.NewKey{Workspace: "eve", Name: "a", Class: store.ClassSecret}, "workspace_not_found"},
			{"an impossible workspace has no keys", store.NewKey{Workspace: "a\x00b\xff", Name: "a", Class: store.ClassSecret}, "workspace_not_found"},
			{"a secret key is not bound to an item", store.NewKey{Workspace: "ada", Name: "c", Class: store.ClassSecret, Item: 1}, "invalid"},
			{"a publishable key without an item opens nothing", store.NewKey{Workspace: "ada", Name: "c", Class: store.ClassPublishable}, "invalid"},
			{"a publishable key is not bound to an unknown item", store.NewKey{Workspace: "ada", Name: "c", Class: store.ClassPublishable, Item: 99}, "item_not_found"},
			{"a publishable key is not bound to another workspace's item", store.NewKey{Workspace: "ada", Name: "c", Class: store.ClassPublishable, Item: 3}, "item_not_found"},
			{"a class is secret or publishable", store.NewKey{Workspace: "ada", Name: "c", Class: "admin"}, "invalid"},
			{"a class is named", store.NewKey{Workspace: "ada", Name: "c"}, "invalid"},
			{"a name is not empty", store.NewKey{Workspace: "ada", Class: store.ClassSecret}, "invalid"},
			{"a name has no spaces around it", store.NewKey{Workspace: "ada", Name: " c", Class: store.ClassSecret}, "invalid"},
			{"a name has no control characters", store.NewKey{Workspace: "ada", Name: "c\x00d", Class: store.ClassSecret}, "invalid"},
			{"a name is UTF-8", store.NewKey{Workspace: "ada", Name: "c\xffd", Class: store.ClassSecret}, "invalid"},
			{"a name has at most a hundred characters", store.NewKey{Workspace: "ada", Name: strings.Repeat("é", 101), Class: store.ClassSecret}, "invalid"},
		}
		for _, c := range cases {
			before := f.Rows(t, "keys")
			k, token, err := f.CreateKey(t.Context(), storetest.Operator, c.key)
			expect.Equalf(t, storetest.CodeOf(err), c.want, "%s: code", c.name)
			if err != nil {
				expect.Equalf(t, f.Rows(t, "keys"), before, "%s: a key was written", c.name)
				continue
			}
			if access, err := f.Validation.Authenticate(t.Context(), token, storetest.Client); err != nil || access.Actor.ID != fmt.Sprint(k.ID) {
				t.Errorf("%s: the new key opens %+v, %v", c.name, access, err)
			}
		}
	})
}

func TestKeyIsShownAgain(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		imported := "4f9c1b7e8d2a4f9c1b7e8d2a4f9c1b7e"
		f.MustImport(t, storetest.Lines(storetest.KeyText("ada", "old", `"key":"`+imported+`"`)))
		old := f.KeyNamed(t, "ada", "old")
		for id, want := range map[int64]string{k.ID: token, old.ID: imported} {
			if _, got, err := f.RevealKey(t.Context(), storetest.Operator, id); err != nil || got != want {
				t.Errorf("key %d: %q, %v; want %q", id, got, err, want)
			}
		}
		_, fresh, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, "")
		must.Do(t, err)
		if _, got, err := f.RevealKey(t.Context(), storetest.Operator, k.ID); err != nil || got != fresh {
			t.Errorf("after a rotation: %q, %v; want the current value %q", got, err, fresh)
		}
		if _, _, err := f.RevealKey(t.Context(), storetest.Operator, 99); storetest.CodeOf(err) != "key_not_found" {
			t.Errorf("an unknown key: %v", err)
		}
	})
}

func TestARevokedKeyComesBackForTenMinutes(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		works := func() bool {
			_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
			return err == nil
		}
		_, err := f.RestoreKey(t.Context(), storetest.Operator, k.ID)
		storetest.WantError(t, err, "key_active")
		for _, c := range []struct {
			after time.Duration
			code  string
		}{{store.UndoRevoke - time.Second, ""}, {store.UndoRevoke, "key_revoked"}} {
			f.Clock.Set(storetest.Noon)
			if _, err := f.RevokeKey(t.Context(), storetest.Operator, k.ID); err != nil || works() {
				t.Fatalf("%v, works: %t", err, works())
			}
			f.Clock.Set(storetest.Noon.Add(c.after))
			if _, err := f.RestoreKey(t.Context(), storetest.Operator, k.ID); c.code != "" {
				storetest.WantError(t, err, c.code)
			} else if err != nil {
				t.Error(err)
			}
			if works() != (c.code == "") {
				t.Errorf("%s after its revocation the key works: %t", c.after, works())
			}
		}
	})
}

func TestASecondRevocationChangesNothing(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, _ := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		first := must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		entries := len(f.Audits(t))
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		second := must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		if second.RevokedAt != first.RevokedAt || first.RevokedAt != countersign.At(storetest.Noon) {
			t.Errorf("revoked %s, then %s", first.RevokedAt, second.RevokedAt)
		}
		expect.Equalf(t, len(f.Audits(t)), entries, "entries of audit")
	})
}

func TestExpiryIsGivenAndTaken(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		for _, c := range []struct {
			end  countersign.Timestamp
			want string
		}{
			{storetest.Timestamp("2026-11-01T11:00:00Z"), "key_expired"}, {storetest.Timestamp("2026-11-01T13:00:00Z"), ""}, {storetest.Timestamp("2026-11-01T11:00:00Z"), "key_expired"}, {countersign.Timestamp{}, ""},
		} {
			must.Get(f.SetKeyExpiry(t.Context(), storetest.Operator, k.ID, c.end))(t)
			_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
			storetest.WantError(t, err, c.want)
		}
	})
}

func TestListOfKeysIsByWorkspaceAndName(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for _, name := range []string{"b", "a", "B", "é", "z"} {
			f.MustCreate(t, store.NewKey{Workspace: "ada", Name: name})
		}
		f.MustCreate(t, store.NewKey{Workspace: "bob", Name: "a"})
		names := func(workspace string) string {
			keys := must.Get(f.Keys(t.Context(), storetest.Operator, workspace))(t)
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
		_, err := f.Keys(t.Context(), storetest.Operator, "eve")
		storetest.WantError(t, err, "workspace_not_found")
	})
}

func TestEverythingDoneToAKeyIsWrittenDown(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		before := len(f.Audits(t))
		k, first := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		ctx := t.Context()
		_, _, errRevealKey := f.RevealKey(ctx, storetest.Operator, k.ID)
		_, second, errSecond := f.RotateKey(ctx, storetest.Operator, k.ID, time.Hour, "")
		_, errSetKeyExpiry := f.SetKeyExpiry(ctx, storetest.Operator, k.ID, storetest.Timestamp("2027-01-01T00:00:00Z"))
		_, errRevokeKey := f.RevokeKey(ctx, storetest.Operator, k.ID)
		for _, err := range []error{errRevealKey, errSecond, errSetKeyExpiry, errRevokeKey} {
			must.Do(t, err)
		}
		_, _, failed := f.RotateKey(ctx, storetest.Operator, k.ID, 0, "")
		storetest.WantError(t, failed, "key_revoked") // what fails is not written down
		got := f.Audits(t)[before:]
		want := []string{"key.create ada web", "key.reveal ada web", "key.rotate ada web", "key.expire ada web", "key.revoke ada web"}
		if !slices.Equal(got, want) {
			t.Errorf("audit %q, want %q", got, want)
		}
		for _, table := range []string{"audit", "changes"} {
			all := f.Dump(t, table)
			if strings.Contains(all, first) || strings.Contains(all, second) {
				t.Errorf("the table %s holds the value of a key", table)
			}
		}
	})
}

// The value of a key is nowhere in the clear: not in the database, not in what
// lies beside it.
func TestKeyValuesAreNotKeptInTheClear(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		if all := f.Dump(t, "keys"); strings.Contains(all, token) || !strings.Contains(all, "web") {
			t.Errorf("the table of keys: %s", all)
		}
		files := must.Get(filepath.Glob(filepath.Join(f.At.Dir, "*")))(t)
		for _, path := range files {
			if content, err := os.ReadFile(path); err == nil && bytes.Contains(content, []byte(token)) {
				t.Errorf("%s holds the value of a key", path)
			}
		}
	})
}

func TestRotateKey(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, first := f.MustCreate(t, store.NewKey{Workspace: "ada", ExpiresAt: storetest.Timestamp("2027-01-01T00:00:00Z")})
		rotated, second, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, 24*time.Hour, "")
		must.Do(t, err)
		if rotated.ID != k.ID || rotated.Name != k.Name || !rotated.ExpiresAt.Equal(k.ExpiresAt.Time) || rotated.Hint == k.Hint {
			t.Errorf("rotated %+v, was %+v", rotated, k)
		}
		if second == first || rotated.PreviousExpiresAt.String() != "2026-11-02T12:00:00Z" {
			t.Errorf("the value before ends %s", rotated.PreviousExpiresAt)
		}
		_, _, err = f.RotateKey(t.Context(), storetest.Operator, k.ID, -time.Second, "")
		storetest.WantError(t, err, "invalid")
		_, _, err = f.RotateKey(t.Context(), storetest.Operator, 99, 0, "")
		storetest.WantError(t, err, "key_not_found")
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		_, _, err = f.RotateKey(t.Context(), storetest.Operator, k.ID, 0, "")
		storetest.WantError(t, err, "key_revoked")
	})
}

// Another rotation ends an earlier value that still works, and no other one.
func TestEarlierValueOfAKey(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, first := f.MustCreate(t, store.NewKey{Workspace: "ada", ExpiresAt: storetest.Timestamp("2026-11-03T00:00:00Z")})
		want := func(what, hint, ends string) {
			t.Helper()
			e, err := f.EarlierValue(t.Context(), storetest.Operator, k.ID)
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
			_, value, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, overlap, "")
			storetest.WantError(t, err, "")
			return value
		}
		want("never rotated", "", "")
		second := rotate(time.Hour)
		want("within the overlap", rules.Hint(first), "2026-11-01T13:00:00Z")
		if e := f.NewestAudit(t); e.Before != rules.Hint(first) || e.After != rules.Hint(second) || e.Detail != "" {
			t.Errorf("%+v", e)
		}
		rotate(72 * time.Hour)
		if e := f.NewestAudit(t); e.Before != rules.Hint(second) || e.Detail != "ended an earlier value before 2026-11-01T13:00:00Z" {
			t.Errorf("%+v", e)
		}
		_, err := f.Validation.Authenticate(t.Context(), first, storetest.Client)
		storetest.WantError(t, err, "key_unknown")
		want("the key expires before the overlap", rules.Hint(second), "2026-11-03T00:00:00Z")
		rotate(0)
		want("no overlap", "", "")
		rotate(time.Hour)
		f.Clock.Set(storetest.Noon.Add(time.Hour))
		want("after the overlap", "", "")
		rotate(time.Hour)
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
		want("a revoked key", "", "")
		_, err = f.EarlierValue(t.Context(), storetest.Operator, 99)
		storetest.WantError(t, err, "key_not_found")
	})
}

// Two who change a key at once: neither undoes what the other did. On SQLite
// there is one writer.
func TestRevocationIsNotLostToAChangeUnderWay(t *testing.T) {
	t.Parallel()
	place := storetest.TwoShopsStore.New(t, dbtest.Postgres)
	f := storetest.Prepared(t, place)
	impatient := place
	impatient.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := storetest.Prepared(t, impatient)
	k, _ := f.MustCreate(t, store.NewKey{Workspace: "ada"})
	var revoked error
	must.Get(f.ChangeKey(t.Context(), storetest.Operator, k.ID, store.ActionRotateKey, func(tx *storedb.DB, k *store.Key, _ *people.Event) error {
		_, revoked = other.RevokeKey(t.Context(), storetest.Operator, k.ID)
		rules.SetKeyValue(f.Instance.Gate.Box(), k, rules.NewKeyValue(k.Class))
		return tx.UpdateKey(t.Context(), *k)
	}))(t)
	if got := f.KeyNamed(t, "ada", k.Name); revoked == nil && got.RevokedAt.IsZero() {
		t.Error("the key was revoked, and is open again")
	}
	if _, err := other.RevokeKey(t.Context(), storetest.Operator, k.ID); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestOfTwoRotationsOfASeenValueOneIsDone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		k, first := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		errs := make([]error, 4)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { _, _, errs[i] = f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, k.Hint) })
		}
		all.Wait()
		done := 0
		for _, err := range errs {
			if err == nil {
				done++
			} else {
				storetest.WantError(t, err, "key_rotated")
			}
		}
		if done != 1 {
			t.Errorf("%d rotations, want 1: %v", done, errs)
		}
		if _, err := f.Validation.Authenticate(t.Context(), first, storetest.Client); err != nil {
			t.Errorf("the value within its overlap: %v", err)
		}
	})
}
