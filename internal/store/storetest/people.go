package storetest

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
)

// KeyNamed is the key of a workspace that has a name.
func (f *Fixture) KeyNamed(t testing.TB, workspace, name string) store.Key {
	t.Helper()
	keys := must.Get(f.Keys(t.Context(), Operator, workspace))(t)
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
	must.Do(t, err)
	u, _, err := f.AcceptAsNew(t.Context(), people.Origin{}, token, email, password)
	must.Do(t, err)
	return u.Actor(people.Origin{})
}

// Staff adds a user of each rank, and returns them as actors.
func (f *Fixture) Staff(t testing.TB) map[string]people.Actor {
	t.Helper()
	admin := must.Get(f.Instance.People.CreateAdministrator(t.Context(), Operator, "administrator@shop.example", password))(t)
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
	must.Do(t, err)
	return k, token
}

// ActorOf is who acts with a key.
func (f *Fixture) ActorOf(t testing.TB, token string) people.Actor {
	t.Helper()
	access := must.Get(f.Validation.Authenticate(t.Context(), token, Client))(t)
	return access.Actor
}

// MustRekey makes a new key file.
func (f *Fixture) MustRekey(t testing.TB) {
	t.Helper()
	must.Get(f.Rekey(t.Context(), Operator))(t)
}
