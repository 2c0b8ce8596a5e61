package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
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
