package api_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
	"github.com/countersign/countersign/internal/webtest"
)

// What the notifications of the simulated Play have to name.
const (
	pushAudience = "https://cafe.example/api-addons/iap/notifications/store"
	pushAccount  = "push@cafe-1.iam.gserviceaccount.com"
)

// seller is a site whose app sells in a simulated Play.
type seller struct {
	*site
	play   *playfake.Store
	oracle *webtest.Oracle
	down   *atomic.Bool // the simulated Play does not answer
}

// newSeller opens a site and publishes what it needs to sell.
func newSeller(t testing.TB, at dbtest.DB) *seller {
	t.Helper()
	store := must.Get(playfake.New(playfake.Options{
		Package: "com.cafe.social", Start: today, AccountKey: addontest.Key(), PushKey: addontest.Key(), Audience: pushAudience, PushAccount: pushAccount,
	}))(t)
	down, answers := new(atomic.Bool), store.Handler()
	google := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		answers.ServeHTTP(w, r)
	}))
	t.Cleanup(google.Close)
	s := newSiteAt(t, at, google.URL).update(t)
	for _, p := range []iap.Package{{ID: 1, Name: "Silver", Rank: 1, Paid: true}, {ID: 2, Name: "Gold", Rank: 2, Paid: true}} {
		must.Do(t, s.IAP.AddPackage(t.Context(), operator, p))
	}
	account := must.Get(store.ServiceAccount())(t)
	must.Get(s.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{
		iap.KeyEnabled: "1", iap.KeyPackageName: "com.cafe.social", iap.KeyServiceAccount: string(account),
		iap.KeyProductMap:   `{"store":{"silver_monthly":1,"gold_monthly":2}}`,
		iap.KeyPushAudience: pushAudience, iap.KeyPushServiceAccount: pushAccount,
	}))(t)
	must.Get(s.Settings.Publish(t.Context(), operator, 0, "Shop"))(t)
	return &seller{s, store, oracle(t), down}
}

// pass moves both clocks.
func (s *seller) pass(d time.Duration) {
	s.clock.Move(d)
	s.play.Advance(d)
}

// account is the obfuscated account id of a user.
func (s *seller) account(t testing.TB, user string) string {
	t.Helper()
	intent := must.Get(s.Members.Intend(t.Context(), user, nil))(t)
	return intent.AccountID
}

// buy buys in the simulated Play for a user, "" for no account id.
func (s *seller) buy(t testing.TB, user string, o playfake.BuyOptions) string {
	t.Helper()
	if user != "" {
		o.Account = s.account(t, user)
	}
	return must.Get(s.play.Buy(o))(t)
}

// selling is a site for the scripts: user-7 has a token for gold and one that is not paid yet,
// user-8 one for silver, and user-9 has a verified purchase.
func selling(t testing.TB, at dbtest.DB) *site {
	t.Helper()
	s := newSeller(t, at)
	s.more = map[string]string{
		"gold":     s.buy(t, "user-7", playfake.BuyOptions{ProductID: "gold_monthly"}),
		"pending":  s.buy(t, "user-7", playfake.BuyOptions{ProductID: "silver_monthly", Pending: true}),
		"unmapped": s.buy(t, "user-7", playfake.BuyOptions{ProductID: "extra_storage"}),
		"theirs":   s.buy(t, "user-8", playfake.BuyOptions{ProductID: "silver_monthly"}),
	}
	verified := must.Get(s.Members.Verify(t.Context(), "user-9", s.buy(t, "user-9", playfake.BuyOptions{ProductID: "gold_monthly"}), ""))(t)
	s.more["purchase"] = verified.Purchase.ID
	bearer, body, err := s.play.Push(s.play.SendTest())
	must.Do(t, err)
	s.more["push"], s.more["push_body"] = bearer, string(body)
	return s.site
}
