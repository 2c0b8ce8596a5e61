package access

import (
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

func TestMay(t *testing.T) {
	secret := people.Actor{Kind: people.KindKey, Workspace: 1, Secret: true}
	publishable := people.Actor{Kind: people.KindKey, Workspace: 1, Item: 7}
	cases := []struct {
		name                    string
		actor                   people.Actor
		validate, read, managed bool
	}{
		{"the operator may do everything", people.Operator("tester"), true, true, true},
		{"a secret key validates and reads", secret, true, true, false},
		{"a publishable key validates", publishable, true, false, false},
		{"nobody may do nothing", people.Actor{}, false, false, false},
		{"a publishable key without an item opens no more", people.Actor{Kind: people.KindKey, Workspace: 1}, true, false, false},
		{"an unknown kind may do nothing", people.Actor{Kind: "user"}, false, false, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for what, want := range map[Action]bool{ValidatePurchases: c.validate, ReadWorkspace: c.read, Manage: c.managed} {
				if err := May(c.actor, what); (err == nil) != want {
					t.Errorf("action %d: %v, want allowed: %t", what, err, want)
				} else if err != nil && !fault.HasCode(err, "key_scope") {
					t.Errorf("action %d: %v", what, err)
				}
			}
		})
	}
}
