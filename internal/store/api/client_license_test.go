package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/license"
)

func TestClientAgainstTheStoresLicenses(t *testing.T) {
	server := httptest.NewServer(newHandler(openShop(t, shopStore.New(t, dbtest.SQLite)), 0))
	t.Cleanup(server.Close)
	client := &countersign.Client{BaseURL: server.URL, Retries: -1}
	ctx := t.Context()
	first, err := client.IssueLicense(ctx, "license-fresh", "https://www.shop.example/")
	if err != nil || first.License == "" || first.LicenseID == "" {
		t.Fatalf("got %+v, %v", first, err)
	}
	if again, err := client.IssueLicense(ctx, "LICENSE-FRESH", "shop.example"); err != nil || again != first {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if moved, err := client.MoveLicense(ctx, "license-fresh", "", "new.example"); err != nil || moved.LicenseID == first.LicenseID {
		t.Errorf("moved: %+v, %v", moved, err)
	}
	test := must.Get(client.IssueLicense(ctx, "license-fresh", "localhost"))(t)
	want := countersign.LicenseRevocation{LicenseID: test.LicenseID, Domain: "localhost", RevokedAt: countersign.At(today)}
	if got, err := client.RevokeLicense(ctx, "license-fresh", "localhost:3000", test.LicenseID); err != nil || got != want {
		t.Errorf("revoked: %+v, %v", got, err)
	}
	for _, c := range []struct {
		name    string
		ask     func() error
		code    string
		kind    countersign.Kind
		domains []string
		wait    time.Duration
	}{
		{"no domain is left", func() error {
			_, err := client.IssueLicense(ctx, "license-of-two", "c.example")
			return err
		}, countersign.CodeLimitReached, countersign.KindConflict, []string{"a.example", "b.example"}, 0},
		{"an unknown code", func() error {
			_, err := client.IssueLicense(ctx, "nobody", "c.example")
			return err
		}, countersign.CodePurchaseNotFound, countersign.KindNotFound, nil, 0},
		{"a domain that is none", func() error {
			_, err := client.IssueLicense(ctx, "license-used", "co.uk")
			return err
		}, countersign.CodeDomainInvalid, countersign.KindInvalid, nil, 0},
		{"a second move in a day", func() error {
			_, err := client.MoveLicense(ctx, "license-fresh", "new.example", "c.example")
			return err
		}, countersign.CodeMoveTooSoon, countersign.KindConflict, []string{"new.example"}, 24 * time.Hour},
		{"a revocation after a move", func() error {
			_, err := client.RevokeLicense(ctx, "license-fresh", "new.example", "")
			return err
		}, countersign.CodeMoveTooSoon, countersign.KindConflict, []string{"new.example"}, 24 * time.Hour},
		{"a domain that is not in use", func() error {
			_, err := client.RevokeLicense(ctx, "license-of-two", "c.example", "")
			return err
		}, countersign.CodeDomainNotActivated, countersign.KindConflict, []string{"a.example", "b.example"}, 0},
		{"which domain to free", func() error {
			_, err := client.MoveLicense(ctx, "license-of-two", "", "c.example")
			return err
		}, countersign.CodeFromMissing, countersign.KindInvalid, []string{"a.example", "b.example"}, 0},
	} {
		apiErr, ok := errors.AsType[*countersign.Error](c.ask())
		if !ok || apiErr.Code != c.code || apiErr.Kind != c.kind || apiErr.RetryAfter != c.wait {
			t.Errorf("%s: %+v", c.name, apiErr)
			continue
		}
		in, _ := apiErr.Data.(countersign.LicenseDomains)
		if !slices.Equal(in.Domains, c.domains) || len(in.Licenses) != len(c.domains) {
			t.Errorf("%s: %+v, want domains %v", c.name, in, c.domains)
		}
		for i, l := range in.Licenses {
			if l.Domain != c.domains[i] || l.IssuedAt.IsZero() {
				t.Errorf("%s: %+v", c.name, l)
			}
		}
	}
	for want, q := range map[string]countersign.LicenseQuestion{
		countersign.CheckValid:          {PurchaseCode: "license-used", Domain: "shop.example", ItemID: "1229"},
		countersign.CheckDomainMismatch: {LicenseID: "used-shop", Domain: "other.example"},
		countersign.CheckNotFound:       {PurchaseCode: "license-refunded", Domain: "shop.example"},
	} {
		if got, err := client.CheckLicense(ctx, q); err != nil || got.Code != want || got.Valid != (want == countersign.CheckValid) {
			t.Errorf("%+v: %+v, %v, want %s", q, got, err, want)
		}
	}
	author := &countersign.Client{BaseURL: server.URL, Key: adaKey, Retries: -1}
	if got, err := author.CheckLicense(ctx, countersign.LicenseQuestion{PurchaseCode: "license-refunded", Domain: "shop.example"}); err != nil || got.Code != countersign.CheckRefunded {
		t.Errorf("with the workspace's key: %+v, %v", got, err)
	}
}

func TestClientGetsTheKeysThatOpenALicense(t *testing.T) {
	shop := newHandler(openShop(t, shopStore.New(t, dbtest.SQLite)), 0)
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	client := &countersign.Client{BaseURL: server.URL, Retries: -1}
	signed := must.Get(client.IssueLicense(t.Context(), "license-used", "shop.example"))(t)
	text := must.Get(client.LicenseKeys(t.Context()))(t)
	keys := must.Get(license.ReadKeySet(text))(t)
	if l, err := license.Open(signed.License, keys, "shop.example", today); err != nil || l.ID != signed.LicenseID {
		t.Errorf("%+v, %v", l, err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(page.Close)
	client.BaseURL = page.URL
	_, err := client.LicenseKeys(t.Context())
	if _, ok := errors.AsType[*countersign.NotJSONError](err); !ok {
		t.Errorf("a page for keys: %v", err)
	}
}
