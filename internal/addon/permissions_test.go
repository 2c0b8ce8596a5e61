package addon_test

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/people"
)

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

			"Credentials":      func(a people.Actor) error { _, err := f.Credentials.List(ctx, a); return err },
			"CreateCredential": func(a people.Actor) error { _, _, err := f.Credentials.Create(ctx, a, ""); return err },
			"RevealCredential": func(a people.Actor) error { _, _, err := f.Credentials.Reveal(ctx, a, 1); return err },
			"RotateCredential": func(a people.Actor) error { _, _, err := f.Credentials.Rotate(ctx, a, 1); return err },
			"SetCredentialActive": func(a people.Actor) error {
				_, err := f.Credentials.SetActive(ctx, a, 1, credential.HalfKey, true)
				return err
			},
			"RenameCredential":  func(a people.Actor) error { _, err := f.Credentials.Rename(ctx, a, 1, ""); return err },
			"DeleteCredential":  func(a people.Actor) error { _, err := f.Credentials.Delete(ctx, a, 1); return err },
			"CredentialWarning": func(a people.Actor) error { _, err := f.Credentials.Warning(ctx, a); return err },
			"DismissWarning":    func(a people.Actor) error { _, err := f.Credentials.DismissWarning(ctx, a); return err },
			"Licenses":          func(a people.Actor) error { _, err := f.Licenses.List(ctx, a); return err },
			"License":           func(a people.Actor) error { _, _, err := f.Licenses.Find(ctx, a, 1); return err },
			"MakeLicenses":      func(a people.Actor) error { _, err := f.Licenses.Make(ctx, a, license.Order{}); return err },
			"MoveLicense":       func(a people.Actor) error { _, err := f.Licenses.Move(ctx, a, 1, "a.example", "b.example"); return err },
			"CheckLicense":      func(a people.Actor) error { _, err := f.Licenses.Check(ctx, a, 1); return err },
			"SetStore":          func(a people.Actor) error { return f.Licenses.SetStore(ctx, a, "", "") },
			"Requests":          func(a people.Actor) error { _, err := f.Requests(ctx, a); return err },
			"Plan":              func(a people.Actor) error { _, err := f.Setup.Plan(ctx, a); return err },
			"Update":            func(a people.Actor) error { _, err := f.Setup.Update(ctx, a, nil); return err },
			"NewWebToken":       func(a people.Actor) error { _, _, err := f.Setup.NewWebToken(ctx, a); return err },
			"NewSetupLink":      func(a people.Actor) error { _, _, err := f.Setup.NewLink(ctx, a); return err },
			"SetupLink":         func(a people.Actor) error { _, _, err := f.Setup.Link(ctx, a); return err },
			"Checklist":         func(a people.Actor) error { _, err := f.Setup.Checklist(ctx, a); return err },
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
				expect.Equalf(t, addontest.CodeOf(call(c.actor)) != "not_allowed", c.may, "%s by %s: allowed", name, who)
			}
		}
	})
}
