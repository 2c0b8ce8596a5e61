package play_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// TestRefusalsOfGoogleBecomeReasons is the table of the notes on Google Play, 1.11.
func TestRefusalsOfGoogleBecomeReasons(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	readToken := func() error { _, err := c.Subscription(t.Context(), token); return err }
	acknowledge := func() error { return c.Acknowledge(t.Context(), "gold_monthly", token, "", "") }
	readOrder := func() error { _, err := c.Orders(t.Context(), []string{"GPA.1"}); return err }
	cases := []struct {
		name   string
		call   func() error
		status int
		reason string
		want   play.Reason
	}{
		{"a malformed token", readToken, 400, "invalid", play.InvalidToken},
		{"any bad request for a token", readToken, 400, "badRequest", play.InvalidToken},
		{"a malformed token in an action", acknowledge, 400, "invalid", play.InvalidToken},
		{"an action in the wrong state", acknowledge, 400, "failedPrecondition", play.Refused},
		{"a bad request for an order", readOrder, 400, "invalid", play.Refused},
		{"bad credentials", readToken, 401, "authError", play.Unauthorized},
		{"a missing permission", readToken, 401, "permissionDenied", play.Unauthorized},
		{"the API is off", readToken, 403, "accessNotConfigured", play.Unauthorized},
		{"a quota as 403", readToken, 403, "rateLimitExceeded", play.Unavailable},
		{"a user's quota as 403", readToken, 403, "userRateLimitExceeded", play.Unavailable},
		{"a day's quota as 403", readToken, 403, "quotaExceeded", play.Unavailable},
		{"an unknown package", readToken, 404, "applicationNotFound", play.ApplicationNotFound},
		{"an unknown package for orders", readOrder, 404, "applicationNotFound", play.ApplicationNotFound},
		{"an unknown token", readToken, 404, "purchaseTokenNotFound", play.TokenNotFound},
		{"an unknown token in an action", acknowledge, 404, "purchaseTokenNotFound", play.TokenNotFound},
		{"an unknown order", readOrder, 404, "orderNotFound", play.Refused},
		{"an old subscription", readToken, 410, "subscriptionPurchaseNoLongerAvailable", play.Gone},
		{"an old token", readToken, 410, "purchaseTokenNoLongerValid", play.Gone},
		{"an outdated etag", acknowledge, 409, "concurrentUpdate", play.Refused},
		{"no answer in time", readToken, 408, "timeout", play.Unavailable},
		{"the quota", readToken, 429, "rateLimitExceeded", play.Unavailable},
		{"an outage", readToken, 500, "backendError", play.Unavailable},
		{"a longer outage", readToken, 503, "backendError", play.Unavailable},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			s.Fail(1, test.status, test.reason)
			playErr := wantReason(t, test.call(), test.want)
			if !strings.Contains(playErr.Error(), test.reason) {
				t.Errorf("%q does not name %q", playErr.Error(), test.reason)
			}
		})
	}
}

// TestAnswersOfOthersSayNothingAboutAPurchase is about proxies and captive portals.
func TestAnswersOfOthersSayNothingAboutAPurchase(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	for _, status := range []int{302, 400, 404, 410, 502} {
		s.FailRaw(1, status, "<html>Not here</html>")
		_, err := c.Subscription(t.Context(), token)
		if text := wantReason(t, err, play.Unavailable).Error(); strings.Contains(text, "html") {
			t.Errorf("status %d: the error quotes the body: %s", status, text)
		}
	}
	for _, body := range []string{"<html>Sign in</html>", "null", `{"lineItems":[]}`, `{"subscriptionState":"SUBSCRIPTION_STATE_ACTIVE","startTime":"yesterday"}`, "{"} {
		s.FailRaw(1, 200, body)
		_, err := c.Subscription(t.Context(), token)
		wantReason(t, err, play.Unavailable)
	}
}

func TestTheQuotaSaysHowLongToWait(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	s.FailQuota(2, 90*time.Second)
	for range 2 {
		_, err := c.Subscription(t.Context(), token)
		if wait := wantReason(t, err, play.Unavailable).RetryAfter; wait != 90*time.Second {
			t.Errorf("wait %v, want 90 s", wait)
		}
	}
	get(t, c, token)
}

func TestAFreshTokenIsNotFoundForAWhile(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{Fresh: 2})
	for range 2 {
		_, err := c.Subscription(t.Context(), token)
		wantReason(t, err, play.TokenNotFound)
	}
	get(t, c, token)
}

func TestTokensThatCantBeTokensAreNeverSent(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	for _, token := range []string{"", ".", "..", "a/b", "a b", "a?b", "a%2fb", "ü", "a\x00b", strings.Repeat("a", 2049)} {
		_, err := c.Subscription(t.Context(), token)
		wantReason(t, err, play.InvalidToken)
		wantReason(t, c.Acknowledge(t.Context(), "p", token, "", ""), play.InvalidToken)
		wantReason(t, c.Cancel(t.Context(), token, play.StopRenewals), play.InvalidToken)
		wantReason(t, c.Revoke(t.Context(), token, play.FullRefund), play.InvalidToken)
	}
	expect.Equalf(t, s.TotalCalls("/"), 0, "requests were sent")
}

func TestACallEndsWithItsContext(t *testing.T) {
	s := newStore(t)
	c := open(t, s)
	token := buy(t, s, playfake.BuyOptions{})
	get(t, c, token)
	s.Hang(1)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(time.Millisecond, cancel)
	_, err := c.Subscription(ctx, token)
	wantReason(t, err, play.Unavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not the error of the context", err)
	}
}

func TestACallHasItsOwnLimit(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	o.URL, o.Transport = "", s.Transport()
	c := openWith(t, o)
	token := buy(t, s, playfake.BuyOptions{})
	get(t, c, token)
	synctest.Test(t, func(t *testing.T) {
		s.Hang(1)
		begin := time.Now()
		_, err := c.Subscription(t.Context(), token)
		wantReason(t, err, play.Unavailable)
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %v, want 10 s", took)
		}
	})
}

func TestCallsAreSpacedByTheRate(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	o.URL, o.Transport, o.Rate = "", s.Transport(), 40
	token := buy(t, s, playfake.BuyOptions{})
	synctest.Test(t, func(t *testing.T) {
		c := openWith(t, o)
		begin := time.Now()
		for range 41 {
			get(t, c, token)
		}
		if took := time.Since(begin); took != time.Second {
			t.Errorf("41 calls took %v, want 1 s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := c.Subscription(ctx, token)
		wantReason(t, err, play.Unavailable)
	})
}

func TestBodiesAreBounded(t *testing.T) {
	s := newStore(t)
	huge := strings.Repeat(" ", 9<<20)
	fake := s.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			fake.ServeHTTP(w, r)
			return
		}
		_, _ = w.Write([]byte(huge))
	}))
	defer server.Close()
	o := optionsOf(t, s)
	o.URL = server.URL
	_, err := openWith(t, o).Subscription(t.Context(), strings.Repeat("a", 64))
	wantReason(t, err, play.Unavailable)
}
