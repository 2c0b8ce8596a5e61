package simulator_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestTwoProcessesLoseNothing(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		other := opened(t, f.at)
		var both sync.WaitGroup
		for user, process := range map[string]*fixture{"ana": f, "ben": other} {
			both.Go(func() {
				for range 5 {
					step, err := process.Simulator.Buy(t.Context(), operator, simulator.Order{User: user, Product: "gold_monthly"})
					if err != nil {
						t.Error(err)
						return
					}
					for _, act := range []simulator.Act{simulator.Renew, simulator.Refund} {
						if _, err := process.Simulator.Do(t.Context(), operator, step.Purchase.Ref, act); err != nil {
							t.Errorf("%s: %v", act, err)
						}
					}
				}
			})
		}
		both.Wait()
		list, _, err := f.Simulator.Purchases(t.Context(), operator)
		if err != nil || len(list) != 10 {
			t.Fatalf("%d purchases, %v", len(list), err)
		}
		for _, p := range list {
			if p.State != "expired" || p.ID == "" {
				t.Errorf("%+v", p)
			}
		}
		for _, user := range []string{"ana", "ben"} {
			if read, err := other.Members.Membership(t.Context(), user); err != nil || read.Membership.Status != "revoked" || read.Membership.Version != 15 {
				t.Errorf("%s: %+v, %v", user, read.Membership, err)
			}
		}
	})
}

func TestARestartKeepsTheStoreAndItsClock(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ref := f.buy(t, "ana", "gold_monthly", "").Purchase.Ref
		f.do(t, ref, simulator.Pause)
		before := f.do(t, ref, simulator.Wait).Purchase
		g := opened(t, f.at)
		after, err := g.Simulator.Purchase(t.Context(), operator, ref)
		if err != nil || after.State != "paused" || !after.Next.Equal(before.Next) || !slices.Equal(after.Acts, before.Acts) {
			t.Errorf("%+v, want %+v; %v", after, before, err)
		}
		if _, now, err := g.Simulator.Purchases(t.Context(), operator); err != nil || !now.Equal(before.ExpiresAt) {
			t.Errorf("the clock shows %s, %v", now, err)
		}
		wantStep(t, g.do(t, ref, simulator.Resume), "active", "active", gold, "resumed")
	})
}

// Months pass, and background work renews the subscription. Nothing of it leaves the machine.
func TestASubscriptionRenewsByItself(t *testing.T) {
	t.Parallel()
	google := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("a call left the machine: %s", r.URL.Path) }))
	t.Cleanup(google.Close)
	inTestMode.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		f := opened(t, at, func(o *addon.Options) { o.PlayURL = google.URL })
		f.buy(t, "ana", "gold_monthly", "")
		f.clock.Move(40 * 24 * time.Hour)
		addontest.Run(t, f.Addon)
		f.await(t, "ana", "active", 2)
		list, _, err := f.Simulator.Purchases(t.Context(), operator)
		if err != nil || !list[0].ExpiresAt.Equal(noon.AddDate(0, 2, 0)) {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// await waits for a membership, as the site does.
func (f *fixture) await(t *testing.T, user, status string, version int64) {
	t.Helper()
	for after := int64(0); ; {
		read := must.Get(f.Members.Membership(t.Context(), user))(t)
		if m := read.Membership; m.Version >= version {
			if m.Status != status || m.Version != version {
				t.Errorf("%s has %s of version %d, want %s of %d", user, m.Status, m.Version, status, version)
			}
			return
		}
		feed := must.Get(f.Events.Wait(t.Context(), operator, after, 0, time.Minute))(t)
		after = feed.Cursor
	}
}

func TestClearForgetsThePurchasesAndTheirMemberships(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		ref := f.buy(t, "ana", "silver_monthly", "").Purchase.Ref
		f.buy(t, "ana", "gold_monthly", ref)
		if read, err := f.Members.Membership(ctx, "ana"); err != nil || !read.Membership.Active {
			t.Fatalf("%+v, %v", read.Membership, err)
		}
		wantCode(t, f.Simulator.Clear(ctx, visitor), "not_allowed")
		must.Do(t, f.Simulator.Clear(ctx, operator))
		read, err := f.Members.Membership(ctx, "ana")
		if err != nil || read.Membership.Active || read.Membership.Status != "none" {
			t.Errorf("%+v, %v", read.Membership, err)
		}
		if list, _, err := f.Members.Purchases(ctx, "ana", "", 0); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
		list, now, err := f.Simulator.Purchases(ctx, operator)
		if err != nil || len(list) > 0 || !now.Equal(noon) {
			t.Errorf("%+v at %s, %v", list, now, err)
		}
		wantStep(t, f.buy(t, "ana", "silver_monthly", ""), "active", "active", silver, "activated")
	})
}

func TestTheStoreForgetsAnErasedUserAndFollowsAMerge(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ref := f.buy(t, "ana", "gold_monthly", "").Purchase.Ref
		other := f.buy(t, "carl", "silver_monthly", "").Purchase.Ref
		must.Get(f.Members.Merge(t.Context(), operator, "ana", "ben"))(t)
		if p := f.do(t, ref, simulator.Cancel).Purchase; p.User != "ben" {
			t.Errorf("after a merge, the purchase is %q's", p.User)
		}
		must.Get(f.Members.Erase(t.Context(), operator, "ben", true))(t)
		list, _, err := f.Simulator.Purchases(t.Context(), operator)
		if err != nil || len(list) != 2 {
			t.Fatalf("%d purchases, %v", len(list), err)
		}
		for _, p := range list {
			if want := map[string]string{other: "carl"}[p.Ref]; p.User != want || len(p.Acts) > 0 != (want != "") {
				t.Errorf("%s: %q with %q, want %q", p.Ref, p.User, p.Acts, want)
			}
		}
		if step, err := f.Simulator.LastStep(t.Context(), operator, ref); step != nil || err != nil {
			t.Errorf("the last step is %+v, %v", step, err)
		}
		_, err = f.Simulator.Do(t.Context(), operator, ref, simulator.Expire)
		wantCode(t, err, "not_possible")
		f.do(t, other, simulator.Cancel)
	})
}

// The publication that ends test mode ends the simulated purchases: nobody has paid for them.
func TestSimulatedPurchasesEndWithTestMode(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		f.buy(t, "ana", "gold_monthly", "")
		draft, err := f.Settings.Set(ctx, operator, settings.Edit{}, map[string]string{iap.KeySandboxEnabled: "0"})
		if err != nil || !slices.ContainsFunc(draft.Problems, isEnd) {
			t.Errorf("%+v, %v", draft.Problems, err)
		}
		published, err := f.Settings.Publish(ctx, operator, 0, "Live")
		if err != nil || !slices.ContainsFunc(published.Warnings, isEnd) {
			t.Errorf("%+v, %v", published.Warnings, err)
		}
		f.await(t, "ana", "none", 2)
		if list, _, err := f.Members.Purchases(ctx, "ana", "", 0); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
		first, err := f.Settings.Rollback(ctx, operator, published.Version.Number-1, "Test mode again")
		if err != nil || first.Nothing {
			t.Fatal(err)
		}
		if list, _, err := f.Simulator.Purchases(ctx, operator); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// isEnd reports whether a problem says that one member's purchase ends with test mode.
func isEnd(p settings.Problem) bool {
	return p.Code == "test_mode_ends" && strings.HasPrefix(p.Text, "1 member has ")
}

// An earlier version left the store as it was when test mode ended.
func TestAStoreThatWasLeftBehindAfterTestModeIsEmptied(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx, db := t.Context(), addontest.Database(t, f.at)
		f.buy(t, "ana", "gold_monthly", "")
		sealed := must.Get(db.Simulator(ctx))(t)
		must.Do(t, f.publish(ctx, map[string]string{iap.KeySandboxEnabled: "0"}))
		must.Do(t, db.SetSimulator(ctx, sealed, sqldb.Time{Time: noon}))
		must.Do(t, errors.Join(f.Simulator.Start(ctx), f.RunDue(ctx)))
		if sealed, err := db.Simulator(ctx); err != nil || len(sealed) > 0 {
			t.Errorf("%d bytes, %v", len(sealed), err)
		}
	})
}

func TestANewKeyFileKeepsTheStoreUnlessTheOldOneIsLost(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		ctx := t.Context()
		ref := f.buy(t, "ana", "gold_monthly", "").Purchase.Ref
		if plan, err := opened(t, f.at).Rekey(ctx, operator); err != nil || plan.Simulator {
			t.Fatalf("%+v, %v", plan, err)
		}
		g := opened(t, f.at)
		wantStep(t, g.do(t, ref, simulator.Renew), "active", "active", gold, "renewed")
		must.Do(t, os.Remove(filepath.Join(f.at.Dir, keyfile.FileName)))
		lost := must.Get(open(ctx, f.at))(t)
		plan, err := lost.Rekey(ctx, operator)
		if err != nil || !plan.Simulator || plan.Nothing() {
			t.Errorf("%+v, %v", plan, err)
		}
		expect.NoError(t, lost.Close())
		h := opened(t, f.at)
		if list, _, err := h.Simulator.Purchases(ctx, operator); err != nil || len(list) > 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}
