package setup_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
)

const password = "correct horse battery"

func TestSetupLinkMadeBeforeTheFirstUpdateGoesOnWorking(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		ctx := t.Context()
		f := addontest.New(t, at, dbtest.NewClock(noon))
		token, expires, err := f.Setup.NewLink(ctx, operator)
		if err != nil || !expires.Equal(noon.Add(24*time.Hour)) {
			t.Fatalf("until %v, %v", expires, err)
		}
		file := filepath.Join(at.Dir, setup.LinkFile)
		content, err := os.ReadFile(file)
		if err != nil || string(content) != token+"\n" {
			t.Errorf("the file holds %q, %v", content, err)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		g := addontest.New(t, at, f.Clock) // the server
		addontest.WantError(t, g.Setup.CheckLink(ctx, token), "")
		for _, wrong := range []string{"", "x", token + "x", strings.ToLower(token)} {
			addontest.WantError(t, g.Setup.CheckLink(ctx, wrong), "link_unknown")
		}
		plan, err := g.Setup.Plan(ctx, operator)
		if err != nil || plan.Steps[len(plan.Steps)-1].ID != "setup" {
			t.Errorf("plan %+v, %v", plan, err)
		}
		g.MustUpdate(t)
		if report := g.MustUpdate(t); !report.Nothing {
			t.Errorf("the second update has to do %+v", report.Steps)
		}
		addontest.WantError(t, f.Setup.CheckLink(ctx, token), "")
		must.Get(g.Instance.People.Setup(ctx, people.Origin{Addr: client}, token, "ana@site.example", password))(t)
		if err := f.Setup.CheckLink(ctx, token); err == nil {
			t.Error("the link is good a second time")
		}
		wantNoFile(t, file)
		_, _, err = f.Setup.NewLink(ctx, operator)
		addontest.WantError(t, err, "already_set_up")
	})
}

func wantNoFile(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", path, err)
	}
}

func TestSetupFileGoesWhenAnAdministratorIsMade(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.Updated(t, at)
		if _, _, err := f.Setup.NewLink(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		must.Get(f.Instance.People.CreateAdministrator(t.Context(), operator, "ana@site.example", password))(t)
		wantNoFile(t, filepath.Join(at.Dir, setup.LinkFile))
	})
}

func TestPasswordsAreHashedAtTheRealCostUnlessToldOtherwise(t *testing.T) {
	at := dbtest.New(t, dbtest.SQLite)
	f := addontest.Updated(t, at)
	real := must.Get(addon.Open(t.Context(), addon.Options{Options: instance.Options{Dir: at.Dir, Now: f.Clock.Now}}))(t)
	defer real.Close()
	must.Get(real.Instance.People.CreateAdministrator(t.Context(), operator, "ana@site.example", password))(t)
	u, err := f.Setup.DB().UserNamed(t.Context(), "ana@site.example")
	if err != nil || !strings.HasPrefix(u.Password, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("the hash begins %.40s, %v", u.Password, err)
	}
}

func TestSetupFileGoesWhenItsLinkHasExpired(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		file := filepath.Join(at.Dir, setup.LinkFile)
		for _, state := range []access.State{access.StateNew, access.StateReady} {
			if _, _, err := f.Setup.NewLink(t.Context(), operator); err != nil {
				t.Fatal(err)
			}
			f.Clock.Move(23*time.Hour + 59*time.Minute)
			if wait := f.Setup.LinkFileLasts(); wait != time.Minute {
				t.Errorf("%s: the next look is in %v, want the minute that the link still has", state, wait)
			}
			if err := f.Setup.TidyLinkFile(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: the file of a good link: %v", state, err)
			}
			f.Clock.Move(time.Minute)
			if err := f.Setup.TidyLinkFile(t.Context()); err != nil {
				t.Error(err)
			}
			wantNoFile(t, file)
			f.MustUpdate(t)
		}
		expect.Equalf(t, f.Setup.LinkFileLasts(), time.Hour, "without a file the next look is in")
	})
}

func TestSetupFileThatIsStaleGoesWhenTheServerStarts(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.Updated(t, at)
		must.Get(f.Instance.People.CreateAdministrator(t.Context(), operator, "ana@site.example", password))(t)
		file := filepath.Join(at.Dir, setup.LinkFile)
		if err := os.WriteFile(file, []byte(people.NewLinkToken()+"\n"), 0o600); err != nil { // from a backup
			t.Fatal(err)
		}
		if err := f.Setup.TidyLinkFile(t.Context()); err != nil {
			t.Error(err)
		}
		wantNoFile(t, file)
	})
}

func TestSetupLinkEnds(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		ctx := t.Context()
		f := addontest.New(t, at, dbtest.NewClock(noon))
		first, _, errFirst := f.Setup.NewLink(ctx, operator)
		second, _, errSecond := f.Setup.NewLink(ctx, operator)
		if errFirst != nil || errSecond != nil || first == second {
			t.Fatal(errFirst, errSecond)
		}
		addontest.WantError(t, f.Setup.CheckLink(ctx, first), "link_unknown")
		addontest.WantError(t, f.Setup.CheckLink(ctx, second), "")
		f.Clock.Move(24 * time.Hour)
		addontest.WantError(t, f.Setup.CheckLink(ctx, second), "link_expired")
		plan, err := f.Setup.Plan(ctx, operator)
		if err != nil || len(plan.Steps) != 5 {
			t.Errorf("a link that has expired is taken over: %+v, %v", plan, err)
		}
		f.MustUpdate(t)
		addontest.WantError(t, f.Setup.CheckLink(ctx, second), "link_unknown")
		third, _, err := f.Setup.NewLink(ctx, operator)
		must.Do(t, err)
		addontest.WantError(t, f.Setup.CheckLink(ctx, third), "")
		if err := f.Setup.TidyLinkFile(ctx); err != nil {
			t.Error(err)
		}
		addontest.WantError(t, f.Again(t).Setup.CheckLink(ctx, third), "")
	})
}

func TestSetupFileThatSomebodyDamaged(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		for _, content := range []string{"", "token", "token\n", "token\ngood until tomorrow\n", "\n", people.NewLinkToken() + "\n" + people.NewLinkToken(), "token " + people.NewLinkToken()} {
			must.Do(t, os.WriteFile(filepath.Join(at.Dir, setup.LinkFile), []byte(content), 0o600))
			for _, token := range []string{"", "token"} {
				addontest.WantError(t, f.Setup.CheckLink(t.Context(), token), "link_unknown")
			}
		}
		f.MustUpdate(t)
	})
}

func TestWebTokenIsGoodOnce(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		ctx := t.Context()
		f := addontest.New(t, at, dbtest.NewClock(noon))
		addontest.WantError(t, f.Setup.CheckWebToken(ctx, ""), "update_token")
		first, _, errFirst := f.Setup.NewWebToken(ctx, operator)
		token, expires, errToken := f.Setup.NewWebToken(ctx, operator)
		if errFirst != nil || errToken != nil || !expires.Equal(noon.Add(time.Hour)) {
			t.Fatal(errFirst, errToken, expires)
		}
		content, err := os.ReadFile(filepath.Join(at.Dir, setup.WebTokenFile))
		if err != nil || strings.Contains(string(content), token) {
			t.Errorf("the file holds %q, %v", content, err)
		}
		server := addontest.New(t, at, f.Clock)
		addontest.WantError(t, server.Setup.UseWebToken(ctx, first), "update_token")
		for range 2 {
			addontest.WantError(t, server.Setup.CheckWebToken(ctx, token), "")
		}
		addontest.WantError(t, server.Setup.UseWebToken(ctx, token), "")
		addontest.WantError(t, server.Setup.UseWebToken(ctx, token), "update_token")
		addontest.WantError(t, server.Setup.CheckWebToken(ctx, token), "update_token")
		f.MustUpdate(t)
		late, _, err := f.Setup.NewWebToken(ctx, operator)
		must.Do(t, err)
		if lines := f.Audits(t); lines[len(lines)-1] != "tester update_token.create  [cli]:  -> " {
			t.Errorf("audit %q", lines)
		}
		f.Clock.Move(time.Hour)
		addontest.WantError(t, server.Setup.UseWebToken(ctx, late), "update_token")
	})
}

func TestWebTokenUsedByManyAtOnce(t *testing.T) {
	f := addontest.New(t, dbtest.New(t, dbtest.SQLite), dbtest.NewClock(noon))
	token, _, err := f.Setup.NewWebToken(t.Context(), operator)
	must.Do(t, err)
	var work sync.WaitGroup
	won := make(chan struct{}, 16)
	for range cap(won) {
		work.Go(func() {
			if f.Setup.UseWebToken(t.Context(), token) == nil {
				won <- struct{}{}
			}
		})
	}
	work.Wait()
	expect.Equalf(t, len(won), 1, "used it")
}

// A visitor's link is not answered with the names of files.
func TestSetupLinkWithoutADatabaseSaysNothingOfTheInstallation(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, table := range []string{"meta", "countersign_versions", "people_versions", "addon_versions"} {
			must.Get(f.Setup.DB().Exec(t.Context(), `DROP TABLE IF EXISTS `+table))(t)
		}
		if err := f.Setup.CheckLink(t.Context(), "x"); addontest.CodeOf(err) != "unavailable" || strings.Contains(err.Error(), f.At.Dir) {
			t.Errorf("%v", err)
		}
	})
}
