package transfer_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

// memberOf adds somebody with a role in a workspace.
func memberOf(t *testing.T, f *storetest.Fixture, workspace string, role store.Role) people.Actor {
	t.Helper()
	return f.MemberOf(t, workspace, role, string(role)+"."+workspace+"@shop.example")
}

func TestManagersImportIntoTheirWorkspaceAlone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manager := memberOf(t, f, "ada", store.RoleManager)
		file := storetest.Lines(storetest.ItemText("ada", 70), storetest.PurchaseText("ada", 70, "hers"), storetest.ItemText("bob", 80), storetest.PurchaseText("bob", 3, "his"), storetest.ItemText("ada", 3),
			storetest.WorkspaceText("eve"), storetest.KeyText("ada", "mine"))
		id := must.Get(storetest.Begin(t.Context(), f.Transfer, manager, storetest.UploadedAs("a.jsonl"), file))(t)
		storetest.RunJobs(t, f.Transfer.Queue())
		report, rejected, err := f.Transfer.Result(t.Context(), manager, id)
		if err != nil || report.Items.New != 1 || report.Purchases.New != 1 || report.Bad != 5 || !report.Written {
			t.Fatalf("%+v, %v", report, err)
		}
		defer rejected.Close()
		text, err := io.ReadAll(rejected)
		must.Do(t, err)
		for _, want := range []string{"line,reason,text\n", `3,"the line is of the workspace ""bob""; this import is into ada",`, "\n4,", "\n5,item 3 already exists", `a line of the type ""workspace""`, `a line of the type ""key""`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the rejected lines lack %q: %s", want, text)
			}
		}
		if got := f.NewestAudit(t); got.Workspace != "ada" || got.Action != "store.import" {
			t.Errorf("%+v", got)
		}
		if undone, err := f.Transfer.UndoJob(t.Context(), manager, id, false); err != nil || !undone.Written || undone.Items.Removed != 1 {
			t.Errorf("%+v, %v", undone, err)
		}
		all, err := f.Transfer.Jobs(t.Context(), manager, "ada")
		if err != nil || len(all) != 1 || all[0].ID != id || all[0].UndoneAt.IsZero() || all[0].CanBeUndone() {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

func TestTheImportsOfAWorkspaceAreReadAlone(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		hers := f.StartImport(t, transfer.NewImport{File: "a.jsonl", Workspace: "ada"}, storetest.Lines(storetest.ItemText("ada", 70)))
		his := f.StartImport(t, transfer.NewImport{File: "b.jsonl", Workspace: "bob"}, storetest.Lines(storetest.ItemText("bob", 80)))
		storetest.RunJobs(t, f.Transfer.Queue())
		f.Execute(t, fmt.Sprintf(`UPDATE jobs SET result = 'unreadable' WHERE id = %d`, his))
		all, err := f.Transfer.Jobs(t.Context(), storetest.Operator, "ada")
		if err != nil || len(all) != 1 || all[0].ID != hers || !all[0].CanBeUndone() {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := f.Transfer.Jobs(t.Context(), storetest.Operator, "bob"); err == nil {
			t.Error("the job of bob was read all the same")
		}
	})
}

func TestOnlyManagersOfAWorkspaceSeeItsImports(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		n := transfer.NewImport{File: "a.jsonl", Workspace: "ada"}
		id := f.StartImport(t, n, storetest.Lines(storetest.ItemText("ada", 70)))
		bob := must.Get(f.Workspace(t.Context(), storetest.Operator, "bob"))(t)
		inBob := storetest.Operator
		inBob.Workspace = bob.ID
		cases := []struct {
			name  string
			actor people.Actor
			job   int64
			code  string
		}{
			{"a viewer", memberOf(t, f, "ada", store.RoleViewer), id, "role_needed"},
			{"the owner of another workspace", memberOf(t, f, "bob", store.RoleOwner), id, "job_not_found"},
			{"somebody in bob", inBob, id, "job_not_found"},
		}
		for _, c := range cases {
			_, progress := f.Transfer.Progress(t.Context(), c.actor, c.job)
			_, _, result := f.Transfer.Result(t.Context(), c.actor, c.job)
			_, undo := f.Transfer.UndoJob(t.Context(), c.actor, c.job, true)
			for name, err := range map[string]error{"Progress": progress, "Cancel": f.Transfer.Cancel(t.Context(), c.actor, c.job), "Result": result, "Undo": undo} {
				if !fault.HasCode(err, c.code) {
					t.Errorf("%s by %s: %v, want %s", name, c.name, err, c.code)
				}
			}
		}
		viewer, other := cases[0].actor, cases[1].actor
		for name, want := range map[string]struct {
			actor people.Actor
			n     transfer.NewImport
			code  string
		}{
			"a viewer": {viewer, n, "role_needed"}, "a stranger": {other, n, "workspace_not_found"},
		} {
			if _, err := storetest.Begin(t.Context(), f.Transfer, want.actor, want.n, ""); !fault.HasCode(err, want.code) {
				t.Errorf("%s: %v, want %s", name, err, want.code)
			}
		}
		if _, err := f.Transfer.Jobs(t.Context(), other, "ada"); !fault.HasCode(err, "workspace_not_found") {
			t.Error(err)
		}
	})
}

// An import belongs to the user who started it, and needs that user's rights at its start and at its end.
func TestAnImportOfSomebodyWhoLostTheRightWritesNothing(t *testing.T) {
	administrator := func(t *testing.T, f *storetest.Fixture) people.Actor {
		a, another := memberOf(t, f, "ada", store.RoleViewer), memberOf(t, f, "bob", store.RoleViewer)
		for _, user := range []int64{a.User, another.User} {
			must.Get(f.Instance.People.SetAdministrator(t.Context(), storetest.Operator, user, true))(t)
		}
		a.Administrator = true
		return a
	}
	cases := []struct {
		name  string
		actor func(*testing.T, *storetest.Fixture) people.Actor
		lose  func(*testing.T, *storetest.Fixture, people.Actor) error
	}{
		{"a demoted administrator", administrator, func(t *testing.T, f *storetest.Fixture, a people.Actor) error {
			_, err := f.Instance.People.SetAdministrator(t.Context(), storetest.Operator, a.User, false)
			return err
		}},
		{"an administrator who was deactivated", administrator, func(t *testing.T, f *storetest.Fixture, a people.Actor) error {
			_, err := f.Instance.People.DeactivateUser(t.Context(), storetest.Operator, a.User)
			return err
		}},
		{"a manager who was removed", func(t *testing.T, f *storetest.Fixture) people.Actor { return memberOf(t, f, "ada", store.RoleManager) }, func(t *testing.T, f *storetest.Fixture, a people.Actor) error {
			_, err := f.RemoveMember(t.Context(), storetest.Operator, "ada", a.User)
			return err
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				a, file := c.actor(t, f), storetest.Lines(storetest.PurchaseText("ada", 1, "late"))+strings.Repeat("\n", 200_000)
				n := transfer.NewImport{File: "a.jsonl", Workspace: "ada"}
				id := must.Get(storetest.Begin(t.Context(), f.Transfer, a, n, file))(t)
				other := f.Again(t)
				_, err := f.Transfer.Import(t.Context(), a, storetest.NewMeddler(strings.NewReader(file), func() {
					expect.NoError(t, c.lose(t, other, a))
				}), transfer.ImportOptions{Workspace: "ada"})
				if err == nil {
					t.Error("an import under way went on")
				}
				storetest.RunJobs(t, f.Transfer.Queue())
				job, err := f.Transfer.Progress(t.Context(), storetest.Operator, id)
				if err != nil || job.State != jobs.Failed || f.Rows(t, "purchases") != 0 {
					t.Errorf("%+v, %v, %d purchases", job, err, f.Rows(t, "purchases"))
				}
			})
		})
	}
}
