package pages_test

import (
	"fmt"
	"net/http"
	"testing"
)

// Only the last administrator has to stay: members can go while there is one administrator.
func TestMembersAreNotTheLastAdministrator(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "administrator")
		for who, offered := range map[string]bool{"owner": true, "administrator": false} {
			u, err := s.People().UserNamed(t.Context(), operator, email(who))
			if err != nil {
				t.Fatal(err)
			}
			path := fmt.Sprintf("/users/%d", u.ID)
			if links := b.Get(path).Status(http.StatusOK).Having("href", path+"/remove"); (len(links) > 0) != offered {
				t.Errorf("removing the %s is offered: %t", who, !offered)
			}
		}
	})
}

// A new invitation comes from an owner. The command is for the set-up link.
func TestALostInvitationNamesNoCommand(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.browser(t)
		b.Post("/invite", "token", "unknown", "email", "new@shop.example", "password", password).
			Status(http.StatusForbidden).Says("Ask the person who invited you for a new one").SilentAbout("countersign store")
	})
}
