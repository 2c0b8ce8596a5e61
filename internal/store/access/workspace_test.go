package access

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// team is a store with two workspaces, ada and bob, whose members are all of ada's.
type team struct {
	db    *storedb.DB
	ada   storedb.Workspace
	bob   storedb.Workspace
	users map[string]people.Actor
}

// newTeam adds a user for each role in ada, one without a role, and one who is a viewer of
// ada and the owner of bob.
func newTeam(t *testing.T, db *storedb.DB) team {
	t.Helper()
	f := team{db: db, users: map[string]people.Actor{"operator": people.Operator("tester")}}
	now := sqldb.Time{Time: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	must := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	workspace := func(username string) storedb.Workspace {
		a := countersign.Account{Username: username, Currency: "USD", RegisteredAt: countersign.At(now.Time)}
		must(db.AddWorkspace(t.Context(), storedb.Workspace{Account: a}))
		w, err := db.Workspace(t.Context(), username)
		must(err)
		return w
	}
	f.ada, f.bob = workspace("ada"), workspace("bob")
	user := func(name string, administrator bool, roles map[int64]storedb.Role) {
		u := peopledb.User{Email: name + "@shop.example", Password: "x", Generation: 1, Administrator: administrator, CreatedAt: now, PasswordAt: now}
		var id int64
		must(db.Tx(t.Context(), func(tx *storedb.DB) (err error) {
			id, err = tx.AddUser(t.Context(), u)
			return err
		}))
		for w, role := range roles {
			must(db.SetMember(t.Context(), w, storedb.Member{User: id, Role: role, Since: now}))
		}
		f.users[name] = people.Actor{Kind: people.KindUser, ID: u.Email, User: id, Administrator: administrator}
	}
	user("viewer", false, map[int64]storedb.Role{f.ada.ID: storedb.RoleViewer})
	user("manager", false, map[int64]storedb.Role{f.ada.ID: storedb.RoleManager})
	user("owner", false, map[int64]storedb.Role{f.ada.ID: storedb.RoleOwner})
	user("stranger", false, nil)
	user("both", false, map[int64]storedb.Role{f.ada.ID: storedb.RoleViewer, f.bob.ID: storedb.RoleOwner})
	user("administrator", true, nil)
	return f
}

func teams(t *testing.T, test func(t *testing.T, f team)) {
	dbtest.Engines(t, func(t *testing.T, place dbtest.DB) {
		db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: place.URL, Path: filepath.Join(place.Dir, "store.db"), Schemas: storedb.Schemas}))(t)
		t.Cleanup(func() { db.Close() })
		must.Do(t, db.Migrate(t.Context()))
		test(t, newTeam(t, storedb.New(db)))
	})
}

func TestTheRoleDecidesWhatAMemberMayDo(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		cases := []struct {
			who     string
			allowed []string
			refused string
		}{
			{"viewer", []string{"view"}, "role_needed"},
			{"manager", []string{"license", "view", "manage"}, "role_needed"},
			{"owner", []string{"license", "view", "manage", "own"}, "role_needed"},
			{"both", []string{"view"}, "role_needed"},
			{"administrator", []string{"license", "view", "manage", "own"}, ""},
			{"operator", []string{"license", "view", "manage", "own"}, ""},
			{"stranger", nil, "workspace_not_found"},
		}
		for _, c := range cases {
			want := map[string]bool{}
			for _, name := range c.allowed {
				want[name] = true
			}
			for _, name := range []string{"license", "view", "manage", "own"} {
				w, err := Workspace(t.Context(), f.db, f.users[c.who], "ada", all[name])
				switch {
				case (err == nil) != want[name]:
					t.Errorf("%s, %s: %v, want allowed: %t", c.who, name, err, want[name])
				case err != nil && !fault.HasCode(err, c.refused):
					t.Errorf("%s, %s: %v, want the code %s", c.who, name, err, c.refused)
				case err == nil && w.ID != f.ada.ID:
					t.Errorf("%s, %s: the workspace %d", c.who, name, w.ID)
				}
			}
		}
	})
}

func TestAWorkspaceOfOthersLooksLikeOneThatDoesNotExist(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		_, of := Workspace(t.Context(), f.db, f.users["owner"], "bob", View)
		_, missing := Workspace(t.Context(), f.db, f.users["owner"], "nobody", View)
		if of == nil || missing == nil || strings.ReplaceAll(of.Error(), "bob", "nobody") != missing.Error() {
			t.Errorf("%v\n%v", of, missing)
		}
	})
}

func TestAnActorWithAWorkspaceReachesThatOneAlone(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		gone := fault.NotFound("item_not_found", "No item 7")
		for _, who := range []string{"both", "administrator", "operator"} {
			a := f.users[who]
			a.Workspace = f.ada.ID
			expect.NoErrorf(t, In(t.Context(), f.db, a, f.ada.ID, View, gone), "%s in ada", who)
			if err := In(t.Context(), f.db, a, f.bob.ID, View, gone); !fault.HasCode(err, "item_not_found") {
				t.Errorf("%s in bob: %v", who, err)
			}
		}
	})
}

func TestARefusalNamesTheRoleAndTheOwners(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		for what, role := range map[Permission]string{Manage: "manager", Own: "owner"} {
			_, err := Workspace(t.Context(), f.db, f.users["viewer"], "ada", what)
			want := "Your role here is viewer. This needs the role " + role + ". Ask an owner of the workspace: owner@shop.example"
			expect.Equal(t, fault.Message(err), want)
		}
		must.Do(t, f.db.DeleteMember(t.Context(), f.ada.ID, f.users["owner"].User))
		_, err := Workspace(t.Context(), f.db, f.users["viewer"], "ada", Own)
		if !strings.HasSuffix(fault.Message(err), "Ask an administrator of the store: administrator@shop.example") {
			t.Errorf("%q", fault.Message(err))
		}
	})
}

func TestOnlyManagersSeeTheAddressesOfBuyers(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		for who, want := range map[string]bool{"viewer": false, "manager": true, "owner": true, "administrator": true, "operator": true} {
			if got, err := SeesBuyers(t.Context(), f.db, f.users[who], f.ada.ID); err != nil || got != want {
				t.Errorf("%s: %t, %v", who, got, err)
			}
		}
	})
}

func TestTheEndOfAUserEndsMemberships(t *testing.T) {
	teams(t, func(t *testing.T, f team) {
		owner := f.users["owner"]
		must.Do(t, f.db.DeleteUser(t.Context(), owner.User, sqldb.Time{Time: time.Now()}))
		members, err := f.db.Members(t.Context(), f.ada.ID)
		if err != nil || len(members) != 3 {
			t.Errorf("%d members, %v", len(members), err)
		}
		if _, err := Workspace(t.Context(), f.db, owner, "ada", View); !fault.HasCode(err, "workspace_not_found") {
			t.Error(err)
		}
	})
}
