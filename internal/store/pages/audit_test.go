package pages_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

// renamed changes the first name of two workspaces.
func (s team) renamed(t *testing.T) {
	t.Helper()
	for _, username := range []string{"ada", "bob"} {
		must.Get(s.SetWorkspace(t.Context(), operator, username, func(w *store.Workspace) { w.Account.Name.Firstname = "New" }))(t)
	}
}

func TestMembersReadTheAuditLogOfTheirWorkspaceAlone(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.renamed(t)
		b := s.as(t, "viewer")
		b.Get("/w/ada/audit").Says("Changed the account or a switch", "Invited a member", email("manager")).SilentAbout("bob", email("stranger"), "Created a user")
		b.Get("/w/ada/audit?workspace=bob").Says("Invited a member").SilentAbout("bob", email("stranger"))
		b.Get("/w/ada/audit?about=workspace").Says("Changed the account", "Show everything").SilentAbout("Invited a member")
		b.Get("/w/ada/audit?who=nobody").Says("No matching entries")
		for _, file := range []string{"/w/ada/audit.csv", "/w/ada/audit.jsonl", "/w/ada/audit.csv?workspace=bob"} {
			p := b.Get(file, "Accept", "text/csv").Status(http.StatusOK)
			if !strings.Contains(p.Body, "workspace.set") || strings.Contains(p.Body, "bob") || strings.Contains(p.Body, email("stranger")) {
				t.Errorf("%s: %s", file, p.Body)
			}
		}
		b.Get("/w/bob/audit.csv").Status(http.StatusNotFound)
	})
}

func TestAdministratorsReadTheAuditLogOfTheStore(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.renamed(t)
		b := s.as(t, "administrator")
		b.Get("/audit").Says("Signed in", "Created a user", "Changed the account", "ada", "bob")
		p := b.Get("/audit?about=workspace&workspace=bob").Says("Changed the account", "bob").SilentAbout("Created a user", "ada")
		expect.Equal(t, p.Value("workspace"), "bob")
		links := p.Having("href", "/audit.csv?about=workspace&workspace=bob")
		if len(links) != 1 {
			t.Fatal("nothing leads to the file")
		}
		if file := b.Get(webtest.Attr(links[0], "href")).Status(http.StatusOK).Body; strings.Count(file, "workspace.set,bob") != 1 || strings.Contains(file, ",ada,") {
			t.Error(file)
		}
	})
}

func TestAdministratorsSeeTheHealthOfTheStore(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.as(t, "administrator").Get("/health").Status(http.StatusOK).Says("Passed", "The key file belongs to the database", "Report", "Check again")
		bare := s.stock(t, "ada", func(i *store.Item) { i.Name = "Bare" })
		page := s.as(t, "administrator").Get("/health").Says("have no thumbnail or preview image")
		expect.Equalf(t, len(page.Having("href", fmt.Sprintf("/w/ada/items/%d/media", bare.ID))), 1, "nothing leads to the pictures of the item")
	})
}
