package store

import (
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/people"
)

const newPassword = "four quiet green words"

func (f *fixture) mustInvite(t *testing.T, email string, role Role) (id, token string) {
	t.Helper()
	i, token, err := f.Invite(t.Context(), operator, "ada", email, role)
	if err != nil {
		t.Fatal(err)
	}
	return i.ID, token
}

func (f *fixture) join(t *testing.T, token, email string) error {
	t.Helper()
	_, _, err := f.AcceptAsNew(t.Context(), people.Origin{}, token, email, newPassword)
	return err
}

func TestAnInvitationIsGoodOnceAndForSevenDays(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustInvite(t, "Eve@Home.example ", RoleManager)
		if o, err := f.Offer(t.Context(), token); err != nil || o.Username != "ada" || o.Role != RoleManager || o.Email != "eve@home.example" {
			t.Fatalf("%+v, %v", o, err)
		}
		wantError(t, f.join(t, token, "not an address"), "email_invalid")
		wantError(t, f.join(t, token+"x", "eve@home.example"), "link_unknown")
		if err := f.join(t, token, "eve@home.example"); err != nil { // a refused form has not used it up
			t.Fatal(err)
		}
		wantError(t, f.join(t, token, "mallory@home.example"), "link_unknown")
		members, err := f.Members(t.Context(), operator, "ada")
		if err != nil || len(members) != 1 || members[0].Email != "eve@home.example" || members[0].Role != RoleManager {
			t.Errorf("%+v, %v", members, err)
		}
		_, late := f.mustInvite(t, "late@home.example", RoleViewer)
		f.clock.set(noon.Add(invitationLife - time.Second))
		if _, err := f.Offer(t.Context(), late); err != nil {
			t.Error(err)
		}
		f.clock.set(noon.Add(invitationLife))
		wantError(t, f.join(t, late, "late@home.example"), "link_unknown")
		if list, err := f.Invitations(t.Context(), operator, "ada"); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestAWithdrawnInvitationIsGoodForNobody(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		id, token := f.mustInvite(t, "eve@home.example", RoleViewer)
		wantError(t, f.WithdrawInvitation(t.Context(), operator, "bob", id), "invitation_not_found")
		if err := f.WithdrawInvitation(t.Context(), operator, "ada", id); err != nil {
			t.Fatal(err)
		}
		wantError(t, f.join(t, token, "eve@home.example"), "link_unknown")
		wantError(t, f.WithdrawInvitation(t.Context(), operator, "ada", id), "invitation_not_found")
		users, err := f.People().Users(t.Context(), operator)
		if err != nil || len(users) != 0 {
			t.Errorf("%d users, %v", len(users), err)
		}
	})
}

func TestOfTwoWhoAcceptAnInvitationOneJoins(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustInvite(t, "eve@home.example", RoleOwner)
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, email := range []string{"eve@home.example", "mallory@home.example"} {
			both.Go(func() { errs[i] = f.join(t, token, email) })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("%v", errs)
		}
		users, err := f.People().Users(t.Context(), operator)
		members, err2 := f.Members(t.Context(), operator, "ada")
		if err != nil || err2 != nil || len(users) != 1 || len(members) != 1 {
			t.Errorf("%d users, %d members, %v, %v", len(users), len(members), err, err2)
		}
	})
}

func TestAMemberWhoIsInvitedAgainKeepsTheRoleAndTheInvitationStays(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustInvite(t, "eve@home.example", RoleViewer)
		if err := f.join(t, token, "eve@home.example"); err != nil {
			t.Fatal(err)
		}
		u, err := f.People().UserNamed(t.Context(), operator, "eve@home.example")
		if err != nil {
			t.Fatal(err)
		}
		eve := u.Actor(people.Origin{})
		_, again := f.mustInvite(t, "eve@home.example", RoleOwner)
		_, err = f.Accept(t.Context(), eve, again)
		wantError(t, err, "member_exists")
		if m, err := f.Member(t.Context(), operator, "ada", u.ID); err != nil || m.Role != RoleViewer {
			t.Errorf("%+v, %v", m, err)
		}
		if _, err := f.Offer(t.Context(), again); err != nil {
			t.Errorf("the invitation was used up: %v", err)
		}
		_, err = f.Accept(t.Context(), people.Actor{}, again)
		wantError(t, err, "not_allowed")
	})
}

func TestTheLastOwnerStaysUnlessAnAdministratorSaysSo(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		staff := f.staff(t)
		owner, manager := staff["owner"], staff["manager"]
		_, err := f.SetMember(t.Context(), owner, "ada", owner.User, RoleViewer)
		wantError(t, err, "last_owner")
		_, err = f.RemoveMember(t.Context(), owner, "ada", owner.User)
		wantError(t, err, "last_owner")
		if _, err := f.SetMember(t.Context(), owner, "ada", manager.User, RoleOwner); err != nil {
			t.Fatal(err)
		}
		if _, err := f.RemoveMember(t.Context(), owner, "ada", owner.User); err != nil {
			t.Error(err)
		}
		_, err = f.SetMember(t.Context(), owner, "ada", owner.User, RoleOwner)
		wantError(t, err, "workspace_not_found")
		if _, err := f.RemoveMember(t.Context(), staff["administrator"], "ada", manager.User); err != nil {
			t.Error(err)
		}
	})
}

func TestAMemberCanBeRemovedFromAStoreWithoutAdministrators(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustInvite(t, "eve@home.example", RoleOwner)
		if err := f.join(t, token, "eve@home.example"); err != nil {
			t.Fatal(err)
		}
		u, err := f.People().UserNamed(t.Context(), operator, "eve@home.example")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.People().DeactivateUser(t.Context(), operator, u.ID); err != nil {
			t.Error(err)
		}
		if _, err := f.People().RemoveUser(t.Context(), operator, u.ID); err != nil {
			t.Error(err)
		}
		if members, err := f.Members(t.Context(), operator, "ada"); err != nil || len(members) != 0 {
			t.Errorf("%v, %v", members, err)
		}
	})
}

func TestAnInvitationEndsWithTheRightsOfItsInviter(t *testing.T) {
	ends := map[string]func(f *fixture, owner people.Actor) error{
		"a lesser role": func(f *fixture, owner people.Actor) error {
			_, err := f.SetMember(t.Context(), operator, "ada", owner.User, RoleManager)
			return err
		},
		"removed from the workspace": func(f *fixture, owner people.Actor) error {
			_, err := f.RemoveMember(t.Context(), operator, "ada", owner.User)
			return err
		},
		"deactivated": func(f *fixture, owner people.Actor) error {
			_, err := f.People().DeactivateUser(t.Context(), operator, owner.User)
			return err
		},
		"removed": func(f *fixture, owner people.Actor) error {
			_, err := f.People().RemoveUser(t.Context(), operator, owner.User)
			return err
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				owner := f.staff(t)["owner"]
				_, token, err := f.Invite(t.Context(), owner, "ada", "again@home.example", RoleOwner)
				if err != nil {
					t.Fatal(err)
				}
				if err := end(f, owner); err != nil {
					t.Fatal(err)
				}
				wantError(t, f.join(t, token, "again@home.example"), "link_unknown")
				if list, err := f.Invitations(t.Context(), operator, "ada"); err != nil || len(list) != 0 {
					t.Errorf("%v, %v", list, err)
				}
			})
		})
	}
}

func TestAnInvitationOfAnAdministratorEndsWithItsRights(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		staff := f.staff(t)
		other, err := f.People().SetAdministrator(t.Context(), operator, staff["viewer"].User, true)
		if err != nil {
			t.Fatal(err)
		}
		token, again := "", ""
		for _, one := range []*string{&token, &again} {
			if _, *one, err = f.Invite(t.Context(), other.Actor(people.Origin{}), "ada", "eve@home.example", RoleOwner); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.join(t, token, "eve@home.example"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.People().SetAdministrator(t.Context(), operator, other.ID, false); err != nil {
			t.Fatal(err)
		}
		wantError(t, f.join(t, again, "other@home.example"), "link_unknown")
	})
}

func TestAnInvitationDoesNotComeBackWithTheRoleOfItsInviter(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		owner := f.staff(t)["owner"]
		_, token, err := f.Invite(t.Context(), owner, "ada", "again@home.example", RoleOwner)
		if err != nil {
			t.Fatal(err)
		}
		for _, role := range []Role{RoleViewer, RoleOwner} {
			if _, err := f.SetMember(t.Context(), operator, "ada", owner.User, role); err != nil {
				t.Fatal(err)
			}
		}
		wantError(t, f.join(t, token, "again@home.example"), "link_unknown")
	})
}
