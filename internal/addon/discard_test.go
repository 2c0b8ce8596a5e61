package addon

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
)

func (f *fixture) mustAddKey(t testing.TB, key, value string) {
	t.Helper()
	if _, err := f.Settings.AddKey(t.Context(), operator, settings.Edit{}, key, settings.TypeText, value); err != nil {
		t.Fatal(err)
	}
}

func TestOneChangeOfTheDraftIsDiscarded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustSet(t, map[string]string{settings.KeyAppName: "Tuneful", iap.KeyPackageName: "com.example.app"})
		start := len(f.audits(t))
		now, gone, err := f.Settings.Discard(t.Context(), user, settings.Edit{Revision: f.settings(t).Revision}, iap.KeyPackageName)
		if err != nil || len(gone) != 1 || gone[0].Key != iap.KeyPackageName || gone[0].After != "com.example.app" {
			t.Fatalf("discarded %+v, %v", gone, err)
		}
		if len(now.Changes) != 1 || f.value(t, settings.KeyAppName) != "Tuneful" || f.value(t, iap.KeyPackageName) != "" {
			t.Errorf("changes %+v", now.Changes)
		}
		want := []string{"ana@site.example settings.discard iapStorePackageName [page]: com.example.app -> "}
		if got := f.audits(t)[start:]; !slices.Equal(got, want) {
			t.Errorf("audit log %q, want %q", got, want)
		}
	})
}

func TestTheWholeDraftIsDiscarded(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustAddKey(t, "theme", "dark")
		published := f.mustPublish(t, "").Version.Number
		f.mustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		f.mustAddKey(t, "draftOnly", "x")
		if _, err := f.Settings.RemoveKey(t.Context(), operator, settings.Edit{}, "theme", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Settings.SetServiceAccount(t.Context(), operator, 0, accountFile(nil)); err != nil {
			t.Fatal(err)
		}
		now, gone, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, "")
		if err != nil || len(gone) != 4 || len(now.Changes) != 0 {
			t.Errorf("discarded %+v, left %+v, %v", gone, now.Changes, err)
		}
		if _, there := now.Get("draftOnly"); there || f.value(t, "theme") != "dark" || now.Published.Number != published {
			t.Errorf("the draft is not what is published: %+v", now.List)
		}
	})
}

func TestDiscardOfNothingWritesNothing(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		before, log := f.settings(t).Revision, f.audits(t)
		for _, key := range []string{"", settings.KeyAppName} {
			now, gone, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, key)
			if err != nil || len(gone) != 0 || now.Revision != before || len(f.audits(t)) != len(log) {
				t.Errorf("%q: discarded %+v at revision %d, %v", key, gone, now.Revision, err)
			}
		}
	})
}

func TestDiscardsThatAreRefused(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustAddKey(t, "theme", "dark")
		f.mustPublish(t, "")
		if _, err := f.Settings.RemoveKey(t.Context(), operator, settings.Edit{}, "theme", nil); err != nil {
			t.Fatal(err)
		}
		f.mustAddKey(t, "Theme", "light")
		seen := f.settings(t).Revision
		_, _, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, "theme")
		wantError(t, err, "setting_name_taken")
		_, _, err = f.Settings.Discard(t.Context(), operator, settings.Edit{}, "nothing")
		wantError(t, err, "setting_not_found")
		_, _, err = f.Settings.Discard(t.Context(), operator, settings.Edit{Revision: seen - 1}, "")
		wantError(t, err, "settings_changed")
		if e := new(countersign.Error); !asError(err, &e) || e.Kind != countersign.KindPrecondition {
			t.Errorf("error %v", err)
		}
		if got := f.audits(t); f.settings(t).Revision != seen || strings.Contains(strings.Join(got, "\n"), "settings.discard") {
			t.Errorf("something was written: %q", got)
		}
		if now, _, err := f.Settings.Discard(t.Context(), operator, settings.Edit{Revision: seen}, ""); err != nil || len(now.Changes) != 0 {
			t.Errorf("both together: %+v, %v", now.Changes, err)
		}
	})
}
