package play_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// testKeys returns two keys that all tests share, because generating them takes a while.
var testKeys = sync.OnceValues(func() (account, push *rsa.PrivateKey) {
	account, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	push, err = rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return account, push
})

// newStore returns a simulated Play.
func newStore(t *testing.T) *playfake.Store {
	t.Helper()
	account, push := testKeys()
	s := must.Get(playfake.New(playfake.Options{
		AccountKey: account, PushKey: push,
		Audience: "https://example.com/notifications", PushAccount: "push@example.iam.gserviceaccount.com",
	}))(t)
	return s
}

// serve returns the address of a server that answers for a store.
func serve(t *testing.T, s *playfake.Store) string {
	t.Helper()
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

// optionsOf returns the options of a client for a store over HTTP.
func optionsOf(t *testing.T, s *playfake.Store) play.Options {
	t.Helper()
	file := must.Get(s.ServiceAccount())(t)
	return play.Options{ServiceAccount: file, Package: s.Package(), URL: serve(t, s), Now: s.Now}
}

// open returns a client for a store over HTTP.
func open(t *testing.T, s *playfake.Store) *play.Client {
	t.Helper()
	return openWith(t, optionsOf(t, s))
}

func openWith(t *testing.T, o play.Options) *play.Client {
	t.Helper()
	return must.Get(play.Open(o))(t)
}

// buy buys a subscription.
func buy(t *testing.T, s *playfake.Store, o playfake.BuyOptions) string {
	t.Helper()
	if o.ProductID == "" {
		o.ProductID = "gold_monthly"
	}
	return must.Get(s.Buy(o))(t)
}

// get reads a subscription.
func get(t *testing.T, c *play.Client, token string) play.Subscription {
	t.Helper()
	return must.Get(c.Subscription(t.Context(), token))(t)
}

// wantReason checks the reason of an error.
func wantReason(t *testing.T, err error, want play.Reason) *play.Error {
	t.Helper()
	playErr, ok := errors.AsType[*play.Error](err)
	if !ok {
		t.Fatalf("the error is %v, want a *play.Error with the reason %q", err, want)
	}
	if playErr.Reason != want {
		t.Fatalf("the reason is %q (%v), want %q", playErr.Reason, err, want)
	}
	return playErr
}

func TestASubscriptionIsReadAndAcknowledged(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{Account: "account-1", Profile: "profile-1"})
	begin := s.Now()

	found := get(t, c, token)
	if found.State != play.Active || found.Acknowledged || found.Account != "account-1" || found.Profile != "profile-1" || found.Region != "DE" || found.Test {
		t.Errorf("the purchase is %+v", found)
	}
	if len(found.Items) != 1 {
		t.Fatalf("%d items, want 1", len(found.Items))
	}
	i := found.Items[0]
	if i.ProductID != "gold_monthly" || i.BasePlanID != "monthly" || i.Phase != "base" || !i.AutoRenews || i.Prepaid || i.OrderID == "" {
		t.Errorf("the item is %+v", i)
	}
	if want := begin.AddDate(0, 1, 0); !i.ExpiresAt.Equal(want) {
		t.Errorf("it ends at %v, want %v", i.ExpiresAt, want)
	}
	if *i.Price != (play.Money{Currency: "EUR", Units: 4, Nanos: 990_000_000}) {
		t.Errorf("the price is %+v", *i.Price)
	}

	for range 2 { // it can be repeated
		must.Do(t, c.Acknowledge(t.Context(), "gold_monthly", token, "", ""))
	}
	if !get(t, c, token).Acknowledged {
		t.Error("the purchase is not acknowledged")
	}
	s.Advance(31 * 24 * time.Hour)
	if after := get(t, c, token); after.State != play.Active || !after.Items[0].ExpiresAt.Equal(begin.AddDate(0, 2, 0)) {
		t.Errorf("after a month: %s until %v", after.State, after.Items[0].ExpiresAt)
	}
}

func TestTheRoundTripperNeedsNoListener(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	o.URL, o.Transport = "", s.Transport()
	c := openWith(t, o)
	token := buy(t, s, playfake.BuyOptions{})
	expect.Equalf(t, get(t, c, token).State, play.Active, "the state")
	ctx, cancel := context.WithCancel(t.Context())
	s.Hang(1)
	cancel()
	_, err := c.Subscription(ctx, token)
	if wantReason(t, err, play.Unavailable); !errors.Is(err, context.Canceled) {
		t.Errorf("the error %v is not that of the context", err)
	}
}

func TestAnAddressMayHaveAPath(t *testing.T) {
	s := newStore(t)
	server := httptest.NewServer(http.StripPrefix("/google", s.Handler()))
	defer server.Close()
	for _, address := range []string{server.URL + "/google", server.URL + "/google/"} {
		o := optionsOf(t, s)
		o.URL = address
		c := openWith(t, o)
		get(t, c, buy(t, s, playfake.BuyOptions{}))
		if list, err := c.Pull(t.Context(), "projects/simulated/subscriptions/play", 1); err != nil || len(list) != 1 {
			t.Errorf("pulled %v, %v", list, err)
		}
	}
}
