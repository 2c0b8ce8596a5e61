package pages_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// Only the last administrator has to stay: members can go while there is one administrator.
func TestMembersAreNotTheLastAdministrator(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "administrator")
		for who, offered := range map[string]bool{"owner": true, "administrator": false} {
			u := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email(who)))(t)
			path := fmt.Sprintf("/users/%d", u.ID)
			if links := b.Get(path).Status(http.StatusOK).Having("href", path+"/remove"); (len(links) > 0) != offered {
				t.Errorf("removing the %s is offered: %t", who, !offered)
			}
		}
	})
}

func TestAUserIsMadeAnAdministratorAndBack(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		boss, viewer := s.as(t, "administrator"), s.as(t, "viewer")
		u := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email("viewer")))(t)
		path := fmt.Sprintf("/users/%d", u.ID)
		change := path + "/administrator"
		boss.Get(path).Says("Promote to administrator")
		boss.Post(change, "password", "wrong words here").Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password")
		viewer.Get("/users").Status(http.StatusForbidden)
		boss.Fill(change, change, "password", password).LeadsTo(path)
		viewer.Get("/users").Status(http.StatusOK).Says(email("viewer"))

		boss.Get(path).Says("Remove administrator rights")
		viewer.Fill(change, change, "password", password).LeadsTo("/")
		viewer.Get("/users").Status(http.StatusForbidden)
		viewer.Get("/w/ada").Status(http.StatusOK)
	})
}

func TestTheLastAdministratorKeepsTheRights(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "administrator")
		u := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email("administrator")))(t)
		path := fmt.Sprintf("/users/%d", u.ID)
		if links := b.Get(path).Having("href", path+"/administrator"); len(links) > 0 {
			t.Error("it is offered")
		}
		b.Post(path+"/administrator", "password", password).Status(http.StatusConflict).Says("last active administrator")
		b.Get("/users").Status(http.StatusOK)
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

// A stolen session must not give anybody lasting access as an owner.
func TestOnlyThePasswordMakesAnOwner(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		const members, form = "/w/ada/settings/members", "/w/ada/settings/members/new"
		b := s.as(t, "owner")
		b.Fill(form, members, "email", "eve@home.example", "role", "owner").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password")
		b.Fill(form, members, "email", "eve@home.example", "role", "owner", "password", "wrong words here").Status(http.StatusUnprocessableEntity).Wrong("password", "Wrong password")
		if list, err := s.Invitations(t.Context(), operator, "ada"); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
		b.Fill(form, members, "email", "eve@home.example", "role", "owner", "password", password).Status(http.StatusOK).Says("Role: Owner")
		b.Fill(form, members, "email", "max@home.example", "role", "manager").Status(http.StatusOK)

		u := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email("viewer")))(t)
		member := fmt.Sprintf("%s/%d", members, u.ID)
		b.Fill(member, member, "role", "owner").Status(http.StatusUnprocessableEntity).Wrong("password", "Type your password")
		b.Fill(member, member, "role", "manager").LeadsTo(members)
		b.Fill(member, member, "role", "owner", "password", password).LeadsTo(members)
		if m, err := s.Member(t.Context(), operator, "ada", u.ID); err != nil || m.Role != "owner" {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

func TestTheFormOfANewAdministratorIsForAdministrators(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.as(t, "viewer").Get("/users/new").Status(http.StatusForbidden)
		s.as(t, "administrator").Get("/users/new").Status(http.StatusOK)
	})
}
