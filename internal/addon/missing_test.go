package addon_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// removeDatabase takes the database of a place away: the SQLite file, or all tables.
func removeDatabase(t *testing.T, at dbtest.DB) {
	t.Helper()
	if at.Engine == dbtest.Postgres {
		at.Clear(t)
		return
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(filepath.Join(at.Dir, addon.Product.DatabaseName()+end)); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func TestKeyFileBesideNoDatabaseIsNotANewAddon(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.Updated(t, at)
		must.Do(t, f.Close())
		removeDatabase(t, at)
		for name, act := range map[string]func(a *addon.Addon) error{
			"the server":      func(a *addon.Addon) error { return a.PrepareToServe(t.Context()) },
			"a command":       func(a *addon.Addon) error { return a.Prepare(t.Context()) },
			"an update":       func(a *addon.Addon) error { _, err := a.Setup.Update(t.Context(), operator, nil); return err },
			"a plan":          func(a *addon.Addon) error { _, err := a.Setup.Plan(t.Context(), operator); return err },
			"a set-up link":   func(a *addon.Addon) error { _, _, err := a.Setup.NewLink(t.Context(), operator); return err },
			"accepted losses": func(a *addon.Addon) error { return a.Instance.AcceptLoss(t.Context(), operator, a.PrepareToServe) },
		} {
			for _, look := range []bool{true, false} {
				a, err := addon.Open(t.Context(), addon.Options{Options: instance.Options{Dir: at.Dir, URL: at.URL, NoCreate: look, Now: f.Clock.Now}})
				if err == nil {
					err = errors.Join(act(a), a.Close())
				}
				if addontest.CodeOf(err) != "database_missing" || !strings.Contains(err.Error(), "countersign.key") {
					t.Errorf("%s, look %t: %v", name, look, err)
				}
			}
		}
		for _, name := range []string{"countersign.key", "addon.commits"} {
			if err := os.Remove(filepath.Join(at.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		addontest.Updated(t, at)
	})
}

func TestReadyOnlyWithItsContent(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		addontest.WantError(t, f.Instance.Ready(t.Context()), "")
		must.Get(f.DB().Exec(t.Context(), `DELETE FROM meta`))(t)
		addontest.WantError(t, f.Instance.Ready(t.Context()), "unavailable")
	})
}

func TestAddonThatLacksCommitsServesOnceThatIsAccepted(t *testing.T) {
	f := addontest.Updated(t, dbtest.New(t, dbtest.SQLite))
	must.Do(t, f.Close())
	path := sqldb.CommitFile(filepath.Join(f.At.Dir, addon.Product.DatabaseName()))
	must.Do(t, os.WriteFile(path, []byte("00000000000000001000\n"), 0o600))
	g := addontest.New(t, f.At, f.Clock)
	addontest.WantError(t, g.PrepareToServe(t.Context()), sqldb.CodeBehind)
	addontest.WantError(t, g.DB().Tx(t.Context(), func(*addondb.DB) error { return nil }), sqldb.CodeBehind)
	addontest.WantError(t, g.Instance.AcceptLoss(t.Context(), people.Operator("ada"), g.PrepareToServe), "")
	again := addontest.New(t, f.At, f.Clock)
	addontest.WantError(t, again.PrepareToServe(t.Context()), "")
	if audits := strings.Join(again.Audits(t), "\n"); !strings.Contains(audits, "addon.accept_loss") {
		t.Errorf("the audit log: %s", audits)
	}
}
