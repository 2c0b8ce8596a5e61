package pages_test

import (
	"net/http"
	"testing"
)

// TestAFormSaysAllThatIsWrongAtOnce posts forms with several wrong fields. Each is told beside its field, and what was
// typed stays, except for secrets.
func TestAFormSaysAllThatIsWrongAtOnce(t *testing.T) {
	const secret = "not the password"
	s := one(t)
	s.mustPackage(t, 1, "Silver", true)
	b := s.signedIn(t)
	customer := "/api-addons/admin/customers/7/grant"
	for _, f := range []struct {
		page, path string
		typed      []string
		wrong      map[string]string
		kept       []string
	}{
		{packagesPath + "/new", packagesPath, []string{"id", "x", "name", "a\x07b", "rank", "-1"},
			map[string]string{"id": "whole number", "name": "control characters", "rank": "from 0 to"}, []string{"id", "rank"}},
		{packagesPath + "/new", packagesPath, []string{"id", "0", "name", "", "rank", "high"},
			map[string]string{"id": "from 1 to", "name": "Type the name", "rank": "whole number"}, []string{"rank"}},
		{apisPath + "/new", apisPath, []string{"label", "a\x07b", "password", secret},
			map[string]string{"label": "control characters", "password": "Wrong password"}, nil},
		{hooksPath + "/new", hooksPath, []string{"url", "ftp://site.example", "password", secret},
			map[string]string{"url": "Invalid address", "password": "Wrong password"}, []string{"url"}},
		{"/api-addons/admin/license/store", "/api-addons/admin/license/store", []string{"store", "ftp://store.example", "password", secret},
			map[string]string{"store": "Invalid address", "password": "Wrong password"}, []string{"store"}},
		{"/api-addons/admin/license", "/api-addons/admin/license", []string{"store", "", "code", "", "domain", "shop/x y", "tests", "shop.example"},
			map[string]string{"store": "Type the address", "code": "Paste the purchase code", "domain": "", "tests": "not a test domain"}, []string{"domain", "tests"}},
		{customer, customer, []string{"package", "", "until", "2020-01-01", "reason", ""},
			map[string]string{"package": "Choose a package", "until": "future", "reason": "Type a reason"}, []string{"until"}},
		{"/api-addons/admin/app/settings", "/api-addons/admin/app/settings", []string{"messengerUrlScheme", "my app://", "newKey", "1 key", "newType", "number", "newValue", "much"},
			map[string]string{"messengerUrlScheme": "", "newKey": "begins with a letter", "newValue": ""}, []string{"messengerUrlScheme", "newKey", "newValue"}},
		{"/api-addons/admin/iap/settings", "/api-addons/admin/iap/settings", []string{"iapStorePackageName", "not a name", "product.0", "gold", "package.0", ""},
			map[string]string{"iapStorePackageName": "", "package.0": "Choose the package"}, []string{"iapStorePackageName", "product.0"}},
	} {
		p := b.Fill(f.page, f.path, f.typed...).Status(http.StatusUnprocessableEntity).SilentAbout(secret)
		for name, text := range f.wrong {
			p.Wrong(name, text)
		}
		for _, name := range f.kept {
			for i := 0; i < len(f.typed); i += 2 {
				if f.typed[i] == name && p.Value(name) != f.typed[i+1] {
					t.Errorf("%s: %s is %q, typed was %q", p.Name, name, p.Value(name), f.typed[i+1])
				}
			}
		}
	}
}
