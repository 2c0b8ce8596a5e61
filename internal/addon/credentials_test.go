package addon_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/token"
)

func TestPairIsMadeShownAndRotated(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.CreateCredential(ctx, operator, " App server ")
		if err != nil {
			t.Fatal(err)
		}
		if c.Label != "App server" || !c.Active() || !token.Valid("cak_", pair.Key) || !token.Valid("cas_", pair.Secret) {
			t.Errorf("%+v", c)
		}
		if c.Key != token.Hint(pair.Key) || c.Secret != token.Hint(pair.Secret) || fmt.Sprintf("%v|%+v|%s", pair, pair, pair) != strings.Repeat("|(API key and secret)", 3)[1:] {
			t.Errorf("a list shows %q and %q, a text %v", c.Key, c.Secret, pair)
		}
		_, shown, err := f.RevealCredential(ctx, user, c.ID)
		if err != nil || shown != pair {
			t.Errorf("revealed another pair: %v", err)
		}
		_, rotated, err := f.RotateCredential(ctx, operator, c.ID)
		if err != nil || rotated.Key == pair.Key || rotated.Secret == pair.Secret {
			t.Errorf("not rotated: %v", err)
		}
		_, err = f.Basic(ctx, client, pair.Key, pair.Secret)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Basic(ctx, client, rotated.Key, rotated.Secret)
		addontest.WantError(t, err, "")
		_, _, err = f.CreateCredential(ctx, operator, "App server")
		addontest.WantError(t, err, "label_exists")
		for _, label := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
			_, _, err = f.CreateCredential(ctx, operator, label)
			addontest.WantFields(t, err, "label")
		}
		lines := strings.Join(f.Audits(t), "\n")
		for _, want := range []string{
			"tester credential.create 2 App server [cli]:  -> key active, secret active",
			"ana@site.example credential.reveal 2 App server [page]:  -> ",
			"tester credential.rotate 2 App server [cli]: " + c.Key + " -> " + token.Hint(rotated.Key),
		} {
			if !strings.Contains(lines, want) {
				t.Errorf("no line %q in\n%s", want, lines)
			}
		}
		for _, secret := range []string{pair.Key, pair.Secret, rotated.Key, rotated.Secret} {
			if strings.Contains(f.Everything(t), secret) || strings.Contains(f.Log.String(), secret) {
				t.Error("a value is written in clear")
			}
		}
	})
}

func TestMissingPairs(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, err1 := f.Credential(ctx, operator, 9)
		_, _, err2 := f.RevealCredential(ctx, operator, 9)
		_, _, err3 := f.RotateCredential(ctx, operator, 9)
		_, err4 := f.SetCredentialActive(ctx, operator, 9, addon.HalfBoth, true)
		_, err5 := f.RenameCredential(ctx, operator, 9, "x")
		_, err6 := f.DeleteCredential(ctx, operator, 9)
		for _, err := range []error{err1, err2, err3, err4, err5, err6} {
			addontest.WantError(t, err, "credential_not_found")
		}
		_, err := f.SetCredentialActive(ctx, operator, 1, "neither", true)
		addontest.WantFields(t, err, "half")
	})
}

// Every combination of the two switches; a call needs both.
func TestCallsNeedBothHalves(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.CreateCredential(ctx, operator, "App server")
		if err != nil {
			t.Fatal(err)
		}
		for i, halves := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}} {
			if _, err := f.SetCredentialActive(ctx, operator, c.ID, addon.HalfKey, halves[0]); err != nil {
				t.Fatal(err)
			}
			got, err := f.SetCredentialActive(ctx, operator, c.ID, addon.HalfSecret, halves[1])
			if err != nil || got.KeyActive != halves[0] || got.SecretActive != halves[1] {
				t.Fatalf("%+v, %v", got, err)
			}
			want := "credential_inactive"
			if i == 0 {
				want = ""
			}
			_, err = f.Basic(ctx, client, pair.Key, pair.Secret)
			addontest.WantError(t, err, want)
			_, err = f.Signed(ctx, client, signed(f, pair, "nonce-000"+strconv.Itoa(i)))
			addontest.WantError(t, err, want)
			// Who can't prove the secret does not learn of the switches.
			_, err = f.Basic(ctx, client, pair.Key, "cas_wrong")
			addontest.WantError(t, err, "credential_unknown")
		}
		if got, err := f.SetCredentialActive(ctx, operator, c.ID, addon.HalfBoth, true); err != nil || !got.Active() {
			t.Errorf("%+v, %v", got, err)
		}
		lines := f.Audits(t)
		if want := "tester credential.activate 2 App server [cli]: key inactive, secret inactive -> key active, secret active"; lines[len(lines)-1] != want {
			t.Errorf("audit %q, want %q", lines[len(lines)-1], want)
		}
	})
}

func TestCredentialsAreRenamed(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, pair, err := f.CreateCredential(ctx, operator, "App server")
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.RenameCredential(ctx, user, 2, " Shop server ")
		if err != nil || got.Label != "Shop server" {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := f.Basic(ctx, client, pair.Key, pair.Secret); err != nil {
			t.Errorf("renamed credentials do not work: %v", err)
		}
		log := f.Audits(t)
		if want := "ana@site.example credential.rename 2 Shop server [page]: App server -> Shop server"; log[len(log)-1] != want {
			t.Errorf("audit %q, want %q", log[len(log)-1], want)
		}
		if _, err := f.RenameCredential(ctx, user, 2, "Shop server"); err != nil || len(f.Audits(t)) != len(log) {
			t.Errorf("the same label is a change: %v", err)
		}
		_, err = f.RenameCredential(ctx, user, 2, "First pair")
		addontest.WantError(t, err, "label_exists")
		for _, label := range []string{"", " ", "a\nb", strings.Repeat("x", 101)} {
			_, err = f.RenameCredential(ctx, user, 2, label)
			addontest.WantFields(t, err, "label")
		}
	})
}

func TestOnlyDeactivatedCredentialsAreDeleted(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		c, pair, err := f.CreateCredential(ctx, operator, "App server")
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range []addon.Half{addon.HalfKey, addon.HalfSecret} {
			_, err = f.DeleteCredential(ctx, operator, c.ID)
			addontest.WantError(t, err, "credential_active")
			mustSwitch(t, f, c.ID, half, false)
		}
		if _, err = f.Basic(ctx, client, pair.Key, pair.Secret); addontest.CodeOf(err) != "credential_inactive" {
			t.Errorf("error %v", err)
		}
		gone, err := f.DeleteCredential(ctx, user, c.ID)
		if err != nil || gone.Label != "App server" {
			t.Errorf("%+v, %v", gone, err)
		}
		_, err = f.Basic(ctx, client, pair.Key, pair.Secret)
		addontest.WantError(t, err, "credential_unknown")
		_, err = f.Credential(ctx, operator, c.ID)
		addontest.WantError(t, err, "credential_not_found")
		log := f.Audits(t)
		if want := "ana@site.example credential.delete 2 App server [page]: " + c.Key + " -> "; log[len(log)-1] != want {
			t.Errorf("audit %q, want %q", log[len(log)-1], want)
		}
		f.WriteUses(ctx)
		if again, _, err := f.CreateCredential(ctx, operator, "App server"); err != nil || again.ID == c.ID {
			t.Errorf("the label is not free, or the id is used again: %+v, %v", again, err)
		}
	})
}

func TestLastUseIsWrittenInBatches(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		_, pair, err := f.RevealCredential(ctx, operator, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if _, err := f.Basic(ctx, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), pair.Key, pair.Secret); err != nil {
				t.Fatal(err)
			}
		}
		_, _ = f.Basic(ctx, client, pair.Key, "wrong")
		if c, err := f.Credential(ctx, operator, 1); err != nil || c.UsedCount != 0 || !c.LastUsedAt.IsZero() {
			t.Errorf("written at once: %+v, %v", c, err)
		}
		f.WriteUses(ctx)
		if c, err := f.Credential(ctx, operator, 1); err != nil || c.UsedCount != 3 || !c.LastUsedAt.Equal(noon) || c.LastUsedFrom != "192.0.2.2" {
			t.Errorf("%+v, %v", c, err)
		}
	})
}

func TestWhoMay(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		calls := map[string]func(a people.Actor) error{
			"Settings":    func(a people.Actor) error { _, err := f.Settings.Draft(ctx, a); return err },
			"SetSettings": func(a people.Actor) error { _, err := f.Settings.Set(ctx, a, settings.Edit{}, nil); return err },
			"AddKey": func(a people.Actor) error {
				_, err := f.Settings.AddKey(ctx, a, settings.Edit{Revision: 1 << 40}, "k", settings.TypeText, "")
				return err
			},
			"RemoveKey": func(a people.Actor) error {
				_, err := f.Settings.RemoveKey(ctx, a, settings.Edit{Revision: 1 << 40}, "k", nil)
				return err
			},
			"Discard": func(a people.Actor) error {
				_, _, err := f.Settings.Discard(ctx, a, settings.Edit{Revision: 1 << 40}, "")
				return err
			},
			"Publish":     func(a people.Actor) error { _, err := f.Settings.Publish(ctx, a, 0, ""); return err },
			"Versions":    func(a people.Actor) error { _, err := f.Settings.Versions(ctx, a, 0, 0); return err },
			"Version":     func(a people.Actor) error { _, err := f.Settings.Version(ctx, a, 1); return err },
			"Rollback":    func(a people.Actor) error { _, err := f.Settings.Rollback(ctx, a, 1, ""); return err },
			"Preview":     func(a people.Actor) error { _, err := f.Settings.Preview(ctx, a); return err },
			"Packages":    func(a people.Actor) error { _, err := f.IAP.Packages(ctx, a); return err },
			"PackageUses": func(a people.Actor) error { _, err := f.IAP.PackageUses(ctx, a); return err },
			"Products":    func(a people.Actor) error { _, err := f.IAP.Products(ctx, a); return err },
			"DeclineIAP":  func(a people.Actor) error { return f.IAP.Decline(ctx, a, false) },

			"Credentials":      func(a people.Actor) error { _, err := f.Credentials(ctx, a); return err },
			"CreateCredential": func(a people.Actor) error { _, _, err := f.CreateCredential(ctx, a, ""); return err },
			"RevealCredential": func(a people.Actor) error { _, _, err := f.RevealCredential(ctx, a, 1); return err },
			"RotateCredential": func(a people.Actor) error { _, _, err := f.RotateCredential(ctx, a, 1); return err },
			"SetCredentialActive": func(a people.Actor) error {
				_, err := f.SetCredentialActive(ctx, a, 1, addon.HalfKey, true)
				return err
			},
			"RenameCredential":  func(a people.Actor) error { _, err := f.RenameCredential(ctx, a, 1, ""); return err },
			"DeleteCredential":  func(a people.Actor) error { _, err := f.DeleteCredential(ctx, a, 1); return err },
			"CredentialWarning": func(a people.Actor) error { _, err := f.CredentialWarning(ctx, a); return err },
			"DismissWarning":    func(a people.Actor) error { _, err := f.DismissCredentialWarning(ctx, a); return err },
			"Licenses":          func(a people.Actor) error { _, err := f.Licenses(ctx, a); return err },
			"License":           func(a people.Actor) error { _, _, err := f.License(ctx, a, 1); return err },
			"MakeLicenses":      func(a people.Actor) error { _, err := f.MakeLicenses(ctx, a, addon.LicenseOrder{}); return err },
			"MoveLicense":       func(a people.Actor) error { _, err := f.MoveLicense(ctx, a, 1, "a.example", "b.example"); return err },
			"CheckLicense":      func(a people.Actor) error { _, err := f.CheckLicense(ctx, a, 1); return err },
			"SetStore":          func(a people.Actor) error { return f.SetStore(ctx, a, "", "") },
			"Requests":          func(a people.Actor) error { _, err := f.Requests(ctx, a); return err },
			"Plan":              func(a people.Actor) error { _, err := f.Plan(ctx, a); return err },
			"Update":            func(a people.Actor) error { _, err := f.Update(ctx, a, nil); return err },
			"NewWebToken":       func(a people.Actor) error { _, _, err := f.NewWebToken(ctx, a); return err },
			"NewSetupLink":      func(a people.Actor) error { _, _, err := f.NewSetupLink(ctx, a); return err },
			"SetupLink":         func(a people.Actor) error { _, _, err := f.SetupLink(ctx, a); return err },
			"Checklist":         func(a people.Actor) error { _, err := f.Checklist(ctx, a); return err },
		}
		forPrograms := []string{
			"Settings", "SetSettings", "AddKey", "RemoveKey", "Discard", "Publish", "Versions", "Version", "Rollback", "Preview",
			"Packages", "PackageUses", "Products", "DeclineIAP",
		}
		publishable := program
		publishable.Secret = false
		for name, call := range calls {
			for who, c := range map[string]struct {
				actor people.Actor
				may   bool
			}{
				"the operator":                        {operator, true},
				"a user":                              {user, !slices.Contains([]string{"NewWebToken", "NewSetupLink", "SetupLink"}, name)},
				"a program with the site's pair":      {program, slices.Contains(forPrograms, name)},
				"a program with something less":       {publishable, false},
				"nobody":                              {people.Actor{}, false},
				"a sort of actor that does not exist": {people.Actor{Kind: "root"}, false},
			} {
				if got := addontest.CodeOf(call(c.actor)) != "not_allowed"; got != c.may {
					t.Errorf("%s by %s: allowed is %t", name, who, got)
				}
			}
		}
	})
}
