package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// ask sends a request and reads the members of the answer into into, which may be nil.
func (s *seller) ask(t testing.TB, h http.Handler, status int, method, path, body string, header map[string]string, into any) {
	t.Helper()
	r := httptest.NewRequest(method, "/api-addons/"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:4321"
	for name, value := range header {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != status {
		t.Fatalf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, status)
	}
	must.Do(t, s.oracle.Check(method, r.URL.Path, w.Code, w.Header(), w.Body.Bytes()))
	if into != nil {
		must.Do(t, json.Unmarshal(w.Body.Bytes(), into))
	}
}

// app is what an app sends for a user.
func (s *seller) app(user string) map[string]string {
	return map[string]string{"X-Api-Key": s.pair.Key, "Authorization": "Bearer " + s.siteToken(user, s.clock.Now())}
}

// server is what the server of the site sends.
func (s *seller) server() map[string]string {
	return map[string]string{"Authorization": "Basic " + basic(s.pair.Key, s.pair.Secret)}
}

// push sends a notification as the store does.
func (s *seller) push(t testing.TB, h http.Handler, m playfake.Message) {
	t.Helper()
	bearer, body, err := s.play.Push(m)
	must.Do(t, err)
	s.ask(t, h, 204, "POST", "iap/notifications/store", string(body), map[string]string{"Authorization": "Bearer " + bearer}, nil)
}

type eventBody struct {
	Type       string                    `json:"type"`
	UserID     string                    `json:"user_id"`
	Membership countersign.IAPMembership `json:"membership"`
}

// nextEvent waits for the next event of the feed, as the site does.
func (s *seller) nextEvent(t testing.TB, h http.Handler, after *int64) (e eventBody) {
	t.Helper()
	var feed countersign.IAPFeed
	s.ask(t, h, 200, "GET", "iap/events?limit=1&wait=25&after="+strconv.FormatInt(*after, 10), "", s.server(), &feed)
	if len(feed.Events) != 1 || feed.Missed {
		t.Fatalf("the feed after %d: %+v", *after, feed)
	}
	*after = feed.Cursor
	must.Do(t, json.Unmarshal(feed.Events[0].Event, &e))
	return e
}

func jsonText(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

// From the purchase to the site: intent, purchase, verification, acknowledgement, renewal,
// notification, event.
func TestAPurchaseFromTheAppToTheSite(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		s.run(t)
		h := api.New(s.Addon, options())
		var intent countersign.IAPIntent
		s.ask(t, h, 200, "POST", "iap/intents", "", s.app("7"), &intent)
		token := must.Get(s.play.Buy(playfake.BuyOptions{ProductID: "gold_monthly", Account: intent.AccountID}))(t)

		var verified countersign.IAPVerification
		s.ask(t, h, 200, "POST", "iap/verify", jsonText(map[string]string{"platform": "store", "purchase_token": token}), s.app("7"), &verified)
		if verified.Result != "created" || !verified.Purchase.Acknowledged || !verified.Membership.Active || verified.Membership.Token == "" {
			t.Errorf("verified: %+v", verified)
		}
		if bought := s.play.Purchases(); len(bought) != 1 || !bought[0].Acknowledged {
			t.Errorf("the store has %+v", bought)
		}
		var after int64
		if e := s.nextEvent(t, h, &after); e.Type != "membership.activated" || e.UserID != "7" || !e.Membership.Active {
			t.Errorf("the first event: %+v", e)
		}

		s.pass(24 * time.Hour)
		must.Do(t, s.play.Renew(token))
		messages := s.play.Messages()
		s.push(t, h, messages[len(messages)-1])
		if e := s.nextEvent(t, h, &after); e.Type != "membership.renewed" || e.Membership.Until.Sub(verified.Membership.Until.Time) < 28*24*time.Hour {
			t.Errorf("the second event: %+v", e)
		}
		var read struct{ Membership countersign.IAPMembership }
		s.ask(t, h, 200, "GET", "iap/membership", "", s.app("7"), &read)
		if !read.Membership.Active || !read.Membership.Until.After(verified.Membership.Until.Time) {
			t.Errorf("after the renewal: %+v", read.Membership)
		}
	})
}

func TestAForgedNotificationChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		token := s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"})
		must.Get(s.Members.Verify(t.Context(), "7", token, ""))(t)
		_, body, err := s.play.Push(s.play.Messages()[0])
		must.Do(t, err)
		for name, change := range map[string]func(*playfake.PushClaims){
			"another audience":        func(c *playfake.PushClaims) { c.Audience = []string{"https://evil.example"} },
			"another issuer":          func(c *playfake.PushClaims) { c.Issuer = "https://evil.example" },
			"another service account": func(c *playfake.PushClaims) { c.Email = "push@evil.iam.gserviceaccount.com" },
			"an unverified e-mail":    func(c *playfake.PushClaims) { c.EmailVerified = false },
		} {
			claims := s.play.PushClaims()
			change(&claims)
			forged := must.Get(s.play.SignPush(claims))(t)
			r := httptest.NewRequest("POST", "/api-addons/iap/notifications/store", bytes.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+forged)
			if status, code, reason := reasonOf(h, r); status != 401 || code != "unauthorized" || reason != "push_refused" {
				t.Errorf("%s: %d %s %s", name, status, code, reason)
			}
		}
		received := must.Get(s.Members.Messages(t.Context(), operator, 0, 10))(t)
		expect.Equalf(t, len(received), 0, "stored: %+v", received)
	})
}

// A notification whose sender can't be checked now has to come again.
func TestANotificationComesAgainWhileTheKeysCannotBeRead(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		bearer, body, err := s.play.Push(s.play.SendTest())
		must.Do(t, err)
		header := map[string]string{"Authorization": "Bearer " + bearer}
		s.down.Store(true)
		var got refusal
		s.ask(t, h, 503, "POST", "iap/notifications/store", string(body), header, &got)
		received, err := s.Members.Messages(t.Context(), operator, 0, 10)
		if must.Do(t, err); got != (refusal{"store_unavailable", true}) || len(received) != 0 {
			t.Errorf("%+v, stored: %+v", got, received)
		}
		s.down.Store(false)
		s.pass(time.Minute) // the keys are not asked for again at once
		s.ask(t, h, 204, "POST", "iap/notifications/store", string(body), header, nil)
		received, err = s.Members.Messages(t.Context(), operator, 0, 10)
		if must.Do(t, err); len(received) != 1 || string(received[0].Kind) != string(play.OfTest) {
			t.Errorf("stored: %+v", received)
		}
	})
}

func TestACompressedNotificationIsRead(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		bearer, body, err := s.play.Push(s.play.SendTest())
		must.Do(t, err)
		header := map[string]string{"Authorization": "Bearer " + bearer, "Content-Encoding": "gzip"}
		var got refusal
		s.ask(t, h, 413, "POST", "iap/notifications/store", compressed(t, make([]byte, play.MaxPush+1)), header, &got)
		whole := compressed(t, body)
		for _, missing := range []int{1, 8, 12} { // of the checksum and the length, and of the text before them
			s.ask(t, h, 400, "POST", "iap/notifications/store", whole[:len(whole)-missing], header, &got)
		}
		s.ask(t, h, 204, "POST", "iap/notifications/store", whole, header, nil)
		received, err := s.Members.Messages(t.Context(), operator, 0, 10)
		if must.Do(t, err); len(received) != 1 {
			t.Errorf("stored: %+v", received)
		}
	})
}

func compressed(t testing.TB, body []byte) string {
	var text strings.Builder
	z := gzip.NewWriter(&text)
	_, err := z.Write(body)
	must.Do(t, errors.Join(err, z.Close()))
	return text.String()
}

// While the store is down, a verification is queued and the app is told to ask later.
func TestAVerificationIsQueuedWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		token := s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"})
		s.play.FailQuota(1, time.Minute)
		var verified countersign.IAPVerification
		s.ask(t, h, 202, "POST", "iap/verify", jsonText(map[string]string{"purchase_token": token}), s.app("7"), &verified)
		if verified.Result != "queued" || verified.Purchase != nil || verified.Membership.Status != "pending" || verified.Membership.Token != "" {
			t.Errorf("%+v", verified)
		}
	})
}

// An outage takes a restore no longer than one verification: the store is asked once.
func TestARestoreIsQueuedWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		tokens := []string{s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"}), s.buy(t, "7", playfake.BuyOptions{ProductID: "silver_monthly"})}
		s.play.FailQuota(1, time.Minute)
		var restored countersign.IAPRestore
		s.ask(t, h, 200, "POST", "iap/restore", jsonText(map[string][]string{"purchase_tokens": tokens}), s.app("7"), &restored)
		if len(restored.Results) != 2 || restored.Results[0].Result != "queued" || restored.Results[1].Result != "queued" {
			t.Errorf("%+v", restored)
		}
		s.pass(time.Minute)
		s.run(t)
		var after int64
		for _, want := range []string{"membership.changed", "membership.activated"} {
			if e := s.nextEvent(t, h, &after); e.Type != want {
				t.Errorf("%+v, want %s", e, want)
			}
		}
	})
}

// refusal is what an app is told when a call fails.
type refusal struct {
	Code      string `json:"code"`
	Retryable bool   `json:"retryable"`
}

// What goes wrong at the store has the status and the code that tell an app what to do.
func TestFailuresOfTheStoreKeepTheirCodes(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		token := s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"})
		s.play.Fail(1, 410, "subscriptionPurchaseNoLongerAvailable")
		var got refusal
		s.ask(t, api.New(s.Addon, options()), 410, "POST", "iap/verify", jsonText(map[string]string{"purchase_token": token}), s.app("7"), &got)
		expect.Equal(t, got, refusal{"purchase_gone", false})
	})
}

func TestIntentsAreLimitedByUser(t *testing.T) {
	t.Parallel()
	s := newSeller(t, dbtest.New(t, dbtest.SQLite))
	o := options()
	o.Now = s.clock.Now
	h := api.New(s.Addon, o)
	for range 60 {
		s.ask(t, h, 200, "POST", "iap/intents", `{}`, s.app("7"), nil)
	}
	var got refusal
	s.ask(t, h, 429, "POST", "iap/intents", `{}`, s.app("7"), &got)
	if got != (refusal{"rate_limited", true}) {
		t.Errorf("%+v", got)
	}
	s.ask(t, h, 200, "POST", "iap/intents", `{}`, s.app("8"), nil)
	s.clock.Move(time.Minute)
	s.ask(t, h, 200, "POST", "iap/intents", `{}`, s.app("7"), nil)
}

func TestVerificationsAreLimitedByUser(t *testing.T) {
	t.Parallel()
	s := newSeller(t, dbtest.New(t, dbtest.SQLite))
	o := options()
	o.Now = s.clock.Now
	h := api.New(s.Addon, o)
	tokens := func(n int) string {
		return jsonText(map[string][]string{"purchase_tokens": slices.Repeat([]string{"unknown"}, n)})
	}
	s.ask(t, h, 200, "POST", "iap/restore", tokens(20), s.app("7"), nil)
	s.ask(t, h, 200, "POST", "iap/restore", tokens(10), s.app("7"), nil)
	var got refusal
	s.ask(t, h, 429, "POST", "iap/verify", `{"purchase_token":"unknown"}`, s.app("7"), &got)
	if got != (refusal{"rate_limited", true}) {
		t.Errorf("%+v", got)
	}
	token := jsonText(map[string]string{"purchase_token": s.buy(t, "8", playfake.BuyOptions{ProductID: "gold_monthly"})})
	s.ask(t, h, 200, "POST", "iap/verify", token, s.app("8"), nil)
	s.pass(time.Minute)
	s.ask(t, h, 409, "POST", "iap/verify", token, s.app("7"), nil)
}

// A page ends where the next one begins.
func TestPurchasesAreReadInPages(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		h := api.New(s.Addon, options())
		var want []string
		for range 3 {
			done := must.Get(s.Members.Verify(t.Context(), "7", s.buy(t, "7", playfake.BuyOptions{ProductID: "gold_monthly"}), ""))(t)
			want = append([]string{done.Purchase.ID}, want...)
		}
		var got []string
		for cursor := ""; ; {
			var page struct {
				Purchases []countersign.IAPPurchase `json:"purchases"`
				Next      *string                   `json:"next_cursor"`
			}
			s.ask(t, h, 200, "GET", "iap/purchases?limit=2"+cursor, "", s.app("7"), &page)
			for _, p := range page.Purchases {
				got = append(got, p.ID)
			}
			if page.Next == nil {
				break
			}
			cursor = "&cursor=" + *page.Next
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// An app that revalidates always has a membership token that is valid for hours.
func TestAMembershipTokenIsRenewedTwiceADay(t *testing.T) {
	t.Parallel()
	s := newSeller(t, dbtest.New(t, dbtest.SQLite))
	h := api.New(s.Addon, options())
	must.Do(t, s.grant(t, "7"))
	read := func(tag string) (*http.Response, string) {
		r := httptest.NewRequest("GET", "/api-addons/iap/membership?token=1", nil)
		for name, value := range s.app("7") {
			r.Header.Set(name, value)
		}
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		must.Do(t, s.oracle.Check("GET", r.URL.Path, w.Code, w.Header(), w.Body.Bytes()))
		return w.Result(), w.Header().Get("ETag")
	}
	_, tag := read("")
	s.pass(time.Hour)
	if res, again := read(tag); res.StatusCode != http.StatusNotModified || again != tag {
		t.Errorf("after an hour: %d %s, then %s", res.StatusCode, tag, again)
	}
	s.pass(11 * time.Hour)
	if res, again := read(tag); res.StatusCode != http.StatusOK || again == tag {
		t.Errorf("after twelve hours: %d %s, then %s", res.StatusCode, tag, again)
	}
}

// The server of the site signs its calls, also those whose user has to be encoded.
func TestASiteSignsItsCallsForMemberships(t *testing.T) {
	t.Parallel()
	dbtest.AnEngine(t, func(t *testing.T, at dbtest.DB) {
		s := newSeller(t, at)
		must.Do(t, s.grant(t, "a/b ü"))
		h := api.New(s.Addon, options())
		c := call{
			method: "GET", target: "/api-addons/iap/users/a%2Fb%20%C3%BC/purchases?limit=5", key: s.pair.Key, secret: s.pair.Secret,
			at: today, nonce: "of-a-membership",
		}
		if status, _, reason := reasonOf(h, c.request()); status != 200 {
			t.Errorf("%d %s", status, reason)
		}
		c.nonce, c.signedTarget = "of-another-one", "/api-addons/iap/users/a%2Fb%20%C3%BC/purchases?limit=6"
		if status, _, reason := reasonOf(h, c.request()); status != 401 || reason != "credential_unknown" {
			t.Errorf("another query: %d %s", status, reason)
		}
	})
}
