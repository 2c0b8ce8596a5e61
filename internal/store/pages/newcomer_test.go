package pages_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

func TestTheChecklistLeadsOnAndIsHiddenWhereNothingCanBeDone(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		admin := s.as(t, "administrator")
		admin.Post("/w", "username", "fresh", "name", "Fresh", "currency", "USD")
		p := admin.Get("/w/fresh").Says("Set up", "First purchase", "Validate a purchase code with your key. This takes up to a minute to show.")
		if len(p.Having("href", "/w/fresh/console")) < 2 { // the button of the page is the other
			t.Error("the first call does not lead to the console")
		}
		must.Get(s.AddMember(t.Context(), operator, "fresh", email("viewer"), store.RoleViewer))(t)
		s.as(t, "viewer").Get("/w/fresh").SilentAbout("Set up", "First purchase")
	})
}

func TestTheFirstCallIsDoneWhenItIsInTheLog(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, value := s.makeKey(t, "till")
		s.call(t, value)
		done := func(p *webtest.Page) bool {
			for _, n := range p.All("li") {
				if text := webtest.TextOf(n); strings.Contains(text, "First call") {
					return strings.HasPrefix(text, "Done")
				}
			}
			return true // with all the rest
		}
		if !done(s.as(t, "owner").Get("/w/ada")) {
			t.Error("a call of today is not counted as the first")
		}
	})
}

func TestANewKeyIsTriedWithACodeOfTheWorkspace(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.sell(t, store.Purchase{Code: "newest-code-of-ada"})
		b := s.as(t, "owner")
		b.Post("/w/ada/settings/api/new", "name", "till").Says("newest-code-of-ada")
		b.Post("/w/ada/settings/api/new", "name", "plugin", "class", "publishable", "item", strconv.FormatInt(s.newItem(t, "ada", "Unsold", false).ID, 10)).
			Says("'CODE'")
	})
}

func TestAnInvitationNamesWorkspaceRoleAndInviter(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		p := s.as(t, "owner").Post("/w/ada/settings/members", "email", "new@shop.example", "role", "manager").Status(http.StatusOK)
		p.Says("owner@shop.example invites you to the workspace ada with the role Manager.", "It works once, until 8 Nov 2026, 12:00 UTC")
		_, token, err := s.Invite(t.Context(), operator, "ada", "fresh@shop.example", store.RoleViewer)
		must.Do(t, err)
		b := s.browser(t)
		expect.Equalf(t, b.Post("/invite", "token", token).Status(http.StatusUnprocessableEntity).Value("email"), "fresh@shop.example", "the e-mail")
		expect.Equalf(t, b.Post("/invite", "token", "unknown").Value("email"), "", "the e-mail of an unknown link")
		b.Post("/invite", "token", token, "email", "fresh@shop.example", "password", password).LeadsTo("/w/ada")
		users := s.as(t, "administrator").Get("/users").Says("Viewer in ada", "Owner in bob")
		for _, row := range users.All("tr") {
			if text := webtest.TextOf(row); strings.Contains(text, "fresh@shop.example") && strings.Contains(text, "never") {
				t.Error(text)
			}
		}
	})
}

func TestARefusalNamesTheRolesAndLeadsBack(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "viewer")
		p := b.Get("/w/ada/items/new").Status(http.StatusForbidden).Says("Your role here is viewer. This needs the role manager. Ask an owner of the workspace: owner@shop.example")
		missing := b.Get("/w/ada/items/999").Status(http.StatusNotFound)
		for _, page := range []*webtest.Page{p, missing} {
			if !strings.Contains(page.Text(), "Go to ada") || len(page.Having("href", "/")) == 0 {
				t.Errorf("%s: leads nowhere: %s", page.Name, page.Text())
			}
		}
		if text := b.Get("/users").Status(http.StatusForbidden).Text(); strings.Contains(text, "Not allowed. This needs") {
			t.Error(text)
		}
	})
}

func TestAuditEntriesLeadToWhatTheyAreAbout(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, _ := s.sell(t, store.Purchase{})
		b := s.as(t, "administrator")
		for _, log := range []string{"/w/ada/audit", "/audit"} {
			if len(b.Get(log).Having("href", path)) == 0 {
				t.Errorf("%s does not lead to the purchase", log)
			}
		}
		b.Get("/w/ada/audit?about=member&who=nobody").Says("No matching entries")
	})
}

func TestTheIdOfANewItemComesLast(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		p := s.as(t, "manager").Get("/w/ada/items/new").Says("required")
		if strings.Index(p.Body, `name="id"`) < strings.Index(p.Body, `name="published_at"`) {
			t.Error("the id is not the last field")
		}
		if name := p.Having("id", "field-name"); len(name) != 1 || !webtest.Has(name[0], "autofocus") {
			t.Error("the name is not focused")
		}
	})
}
