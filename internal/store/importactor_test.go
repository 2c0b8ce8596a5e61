package store

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/transfer"
)

// An import belongs to the user who started it, and needs that user's rights at its start and at its end.
func TestAnImportOfSomebodyWhoLostTheRightWritesNothing(t *testing.T) {
	administrator := func(t *testing.T, f *fixture) people.Actor {
		a, another := f.memberOf(t, "ada", RoleViewer), f.memberOf(t, "bob", RoleViewer)
		for _, user := range []int64{a.User, another.User} {
			if _, err := f.People().SetAdministrator(t.Context(), operator, user, true); err != nil {
				t.Fatal(err)
			}
		}
		a.Administrator = true
		return a
	}
	cases := []struct {
		name  string
		actor func(*testing.T, *fixture) people.Actor
		lose  func(*testing.T, *fixture, people.Actor) error
	}{
		{"a demoted administrator", administrator, func(t *testing.T, f *fixture, a people.Actor) error {
			_, err := f.People().SetAdministrator(t.Context(), operator, a.User, false)
			return err
		}},
		{"an administrator who was deactivated", administrator, func(t *testing.T, f *fixture, a people.Actor) error {
			_, err := f.People().DeactivateUser(t.Context(), operator, a.User)
			return err
		}},
		{"a manager who was removed", func(t *testing.T, f *fixture) people.Actor { return f.memberOf(t, "ada", RoleManager) }, func(t *testing.T, f *fixture, a people.Actor) error {
			_, err := f.RemoveMember(t.Context(), operator, "ada", a.User)
			return err
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) {
				a, file := c.actor(t, f), lines(purchaseText("ada", 1, "late"))+strings.Repeat("\n", 200_000)
				n := transfer.NewImport{File: "a.jsonl", Workspace: "ada"}
				id, err := f.begin(t.Context(), a, n, file)
				if err != nil {
					t.Fatal(err)
				}
				other := f.again(t)
				_, err = f.Transfer.Import(t.Context(), a, &meddler{strings.NewReader(file), func() {
					if err := c.lose(t, other, a); err != nil {
						t.Error(err)
					}
				}}, transfer.ImportOptions{Workspace: "ada"})
				if err == nil {
					t.Error("an import under way went on")
				}
				f.runJobs(t)
				job, err := f.Transfer.Progress(t.Context(), operator, id)
				if err != nil || job.State != jobs.Failed || f.rows(t, "purchases") != 0 {
					t.Errorf("%+v, %v, %d purchases", job, err, f.rows(t, "purchases"))
				}
			})
		})
	}
}
