package transfer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestImportedKeyIsKeptVerbatim(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for _, key := range []string{sample.SecretKey("x"), sample.PublishableKey("x"), "12345678", strings.Repeat("k", 256), "!\\\"'<>&%~", "UPPER-lower-0"} {
			name := "key " + storetest.Text(len(key)) + key[:4]
			line := storetest.KeyText("ada", strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(name), `"key":`+storetest.MustJSON(t, key))
			f.MustImport(t, storetest.Lines(line))
			k := f.KeyNamed(t, "ada", name)
			if _, shown, err := f.RevealKey(t.Context(), storetest.Operator, k.ID); err != nil || shown != key {
				t.Errorf("%q: shown %q, %v", key, shown, err)
			}
			if access, err := f.Validation.Authenticate(t.Context(), key, storetest.Client); err != nil || access.Actor.Item != 0 {
				t.Errorf("%q opens %+v, %v", key, access, err)
			}
			expect.Equalf(t, k.Class, store.ClassSecret, "%q became: a line without a class is a secret key", key)
		}
	})
}

func TestKeyLineWithoutAValueMakesANewOneOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.KeyText("ada", "web"), storetest.KeyText("ada", "shop", `"class":"publishable"`, `"item_id":1`)))
		for name, prefix := range map[string]string{"web": "csk_", "shop": "csp_"} {
			k := f.KeyNamed(t, "ada", name)
			_, token, err := f.RevealKey(t.Context(), storetest.Operator, k.ID)
			if err != nil || !strings.HasPrefix(token, prefix) {
				t.Fatalf("%s: %q, %v", name, token, err)
			}
			if report := f.MustImport(t, storetest.Lines(storetest.KeyText("ada", name))); report.Keys.Same != 1 {
				t.Errorf("%s, again: %+v", name, report.Keys)
			}
			if access, err := f.Validation.Authenticate(t.Context(), token, storetest.Client); err != nil || access.Actor.Item != k.ItemID {
				t.Errorf("%s, again: opens %+v, %v", name, access, err)
			}
		}
	})
}

func TestPublishableKeyMayStandBeforeItsItem(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("ada"), storetest.KeyText("ada", "shop", `"class":"publishable"`, `"item_id":7`), storetest.ItemText("ada", 7)))
		if k := f.KeyNamed(t, "ada", "shop"); k.ItemID != 7 {
			t.Errorf("bound to item %d", k.ItemID)
		}
	})
}

func TestImportedKeyWithAnEarlierValue(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.KeyText("ada", "web", `"key":"current-key-01"`, `"previous_key":"earlier-key-01"`, `"previous_expires_at":"2026-11-01T13:00:00Z"`)))
		for _, c := range []struct {
			at   time.Time
			want string
		}{{storetest.Noon, ""}, {storetest.Noon.Add(time.Hour), "key_expired"}} {
			f.Clock.Set(c.at)
			_, err := f.Validation.Authenticate(t.Context(), "earlier-key-01", storetest.Client)
			storetest.WantError(t, err, c.want)
			_, err = f.Validation.Authenticate(t.Context(), "current-key-01", storetest.Client)
			storetest.WantError(t, err, "")
		}
	})
}

// What was done to a key since a file was written is not undone by importing the
// file again.
func TestOldFileDoesNotUndoWhatWasDoneToAKey(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		file := storetest.Lines(storetest.KeyText("ada", "web", `"key":"first-key-0123"`))
		f.MustImport(t, file)
		k := f.KeyNamed(t, "ada", "web")

		_, fresh, err := f.RotateKey(t.Context(), storetest.Operator, k.ID, 0, "")
		must.Do(t, err)
		if report := f.MustImport(t, file); report.Keys.Same != 1 {
			t.Errorf("after a rotation: %+v", report.Keys)
		}
		_, err = f.Validation.Authenticate(t.Context(), fresh, storetest.Client)
		storetest.WantError(t, err, "")
		_, err = f.Validation.Authenticate(t.Context(), "first-key-0123", storetest.Client)
		storetest.WantError(t, err, "key_expired")

		revoked, err := f.RevokeKey(t.Context(), storetest.Operator, k.ID)
		must.Do(t, err)
		for _, line := range []string{file, storetest.Lines(storetest.KeyText("ada", "web", `"revoked_at":null`)), storetest.Lines(storetest.KeyText("ada", "web", `"revoked_at":"2027-01-01T00:00:00Z"`))} {
			if report := f.MustImport(t, line); report.Keys.Same != 1 {
				t.Errorf("after a revocation: %+v", report.Keys)
			}
		}
		_, err = f.Validation.Authenticate(t.Context(), fresh, storetest.Client)
		storetest.WantError(t, err, "key_revoked")
		if got := f.KeyNamed(t, "ada", "web"); got.RevokedAt != revoked.RevokedAt {
			t.Errorf("revoked %s, was %s", got.RevokedAt, revoked.RevokedAt)
		}
	})
}

func TestKeyThatIsRevokedInTheFile(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.KeyText("ada", "web", `"key":"first-key-0123"`, `"revoked_at":"2026-01-01T00:00:00Z"`)))
		_, err := f.Validation.Authenticate(t.Context(), "first-key-0123", storetest.Client)
		storetest.WantError(t, err, "key_revoked")
	})
}

// Who revokes a key while an import changes it: neither undoes what the other did. On
// SQLite there is one writer.
func TestRevocationIsNotLostToAnImportUnderWay(t *testing.T) {
	t.Parallel()
	at := storetest.TwoShopsStore.New(t, dbtest.Postgres)
	s := storetest.Prepared(t, at)
	at.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := storetest.Prepared(t, at)
	k, _ := s.MustCreate(t, store.NewKey{Workspace: "ada"})
	var revoked error
	end := countersign.At(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	must.Do(t, s.Transfer.ImportKey(t.Context(), "ada", "web", end, func() { _, revoked = other.RevokeKey(t.Context(), storetest.Operator, k.ID) }))
	keys, err := s.Keys(t.Context(), storetest.Operator, "ada")
	if err != nil || len(keys) != 1 {
		t.Fatalf("%d keys, %v", len(keys), err)
	}
	if revoked == nil && keys[0].RevokedAt.IsZero() {
		t.Error("the key was revoked, and is open again")
	}
	if _, err := other.RevokeKey(t.Context(), storetest.Operator, k.ID); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
