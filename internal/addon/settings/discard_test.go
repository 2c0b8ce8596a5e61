package settings_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/must"
)

func mustAddKey(t testing.TB, f *addontest.Fixture, key, value string) {
	t.Helper()
	must.Get(f.Settings.AddKey(t.Context(), operator, settings.Edit{}, key, settings.TypeText, value))(t)
}

func TestOneChangeOfTheDraftIsDiscarded(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful", iap.KeyPackageName: "com.example.app"})
		start := len(f.Audits(t))
		now, gone, err := f.Settings.Discard(t.Context(), user, settings.Edit{Revision: f.Draft(t).Revision}, iap.KeyPackageName)
		if err != nil || len(gone) != 1 || gone[0].Key != iap.KeyPackageName || gone[0].After != "com.example.app" {
			t.Fatalf("discarded %+v, %v", gone, err)
		}
		if len(now.Changes) != 1 || f.Value(t, settings.KeyAppName) != "Tuneful" || f.Value(t, iap.KeyPackageName) != "" {
			t.Errorf("changes %+v", now.Changes)
		}
		want := []string{"ana@site.example settings.discard iapStorePackageName [page]: com.example.app -> "}
		if got := f.Audits(t)[start:]; !slices.Equal(got, want) {
			t.Errorf("audit log %q, want %q", got, want)
		}
	})
}

func TestTheWholeDraftIsDiscarded(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		mustAddKey(t, f, "theme", "dark")
		published := f.MustPublish(t, "").Version.Number
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		mustAddKey(t, f, "draftOnly", "x")
		must.Get(f.Settings.RemoveKey(t.Context(), operator, settings.Edit{}, "theme", nil))(t)
		must.Get(f.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)))(t)
		now, gone, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, "")
		if err != nil || len(gone) != 4 || len(now.Changes) != 0 {
			t.Errorf("discarded %+v, left %+v, %v", gone, now.Changes, err)
		}
		if _, there := now.Get("draftOnly"); there || f.Value(t, "theme") != "dark" || now.Published.Number != published {
			t.Errorf("the draft is not what is published: %+v", now.List)
		}
	})
}

func TestDiscardOfNothingWritesNothing(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		before, log := f.Draft(t).Revision, f.Audits(t)
		for _, key := range []string{"", settings.KeyAppName} {
			now, gone, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, key)
			if err != nil || len(gone) != 0 || now.Revision != before || len(f.Audits(t)) != len(log) {
				t.Errorf("%q: discarded %+v at revision %d, %v", key, gone, now.Revision, err)
			}
		}
	})
}

func TestDiscardsThatAreRefused(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		mustAddKey(t, f, "theme", "dark")
		f.MustPublish(t, "")
		must.Get(f.Settings.RemoveKey(t.Context(), operator, settings.Edit{}, "theme", nil))(t)
		mustAddKey(t, f, "Theme", "light")
		seen := f.Draft(t).Revision
		_, _, err := f.Settings.Discard(t.Context(), operator, settings.Edit{}, "theme")
		addontest.WantError(t, err, "setting_name_taken")
		_, _, err = f.Settings.Discard(t.Context(), operator, settings.Edit{}, "nothing")
		addontest.WantError(t, err, "setting_not_found")
		_, _, err = f.Settings.Discard(t.Context(), operator, settings.Edit{Revision: seen - 1}, "")
		addontest.WantError(t, err, "settings_changed")
		if e := new(countersign.Error); !errors.As(err, &e) || e.Kind != countersign.KindPrecondition {
			t.Errorf("error %v", err)
		}
		if got := f.Audits(t); f.Draft(t).Revision != seen || strings.Contains(strings.Join(got, "\n"), "settings.discard") {
			t.Errorf("something was written: %q", got)
		}
		if now, _, err := f.Settings.Discard(t.Context(), operator, settings.Edit{Revision: seen}, ""); err != nil || len(now.Changes) != 0 {
			t.Errorf("both together: %+v, %v", now.Changes, err)
		}
	})
}
