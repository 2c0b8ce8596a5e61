package api_test

import (
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
)

// The keys and codes of testdata/shop.jsonl that the client uses.
const (
	adaKey       = "ada0000000000000000000000000000000000000000000000000000000000001"
	adaThemeKey  = "csp_AdaPublishable122900000000000000000000000002DnCtg"
	adaLostKey   = "ada000000000000000000000000000000000000000000000000000000000dead"
	bobKey       = "b0b0000000000000000000000000000000000000000000000000000000000001"
	carolKey     = "ca40100000000000000000000000000000000000000000000000000000000001"
	adaCode      = "7c0f3b1e-5d2a-4c44-9b1e-000000000001"
	adaRefunded  = "7c0f3b1e-5d2a-4c44-9b1e-0000000000a1"
	bobRefunded  = "b0b00000-5d2a-4c44-9b1e-0000000000a1"
	adaItem      = 1229
	adaItemTitle = "Café Theme & <Größe> ☕"
)

func TestClientAgainstTheStore(t *testing.T) {
	server := httptest.NewServer(newHandler(openShop(t, shopStore.New(t, dbtest.SQLite)), 0))
	t.Cleanup(server.Close)
	client := func(key string) *countersign.Client {
		return &countersign.Client{BaseURL: server.URL, Key: key, Retries: -1}
	}
	ctx := t.Context()

	t.Run("a good code is valid and brings its item", func(t *testing.T) {
		v, err := client(adaKey).ValidatePurchase(ctx, " "+adaCode+" ")
		if err != nil || !v.Valid {
			t.Fatalf("got %+v, %v", v, err)
		}
		if v.Purchase.PurchaseCode != adaCode || v.Purchase.Item.ID != adaItem || v.Purchase.Item.Name != adaItemTitle ||
			v.Purchase.Price != 4900 || v.Purchase.SupportedUntil == nil {
			t.Errorf("got %+v", v.Purchase)
		}
	})
	t.Run("a refunded code is not valid, and a secret key is told why", func(t *testing.T) {
		v, err := client(adaKey).ValidatePurchase(ctx, adaRefunded)
		if err != nil || v.Valid || v.Reason != countersign.CodePurchaseRefunded {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	t.Run("a publishable key is not told why", func(t *testing.T) {
		v, err := client(adaThemeKey).ValidatePurchase(ctx, adaRefunded)
		if err != nil || v.Valid || v.Reason != countersign.CodePurchaseNotFound {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	t.Run("a workspace that answers 200 always is understood", func(t *testing.T) {
		v, err := client(bobKey).ValidatePurchase(ctx, bobRefunded)
		if err != nil || v.Valid || v.Reason != countersign.CodePurchaseRefunded {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	t.Run("a revoked key leaves the question open", func(t *testing.T) {
		v, err := client(adaLostKey).ValidatePurchase(ctx, adaCode)
		apiErr, ok := errors.AsType[*countersign.Error](err)
		if !ok || apiErr.Code != countersign.CodeKeyRevoked || v.Valid {
			t.Errorf("got %+v, %v", v, err)
		}
	})
	t.Run("the account has its pictures", func(t *testing.T) {
		a, err := client(bobKey).Account(ctx)
		if err != nil || a.Username != "bob" || a.Profile.Media.Avatar != server.URL+"/media/default/avatar.png" {
			t.Errorf("got %+v, %v", a, err)
		}
	})
	t.Run("all items and one of them are the same", func(t *testing.T) {
		all, err := client(adaKey).Items(ctx)
		if err != nil || len(all) != 5 {
			t.Fatalf("got %d items, %v", len(all), err)
		}
		one, err := client(adaKey).Item(ctx, adaItem)
		if err != nil || one.Name != adaItemTitle || one.Version != "1.2.3" {
			t.Errorf("got %+v, %v", one, err)
		}
	})
	t.Run("no items is an empty list", func(t *testing.T) {
		all, err := client(carolKey).Items(ctx)
		if err != nil || len(all) != 0 {
			t.Errorf("got %v, %v", all, err)
		}
	})
	t.Run("another workspace's item is not found", func(t *testing.T) {
		_, err := client(bobKey).Item(ctx, adaItem)
		apiErr, ok := errors.AsType[*countersign.Error](err)
		if !ok || apiErr.Code != countersign.CodeItemNotFound {
			t.Errorf("got %v", err)
		}
	})
}
