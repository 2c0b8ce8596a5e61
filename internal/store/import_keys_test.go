package store

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

func TestImportedKeyIsKeptVerbatim(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for _, key := range []string{sample.SecretKey("x"), sample.PublishableKey("x"), "12345678", strings.Repeat("k", 256), "!\\\"'<>&%~", "UPPER-lower-0"} {
			name := "key " + text(len(key)) + key[:4]
			line := keyText("ada", strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(name), `"key":`+mustJSON(t, key))
			f.mustImport(t, lines(line))
			k := f.keyNamed(t, "ada", name)
			if _, shown, err := f.RevealKey(t.Context(), operator, k.ID); err != nil || shown != key {
				t.Errorf("%q: shown %q, %v", key, shown, err)
			}
			if access, err := f.Validation.Authenticate(t.Context(), key, client); err != nil || access.Actor.Item != 0 {
				t.Errorf("%q opens %+v, %v", key, access, err)
			}
			if k.Class != ClassSecret {
				t.Errorf("%q became %s: a line without a class is a secret key", key, k.Class)
			}
		}
	})
}

func TestKeyLineWithoutAValueMakesANewOneOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(keyText("ada", "web"), keyText("ada", "shop", `"class":"publishable"`, `"item_id":1`)))
		for name, prefix := range map[string]string{"web": "csk_", "shop": "csp_"} {
			k := f.keyNamed(t, "ada", name)
			_, token, err := f.RevealKey(t.Context(), operator, k.ID)
			if err != nil || !strings.HasPrefix(token, prefix) {
				t.Fatalf("%s: %q, %v", name, token, err)
			}
			if report := f.mustImport(t, lines(keyText("ada", name))); report.Keys.Same != 1 {
				t.Errorf("%s, again: %+v", name, report.Keys)
			}
			if access, err := f.Validation.Authenticate(t.Context(), token, client); err != nil || access.Actor.Item != k.ItemID {
				t.Errorf("%s, again: opens %+v, %v", name, access, err)
			}
		}
	})
}

func TestPublishableKeyMayStandBeforeItsItem(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("ada"), keyText("ada", "shop", `"class":"publishable"`, `"item_id":7`), itemText("ada", 7)))
		if k := f.keyNamed(t, "ada", "shop"); k.ItemID != 7 {
			t.Errorf("bound to item %d", k.ItemID)
		}
	})
}

func TestImportedKeyWithAnEarlierValue(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(keyText("ada", "web", `"key":"current-key-01"`, `"previous_key":"earlier-key-01"`, `"previous_expires_at":"2026-11-01T13:00:00Z"`)))
		for _, c := range []struct {
			at   time.Time
			want string
		}{{noon, ""}, {noon.Add(time.Hour), "key_expired"}} {
			f.clock.set(c.at)
			_, err := f.Validation.Authenticate(t.Context(), "earlier-key-01", client)
			wantError(t, err, c.want)
			_, err = f.Validation.Authenticate(t.Context(), "current-key-01", client)
			wantError(t, err, "")
		}
	})
}

// What was done to a key since a file was written is not undone by importing the
// file again.
func TestOldFileDoesNotUndoWhatWasDoneToAKey(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		file := lines(keyText("ada", "web", `"key":"first-key-0123"`))
		f.mustImport(t, file)
		k := f.keyNamed(t, "ada", "web")

		_, fresh, err := f.RotateKey(t.Context(), operator, k.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		if report := f.mustImport(t, file); report.Keys.Same != 1 {
			t.Errorf("after a rotation: %+v", report.Keys)
		}
		_, err = f.Validation.Authenticate(t.Context(), fresh, client)
		wantError(t, err, "")
		_, err = f.Validation.Authenticate(t.Context(), "first-key-0123", client)
		wantError(t, err, "key_expired")

		revoked, err := f.RevokeKey(t.Context(), operator, k.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{file, lines(keyText("ada", "web", `"revoked_at":null`)), lines(keyText("ada", "web", `"revoked_at":"2027-01-01T00:00:00Z"`))} {
			if report := f.mustImport(t, line); report.Keys.Same != 1 {
				t.Errorf("after a revocation: %+v", report.Keys)
			}
		}
		_, err = f.Validation.Authenticate(t.Context(), fresh, client)
		wantError(t, err, "key_revoked")
		if got := f.keyNamed(t, "ada", "web"); got.RevokedAt != revoked.RevokedAt {
			t.Errorf("revoked %s, was %s", got.RevokedAt, revoked.RevokedAt)
		}
	})
}

func TestKeyThatIsRevokedInTheFile(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(keyText("ada", "web", `"key":"first-key-0123"`, `"revoked_at":"2026-01-01T00:00:00Z"`)))
		_, err := f.Validation.Authenticate(t.Context(), "first-key-0123", client)
		wantError(t, err, "key_revoked")
	})
}
