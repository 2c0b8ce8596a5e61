package settings_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
)

// addPurchases writes purchases: of ana in two applications, of ben, one that has ended, one of nobody, and a simulated one.
func addPurchases(t *testing.T, f *addontest.Fixture) {
	t.Helper()
	for _, p := range []addondb.Purchase{
		{UserID: "ana", Application: "com.tuneful.old", Access: true}, {UserID: "ana", Application: "com.tuneful.app", Access: true},
		{UserID: "ben", Application: "com.tuneful.app", Access: true}, {UserID: "eva", Application: "com.tuneful.app"},
		{Application: "com.tuneful.app", Access: true}, {UserID: "tom", Application: "com.tuneful.app", Access: true, Environment: "simulated"},
	} {
		if p.Environment == "" {
			p.Environment = "production"
		}
		addontest.AddPurchase(t, f.At, p)
	}
}

// concern returns the text of a warning, "" for none.
func concern(list []settings.Problem, code string) string {
	for _, p := range list {
		if p.Code == code {
			return p.Text[:len("2 members")]
		}
	}
	return ""
}

func TestADraftAndItsPublicationSayHowManyMembersTheyConcern(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		f.MustSet(t, map[string]string{iap.KeyPackageName: "com.tuneful.app"})
		f.MustPublish(t, "")
		addPurchases(t, f)
		for _, tt := range []struct {
			key, value, code, want string
		}{
			{iap.KeyPackageName, "com.tuneful.next", "application_changed", "2 members"},
			{iap.KeyPackageName, "com.tuneful.app", "application_changed", "1 member "},
			{iap.KeySandboxEnabled, "1", "test_mode_members", "2 members"},
			{settings.KeyAppName, "Tuneful", "test_mode_members", ""},
			{iap.KeySandboxEnabled, "0", "test_mode_ends", "1 member "},
		} {
			draft := f.MustSet(t, map[string]string{tt.key: tt.value})
			if got := concern(draft.Problems, tt.code); got != tt.want || concern(f.Draft(t).Problems, tt.code) != tt.want {
				t.Errorf("the draft with %s %s: %q, want %q", tt.key, tt.value, got, tt.want)
			}
			expect.Equalf(t, concern(f.MustPublish(t, "").Warnings, tt.code), tt.want, "%s %s", tt.key, tt.value)
		}
		version, err := f.Settings.Version(t.Context(), operator, 5) // in test mode
		if err != nil || concern(version.Concerns, "test_mode_members") != "2 members" {
			t.Errorf("%+v, %v", version.Concerns, err)
		}
	})
}
