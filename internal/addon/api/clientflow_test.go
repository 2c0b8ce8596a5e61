package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play/playfake"
)

// serve serves the API over real HTTP.
func (s *seller) serve(t testing.TB) *httptest.Server {
	t.Helper()
	o := options()
	o.Now = s.clock.Now
	server := httptest.NewServer(api.New(s.Addon, o))
	t.Cleanup(server.Close)
	return server
}

func (s *seller) siteClient(address string) *countersign.AddonClient {
	return &countersign.AddonClient{BaseURL: address, Key: s.pair.Key, Secret: s.pair.Secret, Now: s.clock.Now, Retries: -1}
}

// appClient is the app of a user, who got a token from the site.
func (s *seller) appClient(t testing.TB, address, user string) *countersign.AppClient {
	t.Helper()
	token := must.Get(s.siteClient(address).UserToken(t.Context(), user))(t)
	return &countersign.AppClient{BaseURL: address, Key: s.pair.Key, UserToken: token.Token, Retries: -1}
}

// From the first look at the shop to the purchase that the site revokes, by the Go client alone.
func TestTheGoClientsOfAnAppAndItsSite(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		address := s.serve(t).URL
		app, site, ctx := s.appClient(t, address, "Müşik ♪/7?"), s.siteClient(address), t.Context()

		config, err := app.IAPConfig(ctx)
		if must.Do(t, err); !config.Enabled || config.Platforms.Store.PackageName != "com.cafe.social" || len(config.Products) != 2 {
			t.Errorf("%+v", config)
		}
		none, err := app.Membership(ctx, countersign.IAPMembershipRead{})
		if must.Do(t, err); none.Active || none.Status != "none" || none.ETag == "" {
			t.Errorf("before the purchase: %+v", none)
		}
		intent, err := app.Intent(ctx, nil)
		must.Do(t, err)
		token, err := s.play.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Account: intent.AccountID})
		must.Do(t, err)
		verified, err := app.VerifyPurchase(ctx, token, "gold_monthly")
		if must.Do(t, err); verified.Result != "created" || verified.Pending() || !verified.Purchase.Acknowledged || verified.Membership.Package.Name != "Gold" {
			t.Errorf("%+v", verified)
		}
		read, err := app.Membership(ctx, none)
		if must.Do(t, err); !read.Active || read.ETag == none.ETag {
			t.Errorf("after the purchase: %+v", read)
		}
		again, err := app.Membership(ctx, read)
		if must.Do(t, err); again.Version != read.Version || !again.Active || again.ETag != read.ETag {
			t.Errorf("unchanged: %+v", again)
		}
		signed, err := app.SignedMembership(ctx, countersign.IAPMembershipRead{})
		if must.Do(t, err); signed.Token == "" {
			t.Errorf("signed: %+v", signed)
		}
		byTheSite, err := site.UserMembership(ctx, "Müşik ♪/7?", countersign.IAPMembershipRead{})
		if must.Do(t, err); byTheSite.Version != read.Version || !byTheSite.Active {
			t.Errorf("the site reads %+v", byTheSite)
		}
		page, err := app.Purchases(ctx, "", 1)
		if must.Do(t, err); len(page.Purchases) != 1 || page.Next != nil || page.Purchases[0].ID != verified.Purchase.ID {
			t.Errorf("%+v", page)
		}
		feed, err := site.Events(ctx, 0, 10, 25*time.Second)
		if must.Do(t, err); len(feed.Events) != 1 || feed.Missed {
			t.Fatalf("%+v", feed)
		}
		event, err := feed.Events[0].Decode()
		if must.Do(t, err); event.Type != "membership.activated" || event.UserID != "Müşik ♪/7?" || event.Membership.Version != read.Version || event.Purchase.ID != verified.Purchase.ID {
			t.Errorf("%+v", event)
		}
		feed, err = site.Events(ctx, feed.Cursor, 0, 0)
		if must.Do(t, err); len(feed.Events) != 0 || feed.Cursor != 1 {
			t.Errorf("after the last event: %+v", feed)
		}
	})
}

// What the site does with a purchase reaches the store and the user.
func TestTheGoClientActsOnPurchases(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		address := s.serve(t).URL
		site, ctx := s.siteClient(address), t.Context()
		verified := must.Get(s.appClient(t, address, "7").VerifyPurchase(ctx, s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"}), ""))(t)
		id := verified.Purchase.ID
		refreshed, err := site.RefreshPurchase(ctx, id)
		if must.Do(t, err); refreshed.ID != id || !refreshed.AutoRenewing {
			t.Errorf("%+v", refreshed)
		}
		canceled, err := site.CancelPurchase(ctx, id, false)
		if must.Do(t, err); canceled.AutoRenewing || canceled.State != "active" {
			t.Errorf("canceled: %+v", canceled)
		}
		moved, err := site.TransferPurchase(ctx, id, "8", "Changed accounts")
		if must.Do(t, err); moved.ID != id {
			t.Errorf("moved: %+v", moved)
		}
		page, err := site.UserPurchases(ctx, "8", "", 0)
		if must.Do(t, err); len(page.Purchases) != 1 || page.Purchases[0].ID != id {
			t.Errorf("%+v", page)
		}
		revoked, err := site.RevokePurchase(ctx, id, false)
		if must.Do(t, err); revoked.State != "revoked" {
			t.Errorf("revoked: %+v", revoked)
		}
		var refused *countersign.Error
		if _, err := site.RefreshPurchase(ctx, "pur_unknown"); !errors.As(err, &refused) || refused.Code != "not_found" || refused.Retryable() {
			t.Errorf("an unknown purchase: %v", err)
		}
	})
}

func TestTheGoClientGrantsMemberships(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		site, ctx := s.siteClient(s.serve(t).URL), t.Context()
		for _, user := range []string{"7", "...", "a/../b", "%2F"} {
			until := s.clock.Now().Add(24 * time.Hour)
			granted, err := site.Grant(ctx, user, 1, until, "Prize")
			if must.Do(t, err); granted.UserID != user || granted.PackageID != 1 || !granted.Until.Equal(until) {
				t.Errorf("%q: %+v", user, granted)
			}
			read, err := site.UserMembership(ctx, user, countersign.IAPMembershipRead{})
			if must.Do(t, err); !read.Active || *read.Source != "grant" {
				t.Errorf("%q: %+v", user, read)
			}
			ended, err := site.RemoveGrant(ctx, user, granted.ID)
			if must.Do(t, err); ended.EndedAt == nil {
				t.Errorf("%q: %+v", user, ended)
			}
			all, err := site.Grants(ctx, user)
			if must.Do(t, err); len(all) != 1 || all[0].ID != granted.ID || all[0].EndedAt == nil {
				t.Errorf("%q: %+v", user, all)
			}
		}
		var refused *countersign.Error
		if _, err := site.Grant(ctx, "7", 99, time.Time{}, "Prize"); !errors.As(err, &refused) || refused.Code != "package_not_found" {
			t.Errorf("a package that does not exist: %v", err)
		}
	})
}

// An app tells apart what is pending, what is refused, and what it tries again.
func TestTheGoClientSaysWhatBecomesOfAPurchase(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		address := s.serve(t).URL
		app, ctx := s.appClient(t, address, "7"), t.Context()
		unpaid := s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly", Pending: true})
		verified, err := app.VerifyPurchase(ctx, unpaid, "")
		if must.Do(t, err); !verified.Pending() || verified.Membership.Active {
			t.Errorf("not paid yet: %+v", verified)
		}
		theirs := s.buy(t, "8", playfake.BuyOptions{ProductID: "silver_monthly"})
		restored, err := app.RestorePurchases(ctx, []string{unpaid, theirs})
		if must.Do(t, err); len(restored.Results) != 2 || restored.Results[0].Error != nil || restored.Results[1].Error.Code != "owned_by_other_user" {
			t.Errorf("%+v", restored)
		}
		if sum := sha256.Sum256([]byte(theirs)); restored.Results[1].TokenSHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%+v", restored.Results[1])
		}
		mine := s.buy(t, "7", playfake.BuyOptions{ProductID: "silver_monthly"})
		for _, tt := range []struct {
			rule, code, product string
			kind                countersign.Kind
			retryable           bool
			disturb             func()
		}{
			{"another product", "product_mismatch", "gold_monthly", countersign.KindUnprocessable, false, func() {}},
			{"an old user token", "user_token_expired", "", countersign.KindUnauthorized, false, func() { s.pass(time.Hour) }},
		} {
			tt.disturb()
			var refused *countersign.Error
			if _, err := app.VerifyPurchase(ctx, mine, tt.product); !errors.As(err, &refused) || refused.Kind != tt.kind || refused.Code != tt.code || refused.Retryable() != tt.retryable {
				t.Errorf("%s: %v", tt.rule, err)
			}
		}
		app = s.appClient(t, address, "7")
		s.play.FailQuota(1, time.Minute)
		queued, err := app.VerifyPurchase(ctx, mine, "")
		if must.Do(t, err); queued.Result != "queued" || !queued.Pending() {
			t.Errorf("while the store does not answer: %+v", queued)
		}
	})
}
