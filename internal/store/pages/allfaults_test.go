package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
)

// TestAFormSaysAllThatIsWrongAtOnce posts forms with several wrong fields. Each is told beside its field, and what was
// typed stays, except for secrets.
func TestAFormSaysAllThatIsWrongAtOnce(t *testing.T) {
	const secret = "not the password"
	teams(t, func(t *testing.T, s team) {
		path, _ := s.sell(t, store.Purchase{ItemID: 101, SoldAt: countersign.At(today)})
		forms := []struct {
			as, page, path string
			typed          []string
			status         int
			wrong          map[string]string
			kept           []string
		}{
			{"administrator", "/workspaces/new", "/w", []string{"username", "a b", "email", "nobody", "currency", "eur"}, http.StatusUnprocessableEntity,
				map[string]string{"username": "begin with a letter", "email": "not an e-mail", "currency": "capital letters"}, []string{"username", "email", "currency"}},
			{"administrator", "/workspaces/new", "/w", []string{"username", "", "email", "nobody", "currency", "eur"}, http.StatusUnprocessableEntity,
				map[string]string{"username": "Choose a username", "email": "not an e-mail", "currency": "capital letters"}, []string{"email"}},
			{"owner", "/w/ada/settings/general", "/w/ada/settings/general", []string{"email", "nobody", "currency", "eur"}, http.StatusUnprocessableEntity,
				map[string]string{"email": "not an e-mail", "currency": "capital letters"}, []string{"email", "currency"}},
			{"owner", "/w/ada/settings/profile", "/w/ada/settings/profile", []string{"profile.contact.email", "nobody", "profile.media.cover", "cover.png", "link.0.name", "fediverse", "link.0.address", "nowhere"}, http.StatusUnprocessableEntity,
				map[string]string{"profile.contact.email": "not an e-mail", "profile.media.cover": "web address", "link.0.address": "web address"}, []string{"profile.contact.email", "link.0.address"}},
			{"manager", "/w/ada/items/new", "/w/ada/items/new", []string{"id", "x", "name", "", "version", "one", "price.regular", "much", "currency", "eur", "media.thumbnail", "thumb.png", "demo_link", "demo"}, http.StatusUnprocessableEntity,
				map[string]string{"id": "whole number", "name": "missing", "version": "1.2.3", "price.regular": "49.00", "currency": "capital letters", "media.thumbnail": "web address", "demo_link": "web address"}, []string{"id", "version", "price.regular", "currency"}},
			{"manager", "/w/ada/items/101/edit", "/w/ada/items/101/edit", []string{"name", "", "version", "one", "price.extended", "much", "published_at", "soon"}, http.StatusUnprocessableEntity,
				map[string]string{"name": "missing", "version": "1.2.3", "price.extended": "49.00", "published_at": ""}, []string{"version", "published_at"}},
			{"manager", "/w/ada/items/101/licensing", "/w/ada/items/101/licensing", []string{"licensing.regular_domains", "two", "licensing.moves_a_year", "-1", "licensing.move_wait_hours", ""}, http.StatusUnprocessableEntity,
				map[string]string{"licensing.regular_domains": "whole number", "licensing.moves_a_year": "from 0 to", "licensing.move_wait_hours": "whole number"}, []string{"licensing.regular_domains", "licensing.moves_a_year"}},
			{"manager", path + "/terms", path + "/terms", []string{"supported_until", "soon", "license", "Regular", "buyer.email", "nobody"}, http.StatusUnprocessableEntity,
				map[string]string{"supported_until": "year, month and day", "buyer.email": "not an e-mail"}, []string{"buyer.email"}},
			{"manager", "/w/ada/purchases/new", "/w/ada/purchases/new", []string{"item", "999", "price", "12.50", "sold_on", "soon", "code", "é"}, http.StatusUnprocessableEntity,
				map[string]string{"item": "999", "sold_on": "year, month and day", "code": "printable"}, []string{"price", "code"}},
			{"owner", "/w/ada/settings/api/new", "/w/ada/settings/api/new", []string{"name", " \x07", "class", "publishable", "expires", "date", "date", "soon"}, http.StatusUnprocessableEntity,
				map[string]string{"name": "", "item": "Choose the item", "date": "year, month and day"}, nil},
			{"owner", "/w/ada/settings/members/new", "/w/ada/settings/members", []string{"email", "nobody", "role", "owner", "password", secret}, http.StatusUnprocessableEntity,
				map[string]string{"email": "Invalid e-mail", "password": "Wrong password"}, []string{"email"}},
			{"", "/invite", "/invite", []string{"token", "unknown", "email", "nobody", "password", "short"}, http.StatusForbidden,
				map[string]string{"token": "invitation", "email": "Invalid e-mail", "password": "12 characters"}, []string{"email"}},
			{"", "/license", "/license", []string{"code", "unknown", "domain", "shop/x y", "tests", "a b/c"}, http.StatusUnprocessableEntity,
				map[string]string{"code": "not recognized", "domain": "", "tests": ""}, []string{"code", "domain", "tests"}},
			{"", "/license", "/license", []string{"code", "", "domain", "shop/x y", "tests", "a b/c"}, http.StatusUnprocessableEntity,
				map[string]string{"code": "Paste the purchase code", "domain": "", "tests": ""}, []string{"domain", "tests"}},
		}
		for _, f := range forms {
			b := s.browser(t)
			if f.as != "" {
				b = s.as(t, f.as)
			}
			p := b.Fill(f.page, f.path, f.typed...).Status(f.status).SilentAbout(secret)
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
	})
}
