package frame_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

const usersPath = "/admincp/users"

// another creates a second administrator with a password, and returns the path of the page.
func (s *site) another(t *testing.T, email string) (people.User, string) {
	t.Helper()
	u := must.Get(s.CreateAdministrator(t.Context(), operator, email, changed))(t)
	return u, usersPath + "/" + strconv.FormatInt(u.ID, 10)
}

func TestAdministratorIsInvitedAndChoosesAPassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Get(usersPath).Says("ada@site.example", "You", "Active")
		b.Post(usersPath, "email", "bob@site.example", "password", changed).Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password")
		b.Post(usersPath, "email", "bob", "password", password).Wrong("email", "Invalid e-mail")
		b.Post(usersPath, "email", "bob", "password", changed).Wrong("email", "Invalid e-mail").Wrong("password", "Wrong password").SilentAbout(changed)
		p := b.Fill(usersPath+"/new", usersPath, "email", "Bob@site.example", "password", password).Status(http.StatusOK).Says("Copy the link now")
		first := p.Value("sign-in-link")
		b.Post(usersPath, "email", "bob@site.example", "password", password).Status(http.StatusConflict).Wrong("email", "create a new link")
		b.Get(usersPath).Says("bob@site.example", "Invited", "never")
		link := b.Post(usersPath+"/2/link", "password", password).Status(http.StatusOK).Value("sign-in-link")
		if first == link || !strings.HasPrefix(link, s.server.URL+"/admincp/link#") {
			t.Fatalf("the links %q and %q", first, link)
		}

		bob := s.browser(t)
		bob.Post("/admincp/link", "token", first).Status(http.StatusForbidden)
		bob.Post("/admincp/link", "token", link).LeadsTo("/admincp/me/security")
		bob.Get("/admincp/me/security").Says("Choose a password now", "Set the password")
		bob.Post(usersPath, "email", "eve@site.example", "password", password).Status(http.StatusConflict).Wrong("password", "not chosen a password")
		bob.Post("/admincp/me/security/password", "new", "short").Wrong("new", "too short")
		bob.Fill("/admincp/me/security", "/admincp/me/security/password", "new", changed).LeadsTo("/admin")
		bob.Get("/admincp/me/security").Says("Change the password")
		s.browser(t).Post("/admincp/login", "email", "bob@site.example", "password", changed).LeadsTo("/admin")
		b.Get(usersPath + "/2/link").LeadsTo(usersPath + "/2")
	})
}

func TestAdministratorIsRenamedDeactivatedActivatedAndRemoved(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		_, path := s.another(t, "bob@site.example")
		b, bob := s.signedIn(t), s.browser(t)
		bob.Post("/admincp/login", "email", "bob@site.example", "password", changed).LeadsTo("/admin")
		for _, action := range []string{"", "/deactivate", "/activate", "/remove"} {
			if action == "/activate" {
				b.Post(path+"/deactivate", "password", password).LeadsTo(path)
			}
			b.Post(path+action, "email", "eve@site.example").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password.")
			b.Post(path+action, "email", "eve@site.example", "password", changed).Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password")
		}
		b.Get(path).Says("Inactive", "Activate")
		bob.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		bob.Post("/admincp/login", "email", "bob@site.example", "password", changed).Status(http.StatusForbidden).Says("This account is deactivated. Ask another administrator")
		b.Fill(path+"/activate", path+"/activate", "password", password).LeadsTo(path)
		bob.Post("/admincp/login", "email", "bob@site.example", "password", changed).LeadsTo("/admin")
		b.Post(path, "email", "ada@site.example", "password", password).Status(http.StatusConflict).Wrong("email", "already exists")
		b.Fill(path, path, "email", "Robert@site.example", "password", password).LeadsTo(path)
		b.Get(path).Says("Sign-in is now with the e-mail robert@site.example.")
		bob.Get("/admin").Says("signed in as robert@site.example")
		b.Fill(path+"/remove", path+"/remove", "password", password).LeadsTo(usersPath)
		b.Get(usersPath).Says("robert@site.example was removed.")
		bob.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
		b.Get(path).Status(http.StatusNotFound).Says("does not exist, or was removed")
	})
}

func TestOwnAccountEndsWithTheSession(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		for action, says := range map[string]string{"/deactivate": "Your account was deactivated.", "/remove": "Your account was removed."} {
			_, path := s.another(t, "bob@site.example")
			bob := s.browser(t)
			bob.Post("/admincp/login", "email", "bob@site.example", "password", changed).LeadsTo("/admin")
			bob.Get(path + action).Says("This is your own account: you are signed out at once.")
			bob.Post(path+action, "password", changed).LeadsTo("/admincp/login")
			bob.Get("/admincp/login").Says(says)
			bob.Get("/admin").LeadsTo("/admincp/login?next=%2Fadmin")
			if action == "/deactivate" {
				s.signedIn(t).Post(path+"/remove", "password", password).LeadsTo(usersPath)
			}
		}
	})
}

func TestLastAdministratorStays(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.signedIn(t)
		b.Get(usersPath+"/1").Says("only active administrator", "Add an administrator").SilentAbout("/remove")
		for _, action := range []string{"/deactivate", "/remove"} {
			b.Post(usersPath+"/1"+action, "password", password).Status(http.StatusConflict).Says("Nothing was changed; add another administrator first")
		}
		b.Get("/admin").Status(http.StatusOK)
	})
}
