package store

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/licensing"
)

// A purchase that is found by the digest of another code is damage, not an unknown code.
func TestDigestWithAnotherTextIsDamage(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada", Class: ClassSecret})
		actor := f.actorOf(t, token)
		purchase, err := f.CreatePurchase(t.Context(), operator, "ada", Purchase{Code: "whole", ItemID: 1, License: countersign.LicenseRegular})
		if err != nil {
			t.Fatal(err)
		}
		execute(t, f, `UPDATE purchases SET code = 'damaged' WHERE code = 'whole'`)
		for name, ask := range map[string]func() error{
			"a validation":        func() error { _, err := f.Validation.Validate(t.Context(), actor, "WHOLE"); return err },
			"a check by operator": func() error { _, err := f.Validation.Check(t.Context(), operator, "whole"); return err },
			"a refund":            func() error { _, err := f.EndPurchase(t.Context(), operator, "whole", StateRefunded); return err },
			"a license": func() error {
				_, err := f.Licensing.Issue(t.Context(), buyer, issuer, "whole", "shop.example")
				return err
			},
			"a check of a license": func() error {
				_, err := f.Licensing.Check(t.Context(), buyer, licensing.CheckRequest{Code: "whole", Domain: "shop.example"})
				return err
			},
		} {
			before := f.Validation.Damages()
			err := ask()
			ours, ok := errors.AsType[*countersign.Error](err)
			if !ok || ours.Kind != countersign.KindInternal || ours.Code != "database_damaged" {
				t.Errorf("%s: %v", name, err)
			}
			if f.Validation.Damages() != before+1 {
				t.Errorf("%s: %d were counted", name, f.Validation.Damages()-before)
			}
			if strings.Contains(err.Error(), "whole") || strings.Contains(err.Error(), purchase.Code) {
				t.Errorf("%s: the error names the code: %v", name, err)
			}
		}
		if _, err := f.Validation.Validate(t.Context(), actor, "unknown"); !hasErrorCode(err, "purchase_not_found") {
			t.Errorf("an unknown code: %v", err)
		}
	})
}

func hasErrorCode(err error, code string) bool {
	ours, ok := errors.AsType[*countersign.Error](err)
	return ok && ours.Code == code
}

// behind is a store whose database is an older copy than its commit file.
func behind(t *testing.T) *fixture {
	t.Helper()
	f := prepared(t, twoShopsStore.New(t, dbtest.SQLite))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, sqldb.CommitFile(filepath.Join(f.at.Dir, DatabaseName)), "00000000000000000009\n")
	return f
}

func TestCommitsThatAreMissingStopAServerUntilItsOperatorAccepts(t *testing.T) {
	f := behind(t)
	s := opened(t, optionsOf(f.at, f.clock))
	wantError(t, s.PrepareToServe(t.Context()), sqldb.CodeBehind)

	command := opened(t, optionsOf(f.at, f.clock))
	wantError(t, command.Prepare(t.Context()), "") // what only reads works
	if _, err := command.Workspace(t.Context(), operator, "ada"); err != nil {
		t.Error(err)
	}
	wantError(t, command.Behind(), sqldb.CodeBehind)
	_, _, err := command.CreateKey(t.Context(), operator, NewKey{Workspace: "ada", Name: "web", Class: ClassSecret})
	wantError(t, err, sqldb.CodeBehind)

	wantError(t, s.AcceptLoss(t.Context(), people.Operator("ada")), "")
	wantError(t, s.Ready(t.Context()), "")
	again := prepared(t, f.at)
	wantError(t, again.PrepareToServe(t.Context()), "")
	if audits := again.audits(t); !strings.Contains(strings.Join(audits, "\n"), "store.accept_loss") {
		t.Errorf("the audit log: %v", audits)
	}
}
