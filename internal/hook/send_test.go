package hook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/hook"
)

var (
	noon     = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
)

func now() time.Time { return noon }

// receiver is an endpoint that answers with a handler.
func receiver(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(s.Close)
	return s.URL
}

func sender(t *testing.T, allowed []netip.Prefix) *hook.Sender {
	t.Helper()
	s := hook.New(allowed, "1.2.3", now)
	t.Cleanup(s.Close)
	return s
}

func TestAWebhookIsSignedAndSentOnce(t *testing.T) {
	first, second := hook.NewSecret(), hook.NewSecret()
	body, asked := []byte(`{"type":"test.ping"}`), 0
	url := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != string(body) || r.Method != http.MethodPost {
			t.Errorf("%s %s, %v", r.Method, got, err)
		}
		for name, want := range map[string]string{"Webhook-Id": "evt_1", "Webhook-Timestamp": "1793534400", "Content-Type": "application/json", "User-Agent": "Countersign/1.2.3"} {
			expect.Equalf(t, r.Header.Get(name), want, "%s", name)
		}
		for _, secret := range []hook.Secret{first, second} {
			v := countersign.WebhookVerifier{Secrets: []string{secret.Text()}, Now: now}
			expect.NoError(t, v.Verify(r.Header, got))
		}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "thank\r\n  you \x00\x1b[31m")
	})
	got := sender(t, loopback).Send(t.Context(), hook.Message{ID: "evt_1", URL: url + "/hook", Body: body, Secrets: []hook.Secret{first, second}})
	if want := (hook.Result{Outcome: hook.Delivered, Status: http.StatusAccepted, Text: "thank you [31m"}); got != want || asked != 1 {
		t.Errorf("%+v after %d requests, want %+v", got, asked, want)
	}
}

func TestTheResponseDecides(t *testing.T) {
	for _, c := range []struct {
		rule       string
		status     int
		retryAfter string
		want       hook.Outcome
		wait       time.Duration
	}{
		{"2xx is delivered", 204, "", hook.Delivered, 0},
		{"410 is gone", 410, "", hook.Gone, 0},
		{"404 is tried again", 404, "", hook.Retry, 0},
		{"a redirect is not followed", 302, "", hook.Retry, 0},
		{"429 may name seconds", 429, "120", hook.Retry, 2 * time.Minute},
		{"503 may name a date", 503, "Sun, 01 Nov 2026 13:00:00 GMT", hook.Retry, time.Hour},
		{"a date that has passed means no wait", 503, "Sun, 01 Nov 2026 11:00:00 GMT", hook.Retry, 0},
		{"nobody waits longer than a day", 503, "864000", hook.Retry, 24 * time.Hour},
		{"what can't be read means no wait", 503, "soon", hook.Retry, 0},
		{"a negative wait means no wait", 503, "-5", hook.Retry, 0},
	} {
		asked := 0
		url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Location", "/elsewhere")
			if c.retryAfter != "" {
				w.Header().Set("Retry-After", c.retryAfter)
			}
			w.WriteHeader(c.status)
		})
		got := sender(t, loopback).Send(t.Context(), hook.Message{ID: "evt_1", URL: url})
		if got.Outcome != c.want || got.Status != c.status || got.RetryAfter != c.wait || asked != 1 {
			t.Errorf("%s: %+v after %d requests", c.rule, got, asked)
		}
	}
}

func TestAResponseIsKeptShortAndWithoutSecrets(t *testing.T) {
	secret := hook.NewSecret()
	url := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", 280)+secret.Text()+strings.Repeat("y", 1<<20))
	})
	got := sender(t, loopback).Send(t.Context(), hook.Message{ID: "evt_1", URL: url, Secrets: []hook.Secret{secret}})
	if want := strings.Repeat("x", 280) + "whsec_[secret]yyyyyy…"; got.Text != want || got.Outcome != hook.Delivered {
		t.Errorf("%q", got.Text)
	}
}

func TestFailuresAreSaidWithoutTheAddress(t *testing.T) {
	silent := receiver(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	broken := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, c := range []struct{ rule, url, want string }{
		{"no response", silent, "No response within 15s"},
		{"half a response", broken, "The response ended early: The connection failed: unexpected EOF"},
		{"nobody listens", closed.URL, "The connection failed: dial tcp "},
		{"a name that nobody has", "http://nowhere.invalid", "The host name can't be resolved"},
		{"a malformed address", "http://%zz", "Invalid address of the endpoint"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if c.url == silent {
			var stop context.CancelFunc
			ctx, stop = context.WithDeadline(ctx, time.Now())
			defer stop()
		}
		got := sender(t, loopback).Send(ctx, hook.Message{ID: "evt_1", URL: c.url + "?token=t0psecret"})
		cancel(errors.New("the test has ended"))
		if got.Outcome != hook.Retry || !strings.HasPrefix(got.Text, c.want) || strings.Contains(got.Text, "t0psecret") {
			t.Errorf("%s: %+v", c.rule, got)
		}
	}
}

func TestPrivateAddressesAreRefusedUnlessTheyAreAllowed(t *testing.T) {
	asked := 0
	url := receiver(t, func(http.ResponseWriter, *http.Request) { asked++ })
	for _, url := range []string{url, strings.Replace(url, "http:", "https:", 1), strings.Replace(url, "127.0.0.1", "localhost", 1)} {
		got := sender(t, nil).Send(t.Context(), hook.Message{ID: "evt_1", URL: url})
		if got.Outcome != hook.Retry || got.Text != "Not sent: the host has an address that webhooks may not be sent to" || asked > 0 {
			t.Errorf("%s: %+v after %d requests", url, got, asked)
		}
	}
	// Over http, a public address would receive the webhook in the open.
	got := sender(t, loopback).Send(t.Context(), hook.Message{ID: "evt_1", URL: "http://192.0.2.1"})
	if !strings.HasPrefix(got.Text, "Not sent: ") {
		t.Errorf("%+v", got)
	}
}
