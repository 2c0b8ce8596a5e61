package membership

import (
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play"
)

func TestTwoUsersRacingWithOneTokenOneHundredTimes(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		other := opened(t, f.at) // another process
		other.store = f.store
		other.openStore = f.openStore
		for round := range 100 {
			token := "race-" + string(rune('a'+round/26)) + string(rune('a'+round%26))
			account := ""
			if round%2 == 0 {
				account = f.accountOf("ben")
			}
			f.sell(token, sub("gold_monthly", account))
			errs := map[string]error{}
			var mu sync.Mutex
			var all sync.WaitGroup
			for user, s := range map[string]*fixture{"ana": f, "ben": other} {
				all.Go(func() {
					_, err := s.Verify(t.Context(), user, token, "")
					mu.Lock()
					defer mu.Unlock()
					errs[user] = err
				})
			}
			all.Wait()
			p, err := f.db.PurchaseByToken(t.Context(), platform, digestOf(f.box(), token))
			if err != nil {
				t.Fatal(round, err)
			}
			loser := map[string]string{"ana": "ben", "ben": "ana"}[p.UserID]
			if errs[p.UserID] != nil || !fault.HasCode(errs[loser], "owned_by_other_user") || account != "" && p.UserID != "ben" {
				t.Fatalf("round %d: %s has it; %v", round, p.UserID, errs)
			}
		}
	})
}

func TestTwoVerificationsAtOnceOfOneUserAreOnePurchase(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.sell("token", sub("gold_monthly", f.accountOf("ana")))
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if o, err := f.Verify(t.Context(), "ana", "token", ""); err != nil || !o.Membership.Active {
					t.Errorf("%+v, %v", o, err)
				}
			})
		}
		all.Wait()
		f.wantMembership(t, "ana", entitle.Active, gold, 1)
		f.wantEvents(t, "activated ana")
		if list, _, err := f.Purchases(t.Context(), "ana", "", 0); err != nil || len(list) != 1 {
			t.Errorf("%d purchases, %v", len(list), err)
		}
	})
}

func TestAnAnswerThatIsOlderThanWhatIsStoredIsNotWritten(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		f.eventTypes()
		f.store.asked = func(string) { // the answer is on its way while a refund is processed
			f.store.asked = nil
			f.change("token", func(s *play.Subscription) { s.State = play.Expired })
			if err := f.Receive(t.Context(), notification("m1", 12, "token"), []byte(`{}`)); err != nil {
				t.Error(err)
			}
			f.run(t)
		}
		o, err := f.Verify(t.Context(), "ana", "token", "")
		if err != nil || o.Membership.Status != "revoked" {
			t.Errorf("%+v, %v", o.Membership, err)
		}
		f.wantEvents(t, "revoked ana")
	})
}

func TestAPurchaseThatChangesWithoutEndIsAConflict(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.bought(t, "ana", "token", "gold_monthly")
		end := month
		f.store.asked = func(string) {
			p, err := f.db.PurchaseByToken(t.Context(), platform, digestOf(f.box(), "token"))
			end = end.Add(time.Hour)
			p.Reads++
			if err == nil {
				err = f.db.UpdatePurchase(t.Context(), p)
			}
			if err != nil {
				t.Error(err)
			}
		}
		_, err := f.Verify(t.Context(), "ana", "token", "")
		wantCode(t, err, "conflict")
	})
}

func TestMembershipsOfOneUserFromManySourcesAtOnce(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.placeTimeout, f.claimTimeout = time.Hour, time.Hour
		var all sync.WaitGroup
		for i := range 8 {
			token, product := "token-"+string(rune('a'+i)), "silver_monthly"
			if i == 5 {
				product = "gold_monthly"
			}
			f.sell(token, sub(product, f.accountOf("ana")))
			all.Go(func() {
				if _, err := f.Verify(t.Context(), "ana", token, ""); err != nil {
					t.Error(err)
				}
			})
			all.Go(func() {
				if _, err := f.AddGrant(t.Context(), program, "ana", silver, time.Time{}, "support"); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		m, err := f.Membership(t.Context(), "ana")
		if err != nil || m.Membership.Package == nil || m.Membership.Package.ID != gold {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// A membership is deleted while others derive it again.
func TestAUserWhoIsErasedMeanwhileGetsWhatComesAfterwards(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		for range 30 {
			var all sync.WaitGroup
			for range 2 {
				all.Go(func() {
					if _, err := f.AddGrant(t.Context(), program, "ana", silver, time.Time{}, "support"); err != nil {
						t.Error(err)
					}
				})
			}
			all.Go(func() {
				if _, err := f.Erase(t.Context(), program, "ana", true); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
		}
	})
}
