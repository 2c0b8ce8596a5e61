package pages_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

// What the notifications of the simulated Play have to name.
const (
	pushAudience = "https://site.example/api-addons/iap/notifications/store"
	pushAccount  = "push@rain-1.iam.gserviceaccount.com"
)

// seller is a site whose app sells in a simulated Play.
type seller struct {
	*site
	play *playfake.Store
	down *atomic.Bool // the simulated Play does not answer
}

// sellers runs fn with a site that sells on both engines.
func sellers(t *testing.T, fn func(t *testing.T, s *seller)) {
	t.Helper()
	t.Parallel()
	updatedSite.AnEngine(t, func(t *testing.T, at dbtest.DB) { fn(t, newSeller(t, at)) })
}

// newSeller opens a copy of updatedSite and publishes what it needs to sell.
func newSeller(t *testing.T, at dbtest.DB) *seller {
	t.Helper()
	store := must.Get(playfake.New(playfake.Options{
		Package: "com.example.rain", Start: noon, AccountKey: addontest.Key(), PushKey: addontest.Key(), Audience: pushAudience, PushAccount: pushAccount,
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
	s := &seller{newSiteAt(t, at, google.URL, nil), store, down}
	s.mustPackage(t, 1, "Silver", true)
	s.mustPackage(t, 2, "Gold", true)
	account := must.Get(store.ServiceAccount())(t)
	must.Get(s.Settings.SetServiceAccount(t.Context(), operator, 0, account))(t)
	s.mustSet(t, iap.KeyEnabled, "1", iap.KeyPackageName, "com.example.rain", iap.KeyProductMap, `{"store":{"silver_monthly":1,"gold_monthly":2}}`,
		iap.KeyPushAudience, pushAudience, iap.KeyPushServiceAccount, pushAccount)
	s.mustPublish(t, "Shop")
	return s
}

// pass moves both clocks.
func (s *seller) pass(d time.Duration) {
	s.clock.Move(d)
	s.play.Advance(d)
}

// buy buys for a user and has the app verify it. It returns the token and the purchase's id.
func (s *seller) buy(t *testing.T, user string, o playfake.BuyOptions) (token, id string) {
	t.Helper()
	intent, err := s.Members.Intend(t.Context(), user, nil)
	must.Do(t, err)
	o.Account = intent.AccountID
	if token, err = s.play.Buy(o); err != nil {
		t.Fatal(err)
	}
	return token, s.verify(t, user, token)
}

// verify has the app of a user verify a token, and returns the purchase's id.
func (s *seller) verify(t *testing.T, user, token string) string {
	t.Helper()
	o := must.Get(s.Members.Verify(t.Context(), user, token, ""))(t)
	return o.Purchase.ID
}
