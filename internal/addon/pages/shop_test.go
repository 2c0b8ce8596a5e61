package pages_test

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/play/playfake"
)

// What the notifications of the simulated Play have to name.
const (
	pushAudience = "https://cafe.example/api-addons/iap/notifications/store"
	pushAccount  = "push@cafe-1.iam.gserviceaccount.com"
)

// shop is a site whose app sells in a simulated Play.
type shop struct {
	*site
	play *playfake.Store
}

// newShop opens a site and publishes what it needs to sell.
func newShop(t *testing.T, at dbtest.DB) *shop {
	t.Helper()
	store, err := playfake.New(playfake.Options{
		Package: "com.cafe.social", Start: noon, AccountKey: playKey(), PushKey: playKey(), Audience: pushAudience, PushAccount: pushAccount,
	})
	if err != nil {
		t.Fatal(err)
	}
	google := httptest.NewServer(store.Handler())
	t.Cleanup(google.Close)
	s := newSiteAt(t, at, google.URL, nil)
	if !s.Installed() {
		t.Fatal("the copied addon is not installed")
	}
	s.mustPackage(t, 1, "Silver", true)
	s.mustPackage(t, 2, "Gold", true)
	account, err := store.ServiceAccount()
	if err != nil {
		t.Fatal(err)
	}
	s.mustSet(t, iap.KeyEnabled, "1", iap.KeyPackageName, "com.cafe.social", iap.KeyServiceAccount, string(account),
		iap.KeyProductMap, `{"store":{"silver_monthly":1,"gold_monthly":2}}`, iap.KeyPushAudience, pushAudience, iap.KeyPushServiceAccount, pushAccount)
	s.mustPublish(t, "Shop")
	return &shop{s, store}
}

// shops runs fn with a shop on both engines.
func shops(t *testing.T, fn func(t *testing.T, s *shop)) {
	t.Helper()
	t.Parallel()
	updatedSite.Engines(t, func(t *testing.T, at dbtest.DB) { fn(t, newShop(t, at)) })
}

// pass moves both clocks.
func (s *shop) pass(d time.Duration) {
	s.clock.move(d)
	s.play.Advance(d)
}

// mustBuy buys for a user, and verifies the purchase.
func (s *shop) mustBuy(t *testing.T, user string, o playfake.BuyOptions) (token string) {
	t.Helper()
	intent, err := s.Members.Intend(t.Context(), user, nil)
	if err != nil {
		t.Fatal(err)
	}
	o.Account = intent.AccountID
	if token, err = s.play.Buy(o); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Members.Verify(t.Context(), user, token, ""); err != nil {
		t.Fatal(err)
	}
	return token
}
