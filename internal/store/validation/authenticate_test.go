package validation_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/validation"
)

// The truth table of a key's values: which of them it is, and whether the key is
// revoked, whether it has expired, whether the overlap of its rotation is over.
// A value that a second rotation pushed out is unknown whatever else holds.
var keyValues = []struct {
	value                    string
	revoked, expired, passed bool
	want                     string // "" opens
}{
	{"current", false, false, false, ""},
	{"current", false, false, true, ""},
	{"current", false, true, false, "key_expired"},
	{"current", false, true, true, "key_expired"},
	{"current", true, false, false, "key_revoked"},
	{"current", true, false, true, "key_revoked"},
	{"current", true, true, false, "key_revoked"},
	{"current", true, true, true, "key_revoked"},
	{"previous", false, false, false, ""},
	{"previous", false, false, true, "key_expired"},
	{"previous", false, true, false, "key_expired"},
	{"previous", false, true, true, "key_expired"},
	{"previous", true, false, false, "key_revoked"},
	{"previous", true, false, true, "key_revoked"},
	{"previous", true, true, false, "key_revoked"},
	{"previous", true, true, true, "key_revoked"},
	{"earlier", false, false, false, "key_unknown"},
	{"earlier", true, false, false, "key_unknown"},
	{"earlier", false, true, true, "key_unknown"},
}

// makeValues creates a key with three values for a row of the table; the clock
// stands at noon.
func makeValues(t *testing.T, f *storetest.Fixture, class store.Class, revoked, expired, passed bool) map[string]string {
	t.Helper()
	n := store.NewKey{Workspace: "ada", Class: class}
	if class == store.ClassPublishable {
		n.Item = 1
	}
	n.Name = fmt.Sprintf("%s %t %t %t", class, revoked, expired, passed)
	k, earlier := f.MustCreate(t, n)
	_, previous, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Hour, "")
	must.Do(t, err)
	overlap := time.Hour
	if passed {
		overlap = 0
	}
	_, current, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, overlap, "")
	must.Do(t, err)
	if expired {
		must.Get(f.SetKeyExpiry(t.Context(), storetest.Operator, k.ID, countersign.At(storetest.Noon.Add(-time.Second))))(t)
	}
	if revoked {
		must.Get(f.RevokeKey(t.Context(), storetest.Operator, k.ID))(t)
	}
	return map[string]string{"current": current, "previous": previous, "earlier": earlier}
}

func TestAuthenticateTruthTable(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		type question struct{ name, token, want string }
		var questions []question
		for _, class := range []store.Class{store.ClassSecret, store.ClassPublishable} {
			made := map[[3]bool]map[string]string{}
			for _, row := range keyValues {
				conditions := [3]bool{row.revoked, row.expired, row.passed}
				if made[conditions] == nil {
					made[conditions] = makeValues(t, f, class, row.revoked, row.expired, row.passed)
				}
				questions = append(questions, question{
					fmt.Sprintf("%s %s, revoked %t, expired %t, overlap passed %t", class, row.value, row.revoked, row.expired, row.passed),
					made[conditions][row.value], row.want,
				})
			}
		}
		ask := func(path string) {
			for _, q := range questions {
				access, err := f.Validation.Authenticate(t.Context(), q.token, storetest.Client)
				expect.Equalf(t, storetest.CodeOf(err), q.want, "%s: %s: code", path, q.name)
				if (access.Actor != people.Actor{}) != (err == nil) {
					t.Errorf("%s: %s: actor %+v beside the error %v", path, q.name, access.Actor, err)
				}
			}
		}
		ask("from the database")
		f.FillKeyCache(t)
		ask("from memory")
		f.Validation.Watchers()[0].Lost()
		ask("while the feed is lost")
	})
}

func TestKeysThatDoNotOpen(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f.MustImport(t, storetest.Lines(storetest.KeyText("ada", "old", `"key":"4f9c1b7e8d2a4f9c1b7e8d2a4f9c1b7e"`)))
		cases := []struct{ name, key, want string }{
			{"a key of ours opens", token, ""},
			{"an imported key opens", "4f9c1b7e8d2a4f9c1b7e8d2a4f9c1b7e", ""},
			{"an imported key in other letters is unknown", "4F9C1B7E8D2A4F9C1B7E8D2A4F9C1B7E", "key_unknown"},
			{"a key of ours that nobody made is unknown", sample.SecretKey("nobody"), "key_unknown"},
			{"a mistyped key is unknown", token[:len(token)-1] + "!", "key_unknown"},
			{"a foreign key that nobody imported is unknown", "0000000000000000", "key_unknown"},
			{"an empty key is unknown", "", "key_unknown"},
			{"NUL is unknown", "\x00", "key_unknown"},
			{"invalid UTF-8 is unknown", "\xff\xfe", "key_unknown"},
		}
		for _, path := range []string{"database", "memory"} {
			if path == "memory" {
				f.FillKeyCache(t)
			}
			for _, c := range cases {
				_, err := f.Validation.Authenticate(t.Context(), c.key, storetest.Client)
				expect.Equalf(t, storetest.CodeOf(err), c.want, "%s: %s: code", path, c.name)
				if err != nil && storetest.MessageOf(err) != "Invalid request" {
					t.Errorf("%s: %s: message %q", path, c.name, storetest.MessageOf(err))
				}
			}
		}
	})
}

// A mistyped key of ours never reaches the database.
func TestMistypedKeyIsNotLookedUp(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		must.Do(t, f.Validation.Database().Close())
		_, err := f.Validation.Authenticate(t.Context(), token[:len(token)-1]+"!", storetest.Client)
		storetest.WantError(t, err, "key_unknown")
		if _, err := f.Validation.Authenticate(t.Context(), token, storetest.Client); err == nil || storetest.CodeOf(err) == "key_unknown" {
			t.Errorf("with a closed database a good key is %v", err)
		}
	})
}

func TestEndsAreReachedToTheSecond(t *testing.T) {
	cases := []struct {
		name    string
		after   time.Duration
		want    string
		rotated bool
	}{
		{"a key works in the second before its end", 59 * time.Second, "", false},
		{"a key is expired at its end", time.Minute, "key_expired", false},
		{"a key is expired after its end", time.Hour, "key_expired", false},
		{"a replaced value works in the second before its overlap ends", 59 * time.Second, "", true},
		{"a replaced value is expired at the end of the overlap", time.Minute, "key_expired", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				n := store.NewKey{Workspace: "ada"}
				if !c.rotated {
					n.ExpiresAt = countersign.At(storetest.Noon.Add(time.Minute))
				}
				k, token := f.MustCreate(t, n)
				if c.rotated {
					if _, _, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, time.Minute, ""); err != nil {
						t.Fatal(err)
					}
				}
				f.Clock.Set(storetest.Noon.Add(c.after))
				_, err := f.Validation.Authenticate(t.Context(), token, storetest.Client)
				storetest.WantError(t, err, c.want)
				f.FillKeyCache(t)
				_, err = f.Validation.Authenticate(t.Context(), token, storetest.Client)
				storetest.WantError(t, err, c.want)
			})
		})
	}
}

func TestAccessOfAKey(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		switches := store.Switches{Always200: true, RefuseQueryKeys: true, Quota: 77}
		w := must.Get(f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) { w.Switches = switches }))(t)
		secret, secretToken := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "secret"})
		bound, boundToken := f.MustCreate(t, store.NewKey{Workspace: "ada", Name: "bound", Class: store.ClassPublishable, Item: 2})
		for _, path := range []string{"database", "memory"} {
			if path == "memory" {
				f.FillKeyCache(t)
			}
			for token, want := range map[string]validation.Access{
				secretToken: {Actor: people.Actor{Kind: people.KindKey, ID: fmt.Sprint(secret.ID), FrontEnd: people.FrontEndAPI, Addr: storetest.Client, Workspace: w.ID, Secret: true}, Switches: switches, KeyID: secret.ID, Workspace: w.ID},
				boundToken:  {Actor: people.Actor{Kind: people.KindKey, ID: fmt.Sprint(bound.ID), FrontEnd: people.FrontEndAPI, Addr: storetest.Client, Workspace: w.ID, Item: 2}, Switches: switches, KeyID: bound.ID, Workspace: w.ID},
			} {
				if got, err := f.Validation.Authenticate(t.Context(), token, storetest.Client); err != nil || got != want {
					t.Errorf("%s: access %+v, %v; want %+v", path, got, err, want)
				}
			}
		}
	})
}

func TestAuthenticateBeforePrepareSaysNotYet(t *testing.T) {
	s := storetest.Opened(t, store.Options{Options: instance.Options{Dir: t.TempDir()}})
	_, err := s.Validation.Authenticate(t.Context(), "a key", netip.Addr{})
	storetest.WantError(t, err, "unavailable")
	storetest.WantError(t, s.Instance.Ready(t.Context()), "unavailable")
}
