package storetest

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

// KeyNamed is the key of a workspace that has a name.
func (f *Fixture) KeyNamed(t testing.TB, workspace, name string) store.Key {
	t.Helper()
	keys, err := f.Keys(t.Context(), Operator, workspace)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(keys, func(k store.Key) bool { return k.Name == name })
	if i < 0 {
		t.Fatalf("the workspace %s has no key %q", workspace, name)
	}
	return keys[i]
}

const password = "four quiet green words"

// MemberOf adds a user with a role in a workspace.
func (f *Fixture) MemberOf(t testing.TB, workspace string, role store.Role, email string) people.Actor {
	t.Helper()
	_, token, err := f.Invite(t.Context(), Operator, workspace, email, role)
	if err != nil {
		t.Fatal(err)
	}
	u, _, err := f.AcceptAsNew(t.Context(), people.Origin{}, token, email, password)
	if err != nil {
		t.Fatal(err)
	}
	return u.Actor(people.Origin{})
}

// Staff adds a user of each rank, and returns them as actors.
func (f *Fixture) Staff(t testing.TB) map[string]people.Actor {
	t.Helper()
	admin, err := f.People().CreateAdministrator(t.Context(), Operator, "administrator@shop.example", password)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]people.Actor{"administrator": admin.Actor(people.Origin{})}
	for who, workspace := range map[string]string{"stranger": "bob", "viewer": "ada", "manager": "ada", "owner": "ada"} {
		role := store.Role(who)
		if who == "stranger" {
			role = store.RoleOwner
		}
		all[who] = f.MemberOf(t, workspace, role, who+"@shop.example")
	}
	return all
}

// MustCreate creates a key and returns it with its value.
func (f *Fixture) MustCreate(t testing.TB, n store.NewKey) (store.Key, string) {
	t.Helper()
	if n.Name == "" {
		n.Name = "web"
	}
	if n.Class == "" {
		n.Class = store.ClassSecret
	}
	k, token, err := f.CreateKey(t.Context(), Operator, n)
	if err != nil {
		t.Fatal(err)
	}
	return k, token
}

// ActorOf is who acts with a key.
func (f *Fixture) ActorOf(t testing.TB, token string) people.Actor {
	t.Helper()
	access, err := f.Validation.Authenticate(t.Context(), token, Client)
	if err != nil {
		t.Fatal(err)
	}
	return access.Actor
}

// MustRekey makes a new key file.
func (f *Fixture) MustRekey(t testing.TB) {
	t.Helper()
	if _, err := f.Rekey(t.Context(), Operator); err != nil {
		t.Fatal(err)
	}
}
