package countersign

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

const testUserToken = "eyJhbGciOi.J9.user+token/"

func appClient(address string) *AppClient {
	return &AppClient{BaseURL: address, Key: testAddonKey, UserToken: " " + testUserToken + "\n", Retries: -1}
}

func TestAnAppClientSendsKeyAndToken(t *testing.T) {
	s := serve(t, odd{body: `{"status":"success","result":"queued","purchase":null,"membership":{"status":"pending"}}`})
	verified, err := appClient(s.URL+"/shop").VerifyPurchase(t.Context(), "a token", "")
	if err != nil || !verified.Pending() {
		t.Fatalf("%+v, %v", verified, err)
	}
	r := s.requests()[0]
	if r.method != "POST" || r.uri != "/shop/api-addons/iap/verify" || r.body != `{"platform":"store","purchase_token":"a token"}` {
		t.Errorf("%+v", r)
	}
	if h := r.header; h.Get("X-Api-Key") != testAddonKey || h.Get("Authorization") != "Bearer "+testUserToken || h.Get("X-Api-Signature") != "" {
		t.Errorf("%v", h)
	}
}

// Each method of both clients, with a response that lacks what the method returns.
func TestASuccessWithoutItsContentIsAnError(t *testing.T) {
	s := serve(t, odd{body: `{"status":"success"}`})
	app, site := appClient(s.URL), addonClient(s.URL)
	none := IAPMembershipRead{}
	for name, do := range map[string]func(context.Context) error{
		"config":     func(ctx context.Context) error { _, err := app.IAPConfig(ctx); return err },
		"intent":     func(ctx context.Context) error { _, err := app.Intent(ctx, nil); return err },
		"verify":     func(ctx context.Context) error { _, err := app.VerifyPurchase(ctx, "t", "p"); return err },
		"restore":    func(ctx context.Context) error { _, err := app.RestorePurchases(ctx, nil); return err },
		"simulated":  func(ctx context.Context) error { _, err := app.BuySimulated(ctx, "p", "t"); return err },
		"membership": func(ctx context.Context) error { _, err := app.Membership(ctx, none); return err },
		"signed":     func(ctx context.Context) error { _, err := app.SignedMembership(ctx, none); return err },
		"purchases":  func(ctx context.Context) error { _, err := app.Purchases(ctx, "c", 1); return err },
		"user":       func(ctx context.Context) error { _, err := site.UserMembership(ctx, "7", none); return err },
		"theirs":     func(ctx context.Context) error { _, err := site.UserPurchases(ctx, "7", "", 0); return err },
		"grants":     func(ctx context.Context) error { _, err := site.Grants(ctx, "7"); return err },
		"grant":      func(ctx context.Context) error { _, err := site.Grant(ctx, "7", 1, time.Time{}, "r"); return err },
		"end":        func(ctx context.Context) error { _, err := site.RemoveGrant(ctx, "7", 1); return err },
		"refresh":    func(ctx context.Context) error { _, err := site.RefreshPurchase(ctx, "p"); return err },
		"transfer":   func(ctx context.Context) error { _, err := site.TransferPurchase(ctx, "p", "8", "r"); return err },
		"refuse":     func(ctx context.Context) error { _, err := site.RefusePurchase(ctx, "p", "8", "r"); return err },
		"cancel":     func(ctx context.Context) error { _, err := site.CancelPurchase(ctx, "p", true); return err },
		"revoke":     func(ctx context.Context) error { _, err := site.RevokePurchase(ctx, "p", true); return err },
		"events":     func(ctx context.Context) error { _, err := site.Events(ctx, 0, 1, time.Second); return err },
	} {
		var odd *NotJSONError
		if err := do(t.Context()); !errors.As(err, &odd) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMissingIDIsNotSent(t *testing.T) {
	s := serve(t, odd{body: `{"status":"success"}`})
	site := addonClient(s.URL)
	for _, do := range []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := site.UserMembership(ctx, "", IAPMembershipRead{})
			return err
		},
		func(ctx context.Context) error { _, err := site.UserPurchases(ctx, "", "", 0); return err },
		func(ctx context.Context) error { _, err := site.Grants(ctx, ""); return err },
		func(ctx context.Context) error { _, err := site.Grant(ctx, "", 1, time.Time{}, "r"); return err },
		func(ctx context.Context) error { _, err := site.RemoveGrant(ctx, "", 1); return err },
		func(ctx context.Context) error { _, err := site.RefreshPurchase(ctx, ""); return err },
	} {
		if err := do(t.Context()); err == nil || !strings.Contains(err.Error(), "id is missing") {
			t.Error(err)
		}
	}
	if sent := s.requests(); len(sent) != 0 {
		t.Errorf("%+v", sent)
	}
}

func TestAnUnchangedMembershipIsTheOneBefore(t *testing.T) {
	s := serve(t, odd{status: http.StatusNotModified, header: map[string]string{"ETag": `"9"`}})
	last := IAPMembershipRead{IAPMembership{Active: true, Status: "grace", Version: 9}, `"9"`}
	read, err := appClient(s.URL).Membership(t.Context(), last)
	if err != nil || read.Version != 9 || !read.Active || s.requests()[0].header.Get("If-None-Match") != `"9"` {
		t.Errorf("%+v, %v", read, err)
	}
	var odd *NotJSONError
	if _, err := appClient(s.URL).Membership(t.Context(), IAPMembershipRead{}); !errors.As(err, &odd) {
		t.Errorf("304 to a call without an ETag: %v", err)
	}
}

// Only what has the same effect when it is done twice is repeated.
func TestAGrantIsSentOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		do    func(context.Context, *AddonClient) error
		calls int
	}{
		"a grant": {func(ctx context.Context, c *AddonClient) error {
			_, err := c.Grant(ctx, "7", 1, testNow, "r")
			return err
		}, 1},
		"a refund": {func(ctx context.Context, c *AddonClient) error {
			_, err := c.RevokePurchase(ctx, "p", false)
			return err
		}, 1},
		"a refresh": {func(ctx context.Context, c *AddonClient) error { _, err := c.RefreshPurchase(ctx, "p"); return err }, 2},
	} {
		s := serve(t, odd{status: 503, header: map[string]string{"Retry-After": "0", "X-Error-Code": "outcome_unknown"}, body: envelope("Unavailable")})
		c := addonClient(s.URL)
		c.Retries = 1
		err := tt.do(t.Context(), c)
		if refused, ok := errors.AsType[*Error](err); !ok || !refused.Retryable() || len(s.requests()) != tt.calls {
			t.Errorf("%s: %d calls, %v", name, len(s.requests()), err)
		}
	}
}

func TestACallThatWaitsHasLonger(t *testing.T) {
	waits := operation{extraTime: 25 * time.Second}
	for _, tt := range []struct {
		client *Client
		want   time.Duration
	}{
		{&Client{}, attemptTimeout + 25*time.Second},
		{&Client{HTTP: &http.Client{Timeout: time.Second}}, 26 * time.Second},
		{&Client{HTTP: &http.Client{}}, 0},
	} {
		expect.Equal(t, tt.client.httpClient(waits).Timeout, tt.want)
	}
}

func TestARefusalHasItsReasonWithoutSecrets(t *testing.T) {
	s := serve(t, odd{status: 401, header: map[string]string{"X-Error-Code": "unauthorized"}, body: `{"status":"error","msg":"Not valid ` + testUserToken +
		`","code":"unauthorized","retryable":false,"details":{"reason":"user_token_invalid ` + testUserToken + `","fields":{"until":"` + testAddonKey + ` is in the past"}}}`})
	_, err := appClient(s.URL).Intent(t.Context(), nil)
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Kind != KindUnauthorized || refused.Code != "unauthorized" || refused.Retryable() || refused.Fields["until"] != "[key] is in the past" {
		t.Fatalf("%+v", err)
	}
	text := fmt.Sprintf("%+v %v", err, refused.Fields)
	if !strings.Contains(text, "user_token_invalid") || strings.Contains(text, testUserToken) || strings.Contains(text, testAddonKey) {
		t.Error(text)
	}
}

func TestAnAppClientDoesNotPrintItsSecrets(t *testing.T) {
	c := appClient("https://ada:secret-word@site.example/" + testUserToken)
	text, err := c.MarshalText()
	printed := string(text) + fmt.Sprintf("%v %+v %#v %s %q", c, *c, c, c, *c)
	for _, word := range []string{testAddonKey, testUserToken, "secret-word"} {
		if err != nil || strings.Contains(printed, word) {
			t.Error(printed, err)
		}
	}
}
