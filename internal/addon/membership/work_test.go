package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
)

func TestAnAcknowledgementSurvivesACrashAndIsAlarmed(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.store.refusing = unavailable
		o := f.bought(t, "ana", "token", "gold_monthly")
		if o.Purchase.Acknowledged || !o.Membership.Active {
			t.Errorf("%+v", o)
		}
		if got := f.due(KindAcknowledge, o.Purchase.ID); !got.Equal(noon.Add(inlineWait)) {
			t.Errorf("due at %s", got)
		}
		f.mu.Lock()
		clear(f.tasks)
		f.mu.Unlock()
		if err := f.Start(t.Context()); err != nil { // another process
			t.Fatal(err)
		}
		if failed := f.run(t); len(failed) != 1 {
			t.Error(failed)
		}
		if alerts, err := f.Alerts(t.Context(), program); err != nil || len(alerts) != 0 {
			t.Errorf("%+v, %v", alerts, err)
		}
		f.clock.Move(time.Hour)
		f.run(t)
		alerts, err := f.Alerts(t.Context(), program)
		if err != nil || len(alerts) != 1 || alerts[0].Kind != alertUnacknowledged || alerts[0].Subject != o.Purchase.ID {
			t.Errorf("%+v, %v", alerts, err)
		}
		f.store.refusing = nil
		f.run(t)
		if alerts, err := f.Alerts(t.Context(), program); err != nil || len(alerts) != 0 || f.store.count("acknowledge token") != 1 {
			t.Errorf("%+v, %v", alerts, err)
		}
		if got := f.due(KindAcknowledge, o.Purchase.ID); !got.IsZero() {
			t.Errorf("still due at %s", got)
		}
	})
}

func TestAPurchaseIsReadAgainBeforeAnotherAcknowledgement(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for name, arrange := range map[string]func(){
			"the answer was lost":      func() { f.store.silent = true },
			"somebody else's answered": func() { f.store.refusing = unavailable },
		} {
			token := strings.ReplaceAll(name, " ", "-")
			arrange()
			o := f.bought(t, token, token, "gold_monthly")
			if o.Purchase.Acknowledged {
				t.Errorf("%s: acknowledged", name)
			}
			f.store.silent, f.store.refusing = false, nil
			read := f.store.count(token)
			f.clock.Move(inlineWait)
			if failed := f.run(t); len(failed) > 0 {
				t.Error(failed)
			}
			p, err := f.db.Purchase(t.Context(), o.Purchase.ID)
			if err != nil || !p.Acknowledged || !p.AcknowledgeSince.IsZero() || f.store.count(token) != read+1 || f.store.count("acknowledge "+token) != 1 {
				t.Errorf("%s: %+v, read %d times, acknowledged %d times, %v", name, p, f.store.count(token)-read, f.store.count("acknowledge "+token), err)
			}
		}
	})
}

func TestActivePurchasesWithoutNewsAreReadOnceADaySpread(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		names := []string{}
		for _, token := range []string{"one", "two", "three", "four"} {
			names = append(names, f.bought(t, "ana", token, "gold_monthly").Purchase.ID)
		}
		f.clock.Move(4 * 24 * time.Hour)
		f.mustVerify(t, "ana", "four") // news
		again, err := f.doSweep(t.Context(), nil)
		if err != nil || !again.Equal(f.now().Add(24*time.Hour)) {
			t.Errorf("again at %s, %v", again, err)
		}
		due := []time.Duration{}
		for _, name := range names[:3] {
			due = append(due, f.due(KindReread, name).Sub(f.now()))
		}
		if slices.Sort(due); due[0] != 0 || due[2] <= due[1] || due[1] <= due[0] || due[2] > 23*time.Hour {
			t.Errorf("due after %v", due)
		}
		if !f.due(KindReread, names[3]).IsZero() {
			t.Error("the one with news is read")
		}
		f.clock.Move(23 * time.Hour)
		asked := f.store.count("one")
		f.run(t)
		expect.Equalf(t, f.store.count("one"), asked+1, "not read")
	})
}

// A transaction of all tasks would keep everybody else from writing meanwhile.
func TestTasksOfManyPurchasesArePutInPieces(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		const many = 2*putAtOnce + 1
		old := at(noon.Add(-30 * 24 * time.Hour))
		must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error {
			for i := range many {
				p := addondb.Purchase{
					Name: fmt.Sprintf("pur_%d", i), Platform: platform, TokenDigest: fmt.Append(nil, i), Status: string(entitle.Active), Access: true,
					StatusSince: old, ReadAt: old, CreatedAt: old, AcknowledgeSince: old, Sealed: []byte{},
				}
				if _, err := tx.AddPurchase(t.Context(), p); err != nil {
					return err
				}
			}
			return nil
		}))
		sweep := func(ctx context.Context) error { _, err := f.doSweep(ctx, nil); return err }
		for kind, work := range map[string]func(context.Context) error{KindReread: sweep, KindAcknowledge: f.Start} {
			inOne, left := map[*addondb.DB]int{}, putAtOnce+1
			f.Service.put = func(ctx context.Context, tx *addondb.DB, task jobs.Task) error {
				if left--; left < 0 {
					return errors.New("the disk is full")
				}
				inOne[tx]++
				return f.put(ctx, tx, task)
			}
			if err := work(t.Context()); err == nil || len(inOne) != 2 {
				t.Errorf("%s: tasks in %d transactions, %v", kind, len(inOne), err)
			}
			left = 2 * many
			if err := work(t.Context()); err != nil {
				t.Error(err)
			}
			for i := range many {
				if f.due(kind, fmt.Sprintf("pur_%d", i)).IsZero() {
					t.Errorf("%s: no task for purchase %d", kind, i)
				}
			}
			for _, n := range inOne {
				if n > putAtOnce {
					t.Errorf("%s: %d tasks in one transaction", kind, n)
				}
			}
		}
	})
}

func TestTheCatalogueIsComparedWithTheProductMap(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		subjects := func() (list []string) {
			must.Get(f.doCatalogue(t.Context(), nil))(t)
			alerts := must.Get(f.Alerts(t.Context(), program))(t)
			for _, a := range alerts {
				list = append(list, a.Subject)
			}
			return list
		}
		whole := []play.Product{active("gold_monthly", false), active("silver_monthly", false)}
		for _, c := range []struct {
			name     string
			products []play.Product
			want     []string
		}{
			{"all are sold", whole, nil},
			{"one is missing", whole[:1], []string{"silver_monthly"}},
			{"one is not active", []play.Product{whole[0], {ID: "silver_monthly"}}, []string{"silver_monthly"}},
			{"all are sold again", whole, nil},
		} {
			f.store.products = c.products
			if got := subjects(); !slices.Equal(got, c.want) {
				t.Errorf("%s: %q", c.name, got)
			}
		}
	})
}

func TestSilenceIsAlarmedOnlyWhilePurchasesAreRenewed(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		alarmed := func() bool {
			must.Get(f.doSilence(t.Context(), nil))(t)
			alerts := must.Get(f.Alerts(t.Context(), program))(t)
			return slices.ContainsFunc(alerts, func(a Alert) bool { return a.Kind == alertSilence })
		}
		f.bought(t, "ana", "token", "gold_monthly")
		if alarmed() {
			t.Error("alarmed without renewals")
		}
		f.change("token", renewed)
		f.clock.Move(month.Sub(noon) + time.Minute)
		f.run(t)
		if !alarmed() {
			t.Error("not alarmed")
		}
		f.receive(t, notification("m1", 2, "token"))
		if alarmed() {
			t.Error("alarmed although a notification arrived")
		}
	})
}

func TestAMembershipTokenIsSignedForAppsWithoutAConnection(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		o := f.bought(t, "ana", "token", "gold_monthly")
		text := must.Get(f.Sign(t.Context(), "https://site.example", "ana", o.Membership))(t)
		keys := must.Get(f.PublicKeys(t.Context()))(t)
		var claims tokenClaims
		signed, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.EdDSA})
		if err == nil {
			err = signed.Claims(keySet(t, keys), &claims)
		}
		if err != nil || claims.Subject != "ana" || claims.Issuer != "https://site.example" || claims.PackageID != gold || claims.Version != 1 ||
			!claims.Expiry.Time().Equal(noon.Add(tokenLife)) {
			t.Errorf("%+v, %v", claims, err)
		}
		again, err := f.PublicKeys(t.Context())
		if err != nil || string(again) != string(keys) {
			t.Errorf("another key, %v", err)
		}
		o.Membership.Active = false
		if text, err := f.Sign(t.Context(), "", "ana", o.Membership); text != "" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestANewKeyFileKeepsPurchasesIdentitiesAndTheSigningKey(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		intent := must.Get(f.Intend(t.Context(), "ana", nil))(t)
		f.sell("one", sub("silver_monthly", intent.AccountID))
		f.sell("two", linked("gold_monthly", intent.AccountID, "one"))
		f.mustVerify(t, "ana", "two")
		f.receive(t, notification("m1", 4, "two"))
		keys := must.Get(f.PublicKeys(t.Context()))(t)
		f.rekey(t, false)
		if o := f.mustVerify(t, "ana", "two"); o.Result != ResultUnchanged {
			t.Errorf("%+v", o)
		}
		f.mustVerify(t, "ana", "one")
		f.wantStatus(t, "one", entitle.Superseded)
		if again, err := f.PublicKeys(t.Context()); err != nil || string(again) != string(keys) {
			t.Errorf("another key, %v", err)
		}
		f.rekey(t, true)
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.mustVerify(t, "ana", "two") // as the app restores it
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
	})
}

// rekey brings the fixture to a new key file. With lost, the old one can't be read any more.
func (f *fixture) rekey(t *testing.T, lost bool) {
	t.Helper()
	old := f.box()
	fresh := must.Get(keyfile.Create(t.TempDir()))(t)
	if lost {
		old = nil
	}
	names, err := LostTokens(t.Context(), f.db, old)
	if err != nil || len(names) > 0 != lost {
		t.Errorf("%q lost, %v", names, err)
	}
	must.Do(t, f.db.Tx(t.Context(), func(tx *addondb.DB) error {
		if err := tx.SetMeta(t.Context(), keyfile.CheckName, fresh.Check()); err != nil {
			return err
		}
		return Reseal(t.Context(), tx, old, fresh)
	}))
	f.access.Open(fresh)
}

func keySet(t *testing.T, text []byte) jose.JSONWebKeySet {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil || len(set.Keys) != 1 || !set.Keys[0].IsPublic() {
		t.Fatalf("%s, %v", text, err)
	}
	return set
}

func TestNothingIsWrittenWithAKeyFileThatWasReplaced(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "one", "gold_monthly")
		f.sell("two", sub("gold_monthly", f.accountOf("ben")))
		fresh := must.Get(keyfile.Create(t.TempDir()))(t)
		if err := f.db.SetMeta(t.Context(), keyfile.CheckName, fresh.Check()); err != nil { // by a rekey meanwhile
			t.Fatal(err)
		}
		_, err := f.Verify(t.Context(), "ben", "two", "")
		wantCode(t, err, "key_replaced")
		wantCode(t, f.Receive(t.Context(), notification("m1", 4, "two"), []byte(`{}`)), "key_replaced")
		f.wantMembership(t, "ben", entitle.None, 0, 0)
	})
}

func TestAmountsHaveAllTheirDecimals(t *testing.T) {
	for want, m := range map[string]play.Money{
		"4.99": {Units: 4, Nanos: 990_000_000}, "500.00": {Units: 500}, "1.255": {Units: 1, Nanos: 255_000_000}, "0.50": {Nanos: 500_000_000},
		"-0.50": {Nanos: -500_000_000}, "-2.25": {Units: -2, Nanos: -250_000_000}, "0.000000001": {Nanos: 1},
	} {
		expect.Equal(t, decimal(m), want)
	}
}
