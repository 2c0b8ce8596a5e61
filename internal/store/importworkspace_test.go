package store

import (
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/transfer"
)

// memberOf adds somebody with a role in a workspace.
func (f *fixture) memberOf(t *testing.T, workspace string, role Role) people.Actor {
	t.Helper()
	email := string(role) + "." + workspace + "@shop.example"
	_, token, err := f.Invite(t.Context(), operator, workspace, email, role)
	if err != nil {
		t.Fatal(err)
	}
	user, _, err := f.AcceptAsNew(t.Context(), people.Origin{}, token, email, "four quiet green words")
	if err != nil {
		t.Fatal(err)
	}
	return people.Actor{Kind: people.KindUser, ID: email, User: user.ID}
}

func TestManagersImportIntoTheirWorkspaceAlone(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		manager := f.memberOf(t, "ada", RoleManager)
		file := lines(itemText("ada", 70), purchaseText("ada", 70, "hers"), itemText("bob", 80), purchaseText("bob", 3, "his"), itemText("ada", 3),
			workspaceText("eve"), keyText("ada", "mine"))
		id, err := f.begin(t.Context(), manager, uploadedAs("a.jsonl"), file)
		if err != nil {
			t.Fatal(err)
		}
		f.runJobs(t)
		report, rejected, err := f.Transfer.Result(t.Context(), manager, id)
		if err != nil || report.Items.New != 1 || report.Purchases.New != 1 || report.Bad != 5 || !report.Written {
			t.Fatalf("%+v, %v", report, err)
		}
		defer rejected.Close()
		text, err := io.ReadAll(rejected)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"line,reason,text\n", `3,"the line is of the workspace ""bob""; this import is into ada",`, "\n4,", "\n5,item 3 already exists", `a line of the type ""workspace""`, `a line of the type ""key""`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("the rejected lines lack %q: %s", want, text)
			}
		}
		if got := f.newestAudit(t); got.Workspace != "ada" || got.Action != "store.import" {
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
	shops(t, func(t *testing.T, f *fixture) {
		hers := f.start(t, transfer.NewImport{File: "a.jsonl", Workspace: "ada"}, lines(itemText("ada", 70)))
		his := f.start(t, transfer.NewImport{File: "b.jsonl", Workspace: "bob"}, lines(itemText("bob", 80)))
		f.runJobs(t)
		if _, err := f.database.Queries().Exec(t.Context(), `UPDATE jobs SET result = 'unreadable' WHERE id = $1`, his); err != nil {
			t.Fatal(err)
		}
		all, err := f.Transfer.Jobs(t.Context(), operator, "ada")
		if err != nil || len(all) != 1 || all[0].ID != hers || !all[0].CanBeUndone() {
			t.Errorf("%+v, %v", all, err)
		}
		if _, err := f.Transfer.Jobs(t.Context(), operator, "bob"); err == nil {
			t.Error("the job of bob was read all the same")
		}
	})
}

func TestOnlyManagersOfAWorkspaceSeeItsImports(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		n := transfer.NewImport{File: "a.jsonl", Workspace: "ada"}
		id := f.start(t, n, lines(itemText("ada", 70)))
		bob, err := f.Workspace(t.Context(), operator, "bob")
		if err != nil {
			t.Fatal(err)
		}
		inBob := operator
		inBob.Workspace = bob.ID
		cases := []struct {
			name  string
			actor people.Actor
			job   int64
			code  string
		}{
			{"a viewer", f.memberOf(t, "ada", RoleViewer), id, "role_needed"},
			{"the owner of another workspace", f.memberOf(t, "bob", RoleOwner), id, "job_not_found"},
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
			if _, err := f.begin(t.Context(), want.actor, want.n, ""); !fault.HasCode(err, want.code) {
				t.Errorf("%s: %v, want %s", name, err, want.code)
			}
		}
		if _, err := f.Transfer.Jobs(t.Context(), other, "ada"); !fault.HasCode(err, "workspace_not_found") {
			t.Error(err)
		}
	})
}
