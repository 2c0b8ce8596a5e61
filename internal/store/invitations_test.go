package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

const newPassword = "four quiet green words"

func mustInvite(t *testing.T, f *storetest.Fixture, email string, role store.Role) (id, token string) {
	t.Helper()
	i, token, err := f.Invite(t.Context(), storetest.Operator, "ada", email, role)
	must.Do(t, err)
	return i.ID, token
}

func join(t *testing.T, f *storetest.Fixture, token, email string) error {
	t.Helper()
	_, _, err := f.AcceptAsNew(t.Context(), people.Origin{}, token, email, newPassword)
	return err
}

func TestAnInvitationIsGoodOnceAndForSevenDays(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := mustInvite(t, f, "Eve@Home.example ", store.RoleManager)
		if o, err := f.Offer(t.Context(), token); err != nil || o.Username != "ada" || o.Role != store.RoleManager || o.Email != "eve@home.example" {
			t.Fatalf("%+v, %v", o, err)
		}
		storetest.WantError(t, join(t, f, token, "not an address"), "email_invalid")
		storetest.WantError(t, join(t, f, token+"x", "eve@home.example"), "link_unknown")
		storetest.WantError(t, join(t, f, token, "mallory@home.example"), "invitation_email")
		mallory := f.MemberOf(t, "bob", store.RoleViewer, "mallory@home.example")
		_, err := f.Accept(t.Context(), mallory, token)
		storetest.WantError(t, err, "invitation_email")
		if err := join(t, f, token, "eve@home.example"); err != nil { // a refused form has not used it up
			t.Fatal(err)
		}
		storetest.WantError(t, join(t, f, token, "mallory@home.example"), "link_unknown")
		members, err := f.Members(t.Context(), storetest.Operator, "ada")
		if err != nil || len(members) != 1 || members[0].Email != "eve@home.example" || members[0].Role != store.RoleManager {
			t.Errorf("%+v, %v", members, err)
		}
		_, late := mustInvite(t, f, "late@home.example", store.RoleViewer)
		f.Clock.Set(storetest.Noon.Add(store.InvitationLife - time.Second))
		if _, err := f.Offer(t.Context(), late); err != nil {
			t.Error(err)
		}
		f.Clock.Set(storetest.Noon.Add(store.InvitationLife))
		storetest.WantError(t, join(t, f, late, "late@home.example"), "link_unknown")
		if list, err := f.Invitations(t.Context(), storetest.Operator, "ada"); err != nil || len(list) != 0 {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestAWithdrawnInvitationIsGoodForNobody(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		id, token := mustInvite(t, f, "eve@home.example", store.RoleViewer)
		storetest.WantError(t, f.WithdrawInvitation(t.Context(), storetest.Operator, "bob", id), "invitation_not_found")
		must.Do(t, f.WithdrawInvitation(t.Context(), storetest.Operator, "ada", id))
		storetest.WantError(t, join(t, f, token, "eve@home.example"), "link_unknown")
		storetest.WantError(t, f.WithdrawInvitation(t.Context(), storetest.Operator, "ada", id), "invitation_not_found")
		users, err := f.Instance.People.Users(t.Context(), storetest.Operator)
		if err != nil || len(users) != 0 {
			t.Errorf("%d users, %v", len(users), err)
		}
	})
}

func TestOfTwoWhoAcceptAnInvitationOneJoins(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := mustInvite(t, f, "eve@home.example", store.RoleOwner)
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, email := range []string{"eve@home.example", "Eve@Home.example"} {
			both.Go(func() { errs[i] = join(t, f, token, email) })
		}
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Errorf("%v", errs)
		}
		users, err := f.Instance.People.Users(t.Context(), storetest.Operator)
		members, errMembers := f.Members(t.Context(), storetest.Operator, "ada")
		if err != nil || errMembers != nil || len(users) != 1 || len(members) != 1 {
			t.Errorf("%d users, %d members, %v, %v", len(users), len(members), err, errMembers)
		}
	})
}

func TestAMemberWhoIsInvitedAgainKeepsTheRoleAndTheInvitationStays(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := mustInvite(t, f, "eve@home.example", store.RoleViewer)
		must.Do(t, join(t, f, token, "eve@home.example"))
		u := must.Get(f.Instance.People.UserNamed(t.Context(), storetest.Operator, "eve@home.example"))(t)
		eve := u.Actor(people.Origin{})
		_, again := mustInvite(t, f, "eve@home.example", store.RoleOwner)
		_, err := f.Accept(t.Context(), eve, again)
		storetest.WantError(t, err, "member_exists")
		if m, err := f.Member(t.Context(), storetest.Operator, "ada", u.ID); err != nil || m.Role != store.RoleViewer {
			t.Errorf("%+v, %v", m, err)
		}
		if _, err := f.Offer(t.Context(), again); err != nil {
			t.Errorf("the invitation was used up: %v", err)
		}
		_, err = f.Accept(t.Context(), people.Actor{}, again)
		storetest.WantError(t, err, "not_allowed")
	})
}

func TestTheLastOwnerStaysUnlessAnAdministratorSaysSo(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		staff := f.Staff(t)
		owner, manager := staff["owner"], staff["manager"]
		_, err := f.SetMember(t.Context(), owner, "ada", owner.User, store.RoleViewer)
		storetest.WantError(t, err, "last_owner")
		_, err = f.RemoveMember(t.Context(), owner, "ada", owner.User)
		storetest.WantError(t, err, "last_owner")
		must.Get(f.SetMember(t.Context(), owner, "ada", manager.User, store.RoleOwner))(t)
		if _, err := f.RemoveMember(t.Context(), owner, "ada", owner.User); err != nil {
			t.Error(err)
		}
		_, err = f.SetMember(t.Context(), owner, "ada", owner.User, store.RoleOwner)
		storetest.WantError(t, err, "workspace_not_found")
		if _, err := f.RemoveMember(t.Context(), staff["administrator"], "ada", manager.User); err != nil {
			t.Error(err)
		}
	})
}

func TestAMemberCanBeRemovedFromAStoreWithoutAdministrators(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := mustInvite(t, f, "eve@home.example", store.RoleOwner)
		must.Do(t, join(t, f, token, "eve@home.example"))
		u := must.Get(f.Instance.People.UserNamed(t.Context(), storetest.Operator, "eve@home.example"))(t)
		if _, err := f.Instance.People.DeactivateUser(t.Context(), storetest.Operator, u.ID); err != nil {
			t.Error(err)
		}
		if _, err := f.Instance.People.RemoveUser(t.Context(), storetest.Operator, u.ID); err != nil {
			t.Error(err)
		}
		if members, err := f.Members(t.Context(), storetest.Operator, "ada"); err != nil || len(members) != 0 {
			t.Errorf("%v, %v", members, err)
		}
	})
}

func TestAnInvitationEndsWithTheRightsOfItsInviter(t *testing.T) {
	ends := map[string]func(f *storetest.Fixture, owner people.Actor) error{
		"a lesser role": func(f *storetest.Fixture, owner people.Actor) error {
			_, err := f.SetMember(t.Context(), storetest.Operator, "ada", owner.User, store.RoleManager)
			return err
		},
		"removed from the workspace": func(f *storetest.Fixture, owner people.Actor) error {
			_, err := f.RemoveMember(t.Context(), storetest.Operator, "ada", owner.User)
			return err
		},
		"deactivated": func(f *storetest.Fixture, owner people.Actor) error {
			_, err := f.Instance.People.DeactivateUser(t.Context(), storetest.Operator, owner.User)
			return err
		},
		"removed": func(f *storetest.Fixture, owner people.Actor) error {
			_, err := f.Instance.People.RemoveUser(t.Context(), storetest.Operator, owner.User)
			return err
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				owner := f.Staff(t)["owner"]
				_, token, err := f.Invite(t.Context(), owner, "ada", "again@home.example", store.RoleOwner)
				must.Do(t, err)
				must.Do(t, end(f, owner))
				storetest.WantError(t, join(t, f, token, "again@home.example"), "link_unknown")
				if list, err := f.Invitations(t.Context(), storetest.Operator, "ada"); err != nil || len(list) != 0 {
					t.Errorf("%v, %v", list, err)
				}
			})
		})
	}
}

func TestAnInvitationOfAnAdministratorEndsWithItsRights(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		staff := f.Staff(t)
		other, err := f.Instance.People.SetAdministrator(t.Context(), storetest.Operator, staff["viewer"].User, true)
		must.Do(t, err)
		token, again := "", ""
		for _, one := range []*string{&token, &again} {
			if _, *one, err = f.Invite(t.Context(), other.Actor(people.Origin{}), "ada", "eve@home.example", store.RoleOwner); err != nil {
				t.Fatal(err)
			}
		}
		must.Do(t, join(t, f, token, "eve@home.example"))
		must.Get(f.Instance.People.SetAdministrator(t.Context(), storetest.Operator, other.ID, false))(t)
		storetest.WantError(t, join(t, f, again, "other@home.example"), "link_unknown")
	})
}

func TestAnInvitationDoesNotComeBackWithTheRoleOfItsInviter(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		owner := f.Staff(t)["owner"]
		_, token, err := f.Invite(t.Context(), owner, "ada", "again@home.example", store.RoleOwner)
		must.Do(t, err)
		for _, role := range []store.Role{store.RoleViewer, store.RoleOwner} {
			must.Get(f.SetMember(t.Context(), storetest.Operator, "ada", owner.User, role))(t)
		}
		storetest.WantError(t, join(t, f, token, "again@home.example"), "link_unknown")
	})
}
