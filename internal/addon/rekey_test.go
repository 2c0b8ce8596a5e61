package addon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// rekeyable is an addon with everything that its key file seals.
type rekeyable struct {
	*addontest.Fixture
	pair       credential.Values
	webhook    events.SecretText
	totpSecret string
	recovery   []string
}

const (
	adminEmail    = "ana@site.example"
	adminPassword = "four quiet green words"
)

func newRekeyable(t *testing.T, f *addontest.Fixture) *rekeyable {
	t.Helper()
	ctx := t.Context()
	r := &rekeyable{Fixture: f}
	_, pair, err := f.Credentials.Reveal(ctx, operator, 1)
	must.Do(t, err)
	r.pair = pair
	must.Get(f.Settings.SetServiceAccount(ctx, operator, 0, addontest.ServiceAccount(nil)))(t)
	f.MustPublish(t, "")
	f.MustMake(t, addontest.NewLicenseStore(t).Order())
	if _, r.webhook, err = f.Events.AddWebhook(ctx, operator, "https://site.example/hooks", nil); err != nil {
		t.Fatal(err)
	}
	u, err := f.Instance.People.CreateAdministrator(ctx, operator, adminEmail, adminPassword)
	must.Do(t, err)
	ana := people.Actor{Kind: people.KindUser, ID: adminEmail, User: u.ID, Administrator: true, FrontEnd: people.FrontEndPage, Addr: client}
	begun, err := f.Instance.People.BeginTOTP(ctx, ana, adminPassword, "Countersign")
	must.Do(t, err)
	r.totpSecret = begun.Secret
	if _, r.recovery, err = f.Instance.People.ConfirmTOTP(ctx, ana, 0, r.code(t)); err != nil {
		t.Fatal(err)
	}
	f.Clock.Move(time.Minute)
	f.Instance.Chain.SealNow(ctx)
	return r
}

func (r *rekeyable) code(t *testing.T) string {
	t.Helper()
	code := must.Get(totp.GenerateCode(r.totpSecret, r.Clock.Now()))(t)
	return code
}

func (r *rekeyable) keyFile() string { return filepath.Join(r.At.Dir, keyfile.FileName) }

func (r *rekeyable) loseKeyFile(t *testing.T) {
	t.Helper()
	must.Do(t, os.Remove(r.keyFile()))
}

// unprepared opens the same addon without looking for its key file, as the command does.
func (r *rekeyable) unprepared(t *testing.T) *addontest.Fixture {
	t.Helper()
	return addontest.New(t, r.At, r.Clock)
}

// signIn signs ana in with a code at the second step.
func signIn(t *testing.T, f *addontest.Fixture, code string) error {
	t.Helper()
	from := people.Origin{Addr: client}
	in := must.Get(f.Instance.People.SignIn(t.Context(), from, adminEmail, adminPassword))(t)
	if !in.NeedsCode {
		t.Fatal("the password alone signs in")
	}
	return f.Instance.People.SignInCode(t.Context(), from, in.User.ID, code)
}

// wantKept wants everything that was sealed to be readable, or dropped with a way on.
func (r *rekeyable) wantKept(t *testing.T, f *addontest.Fixture, kept bool) {
	t.Helper()
	ctx := t.Context()
	lost := func(code string) string { return map[bool]string{false: code}[kept] }
	_, pair, err := f.Credentials.Reveal(ctx, operator, 1)
	addontest.WantError(t, err, lost("credential_not_kept"))
	if kept && pair != r.pair {
		t.Error("another pair is revealed")
	}
	_, err = f.Credentials.Basic(ctx, client, r.pair.Key, r.pair.Secret)
	addontest.WantError(t, err, lost("credential_not_kept"))
	if _, ok, err := f.IAP.TestServiceAccount(ctx, operator); err != nil || ok != kept {
		t.Errorf("the service account can be read: %t, %v", ok, err)
	}
	known, err := f.Licenses.List(ctx, user)
	if err != nil || len(known.Files) != 1 || len(known.Codes) != 1 {
		t.Fatalf("licenses %+v", known)
	}
	_, err = f.Licenses.Make(ctx, user, license.Order{Kept: known.Codes[0].ID, Store: "https://other.example", Domain: "site.example"})
	addontest.WantError(t, err, map[bool]string{true: "code_of_other_store", false: "purchase_code_not_kept"}[kept])
	secret, err := f.Events.RevealSecret(ctx, operator, 1)
	addontest.WantError(t, err, lost("webhook_secret_lost"))
	if kept && secret != r.webhook {
		t.Error("another secret is revealed")
	}
	addontest.WantError(t, signIn(t, f, r.code(t)), lost("totp_unreadable"))
	addontest.WantError(t, signIn(t, f, r.recovery[0]), "")
	r.recovery = r.recovery[1:]
	r.Clock.Move(time.Minute)
}

func planned(p addon.RekeyPlan) []string {
	list := slices.Clone(p.Users)
	for _, c := range p.Credentials {
		list = append(list, fmt.Sprintf("%d %s", c.ID, c.Label))
	}
	for _, s := range p.Accounts {
		list = append(list, s.ClientEmail)
	}
	for _, c := range p.Codes {
		list = append(list, c.Hint)
	}
	for _, w := range p.Webhooks {
		list = append(list, w.URL)
	}
	return list
}

func TestRekey(t *testing.T) {
	cases := []struct {
		name   string
		before func(t *testing.T, r *rekeyable)
		lost   bool
	}{
		{"with the key file, everything is sealed anew", func(*testing.T, *rekeyable) {}, false},
		{"without it, what was sealed is dropped", func(t *testing.T, r *rekeyable) { r.loseKeyFile(t) }, true},
		{"with another's, what was sealed is dropped", func(t *testing.T, r *rekeyable) {
			r.loseKeyFile(t)
			must.Get(keyfile.Create(r.At.Dir))(t)
		}, true},
		{"with half a file, what was sealed is dropped", func(t *testing.T, r *rekeyable) {
			must.Do(t, os.WriteFile(r.keyFile(), []byte("countersign-key-1:AAAA"), 0o600))
		}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
				r := newRekeyable(t, f)
				old := f.Instance.Gate.Box()
				c.before(t, r)
				r.wantRekeyed(t, c.lost)
				again := f.Again(t)
				if again.Instance.Gate.Box().Matches(old.Check()) {
					t.Error("the key file is the old one")
				}
				r.wantKept(t, again, !c.lost)
				if lines := strings.Join(again.Audits(t), "\n"); !strings.Contains(lines, "tester addon.rekey") {
					t.Errorf("no entry in\n%s", lines)
				}
				if plan, err := again.PlanRekey(t.Context()); err != nil || !plan.Nothing() {
					t.Errorf("a second one would drop %q, %v", planned(plan), err)
				}
			})
		})
	}
}

// wantRekeyed runs a rekey and wants it to plan and to drop the same: all or nothing.
func (r *rekeyable) wantRekeyed(t *testing.T, lost bool) {
	t.Helper()
	f := r.unprepared(t)
	plan := must.Get(f.PlanRekey(t.Context()))(t)
	done := must.Get(f.Rekey(t.Context(), operator))(t)
	want := []string(nil)
	if lost {
		want = []string{adminEmail, "1 First pair", "billing@tuneful-1.iam.example", "7c0f…8e37", "https://site.example/hooks"}
	}
	if !slices.Equal(planned(plan), want) || !slices.Equal(planned(done), want) {
		t.Errorf("planned %q, dropped %q; want %q", planned(plan), planned(done), want)
	}
}

// What was dropped is repaired by the commands that doctor and the list name.
func TestWhatARekeyDroppedIsRepaired(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		r := newRekeyable(t, f)
		r.loseKeyFile(t)
		g := r.unprepared(t)
		if finding := found(t, g.Doctor(t.Context()), "set-up"); !strings.Contains(finding.Fix, "countersign addon rekey") {
			t.Errorf("doctor says %+v", finding)
		}
		must.Get(g.Rekey(t.Context(), operator))(t)
		if finding := found(t, g.Doctor(t.Context()), "API credentials"); finding.Level != health.Fail || finding.Fix != "countersign addon api rotate 1" {
			t.Errorf("doctor says %+v", finding)
		}
		if _, _, err := g.Credentials.Rotate(t.Context(), operator, 1); err != nil {
			t.Error(err)
		}
		if _, err := g.Settings.SetServiceAccount(t.Context(), operator, 0, addontest.ServiceAccount(nil)); err != nil {
			t.Error(err)
		}
		g.MustPublish(t, "")
		for _, name := range []string{"API credentials", "service account", "audit log"} {
			if finding := found(t, g.Doctor(t.Context()), name); finding.Level == health.Fail {
				t.Errorf("doctor says %+v", finding)
			}
		}
	})
}

func TestRekeyThatFailsChangesNothing(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		r := newRekeyable(t, f)
		refuse := `CREATE TRIGGER refuse BEFORE INSERT ON audit WHEN NEW.action = 'addon.rekey' BEGIN SELECT RAISE(ABORT, 'refused'); END`
		if f.At.Engine == dbtest.Postgres {
			refuse = `ALTER TABLE audit ADD CHECK (action <> 'addon.rekey')`
		}
		must.Get(f.Instance.Database.Queries().Exec(t.Context(), refuse))(t)
		if _, err := r.unprepared(t).Rekey(t.Context(), operator); err == nil {
			t.Fatal("it went through")
		}
		r.wantKept(t, f.Again(t), true)
	})
}

// A rekey that was killed after its commit, before the new key file was in place, is
// ended by the next program, or by a second rekey.
func TestInterruptedRekeyIsFinished(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		r := newRekeyable(t, f)
		before := must.Get(os.ReadFile(r.keyFile()))(t)
		interrupt := func() {
			must.Do(t, os.Rename(r.keyFile(), r.keyFile()+".new"))
			must.Do(t, os.WriteFile(r.keyFile(), before, 0o600))
		}
		for range 2 { // the second begins where the first was killed
			must.Get(r.unprepared(t).Rekey(t.Context(), operator))(t)
			interrupt()
		}
		r.wantKept(t, f.Again(t), true)
	})
}

func TestRekeyRefuses(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		f := addontest.New(t, at, dbtest.NewClock(noon))
		_, err := f.Rekey(t.Context(), operator)
		addontest.WantError(t, err, "update_needed")
		_, err = f.Rekey(t.Context(), user)
		addontest.WantError(t, err, "not_allowed")
	})
}

func TestRekeyNamesThePurchasesWhoseTokensAreLost(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		now := sqldb.Time{Time: noon}
		purchase := addondb.Purchase{
			Name: "pur_one", Platform: "store", TokenDigest: []byte("digest"), Status: "active", StatusSince: now, ReadAt: now, CreatedAt: now,
			Sealed: f.Instance.Gate.Box().Seal("purchase tokens pur_one", []byte(`{"token":"one"}`)),
		}
		must.Do(t, f.DB().Tx(t.Context(), func(tx *addondb.DB) error {
			_, err := tx.AddPurchase(t.Context(), purchase)
			return err
		}))
		if plan, err := f.PlanRekey(t.Context()); err != nil || len(plan.Purchases) != 0 {
			t.Errorf("%q, %v", plan.Purchases, err)
		}
		must.Get(addontest.New(t, f.At, f.Clock).Rekey(t.Context(), operator))(t)
		g := f.Again(t)
		kept := must.Get(g.DB().Purchase(t.Context(), "pur_one"))(t)
		if plain, err := g.Instance.Gate.Box().Open("purchase tokens pur_one", kept.Sealed); err != nil || string(plain) != `{"token":"one"}` || string(kept.TokenDigest) == "digest" {
			t.Errorf("%s, %v", plain, err)
		}
		must.Do(t, os.Remove(filepath.Join(f.At.Dir, keyfile.FileName)))
		plan, err := addontest.New(t, f.At, f.Clock).Rekey(t.Context(), operator)
		if err != nil || !slices.Equal(plan.Purchases, []string{"pur_one"}) {
			t.Errorf("%q, %v", plan.Purchases, err)
		}
	})
}

// On PostgreSQL the server is on another machine: a rekey can't be seen in its data folder.
func TestServerStopsWhenItsKeyFileWasReplaced(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		at := f.At
		if at.URL != "" {
			at.Dir = t.TempDir()
			text := must.Get(os.ReadFile(filepath.Join(f.At.Dir, keyfile.FileName)))(t)
			must.Do(t, os.WriteFile(filepath.Join(at.Dir, keyfile.FileName), text, 0o600))
		}
		server := addontest.New(t, at, f.Clock)
		live := feedLive(server)
		ended := make(chan error, 1)
		go func() { ended <- server.Run(t.Context()) }()
		<-live
		addontest.WantError(t, server.Instance.Ready(t.Context()), "")
		must.Get(addontest.New(t, f.At, f.Clock).Rekey(t.Context(), operator))(t)
		addontest.WantError(t, <-ended, "key_replaced")
		_, err := server.Settings.Draft(t.Context(), operator)
		addontest.WantError(t, err, "unavailable")
		addontest.WantError(t, server.Instance.Ready(t.Context()), "unavailable")
	})
}
