package access

import (
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
)

// all are the permissions by name.
var all = map[string]Permission{
	"validate": ValidatePurchases, "read": ReadWorkspace, "license": LicensePurchases,
	"view": View, "manage": Manage, "own": Own, "administer": Administer, "operate": Operate,
}

func TestMay(t *testing.T) {
	cases := []struct {
		name    string
		actor   people.Actor
		allowed []string
		refused string
	}{
		{"the operator may do everything", people.Operator("tester"), []string{"validate", "read", "license", "view", "manage", "own", "administer", "operate"}, ""},
		{"a secret key validates and reads", people.Actor{Kind: people.KindKey, Workspace: 1, Secret: true}, []string{"validate", "read"}, "key_scope"},
		{"a publishable key validates", people.Actor{Kind: people.KindKey, Workspace: 1, Item: 7}, []string{"validate"}, "key_scope"},
		{"a publishable key without an item opens no more", people.Actor{Kind: people.KindKey, Workspace: 1}, []string{"validate"}, "key_scope"},
		{"a buyer licenses", people.Buyer(people.FrontEndPage, people.Actor{}.Addr), []string{"license"}, "key_scope"},
		{"an administrator may do what has no key", people.Actor{Kind: people.KindUser, User: 1, Administrator: true}, []string{"license", "view", "manage", "own", "administer"}, "not_allowed"},
		{"another user may do nothing in every workspace", people.Actor{Kind: people.KindUser, User: 1}, nil, "not_allowed"},
		{"an administrator without an id is nobody", people.Actor{Kind: people.KindUser, Administrator: true}, nil, "not_allowed"},
		{"nobody may do nothing", people.Actor{}, nil, "key_scope"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkPermissions(t, c.allowed, c.refused, func(what Permission) error { return May(c.actor, what) })
		})
	}
}

func TestRolesAllowMoreFromViewerToOwner(t *testing.T) {
	for role, allowed := range map[storedb.Role][]string{
		storedb.RoleViewer:  {"view"},
		storedb.RoleManager: {"license", "view", "manage"},
		storedb.RoleOwner:   {"license", "view", "manage", "own"},
		"":                  nil,
		"admin":             nil,
	} {
		checkPermissions(t, allowed, "not_allowed", func(what Permission) error {
			if Allows(role, what) {
				return nil
			}
			return fault.Forbidden("not_allowed", "")
		})
	}
}

// checkPermissions asks about every permission, and wants the code of every refusal.
func checkPermissions(t *testing.T, allowed []string, refused string, ask func(Permission) error) {
	t.Helper()
	want := map[string]bool{}
	for _, name := range allowed {
		want[name] = true
	}
	for name, what := range all {
		switch err := ask(what); {
		case (err == nil) != want[name]:
			t.Errorf("%s: %v, want allowed: %t", name, err, want[name])
		case err != nil && !fault.HasCode(err, refused):
			t.Errorf("%s: %v, want the code %s", name, err, refused)
		}
	}
}
