package pages_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

const hooksPath = "/api-addons/admin/webhooks"

// mustWebhook adds a webhook.
func (s *site) mustWebhook(t *testing.T, types ...events.Type) events.Webhook {
	t.Helper()
	w, _, err := s.Events.AddWebhook(t.Context(), operator, "https://site.example/hooks", types)
	must.Do(t, err)
	return w
}

// webhook reads the first webhook.
func (s *site) webhook(t *testing.T) events.Webhook {
	t.Helper()
	return must.Get(s.Events.Webhook(t.Context(), operator, 1))(t)
}

func TestAWebhookIsAddedOnceAndItsSecretShownOnce(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(hooksPath).Says("No webhooks yet")
		form := b.Get(hooksPath + "/new").Form(hooksPath)
		form.Set("url", "https://site.example/hooks")
		form.Set("event-purchase.refunded", "1")
		b.PostForm(hooksPath, form).Status(http.StatusUnprocessableEntity).Says("Type your password.")
		form.Set("password", password)
		secret := b.PostForm(hooksPath, form).Status(http.StatusOK).Says("Copy it now").Value("webhook-secret")
		if !strings.HasPrefix(secret, "whsec_") {
			t.Fatalf("the secret is %q", secret)
		}
		if w := s.webhook(t); w.URL != "https://site.example/hooks" || len(w.Types) != 1 || w.Types[0] != events.PurchaseRefunded {
			t.Errorf("added %+v", w)
		}
		b.PostForm(hooksPath, form).LeadsTo(hooksPath) // loaded again
		b.Get(hooksPath).Says("another webhook was added after the form was opened", "https://site.example/hooks", "purchase.refunded").SilentAbout(secret, "Webhook 2")
		b.Get(hooksPath + "/1").SilentAbout(secret)
		b.Fill(hooksPath+"/1/reveal", hooksPath+"/1/reveal", "password", "wrong").Status(http.StatusUnprocessableEntity).SilentAbout(secret)
		expect.Equalf(t, b.Fill(hooksPath+"/1/reveal", hooksPath+"/1/reveal", "password", password).Value("webhook-secret"), secret, "revealed")
	})
}

func TestAWebhookThatIsNotValidIsShownAgain(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Fill(hooksPath+"/new", hooksPath, "url", "ftp://site.example", "event-purchase.refunded", "1", "password", password).
		Status(http.StatusUnprocessableEntity).Says("Nothing was saved.", "Invalid address")
	b.Fill(hooksPath+"/new", hooksPath, "url", "https://10.0.0.1/hooks").
		Status(http.StatusUnprocessableEntity).Wrong("url", "10.0.0.1 is in a private network").Wrong("url", "--allow-private").Wrong("password", "Type your password")
	if all, _ := s.Events.Webhooks(t.Context(), operator); len(all) > 0 {
		t.Errorf("added %+v", all)
	}
	s.mustWebhook(t, events.PurchaseRefunded)
	b.Fill(hooksPath+"/1/edit", hooksPath+"/1/edit", "url", "ftp://site.example/").Status(http.StatusUnprocessableEntity)
	b.Fill(hooksPath+"/1/edit", hooksPath+"/1/edit", "event-purchase.refunded", "", "event-membership.expired", "1").LeadsTo(hooksPath + "/1")
	if w := s.webhook(t); len(w.Types) != 1 || w.Types[0] != events.MembershipExpired {
		t.Errorf("saved %+v", w)
	}
	b.Fill(hooksPath+"/1/edit", hooksPath+"/1/edit", "event-membership.expired", "").LeadsTo(hooksPath + "/1")
	if w := s.webhook(t); len(w.Types) != 0 {
		t.Errorf("saved %+v", w)
	}
}

func TestAWebhookIsPausedResumedRotatedAndRemoved(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustWebhook(t)
		b.Post(hooksPath + "/1/pause").LeadsTo(hooksPath + "/1")
		b.Get(hooksPath+"/1").Says("Paused", "by hand", "Resume").SilentAbout("Send a test event")
		b.Post(hooksPath + "/1/ping").Status(http.StatusConflict).Says("The webhook is paused")
		b.Post(hooksPath + "/1/resume").LeadsTo(hooksPath + "/1")
		if w := s.webhook(t); w.PausedFor != "" {
			t.Errorf("still paused for %s", w.PausedFor)
		}
		form := b.Get(hooksPath + "/1/rotate").Form(hooksPath + "/1/rotate")
		form.Set("password", password)
		s.clock.Move(time.Minute)
		first := b.PostForm(hooksPath+"/1/rotate", form).Status(http.StatusOK).Value("webhook-secret")
		b.PostForm(hooksPath+"/1/rotate", form).LeadsTo(hooksPath + "/1") // loaded again
		b.Get(hooksPath+"/1").Says("this secret was rotated already", "Old secret also signs until").SilentAbout(first)
		b.Get(hooksPath + "/1/remove").Says("the log of its deliveries")
		b.Post(hooksPath + "/1/remove").LeadsTo(hooksPath)
		b.Get(hooksPath + "/1").Status(http.StatusNotFound)
	})
}

func TestDeliveriesAreListedShownAndSentAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustWebhook(t)
		s.mustWebhook(t)
		b.Post(hooksPath + "/1/ping").LeadsTo(hooksPath + "/1")
		b.Get(hooksPath+"/1").Says("A test event is on its way", "test.ping", "Pending")
		b.Get(hooksPath + "/1?state=failed").Says("No deliveries").SilentAbout("test.ping")
		b.Get(hooksPath + "/1?state=nonsense").Says("test.ping")
		b.Get(hooksPath+"/1/deliveries/1").Says("Not sent yet", `"type": "test.ping"`, "Webhook-Id: evt_").SilentAbout("Send again", "whsec_")
		b.Get(hooksPath + "/2/deliveries/1").Status(http.StatusNotFound)
		addontest.Execute(t, s.at, `UPDATE deliveries SET state = 'failed', next_at = NULL, attempts = 1`, `INSERT INTO delivery_attempts (delivery, at, status, took_ms, excerpt) VALUES (1, '2026-11-01T12:00:00Z', 500, 12, 'oh no')`)
		b.Get(hooksPath+"/1/deliveries/1").Says("Failed", "oh no", "500", "12 ms", "Send again")
		b.Post(hooksPath + "/1/deliveries/1/replay").LeadsTo(hooksPath + "/1/deliveries/1")
		d, _, err := s.Events.Delivery(t.Context(), operator, 1)
		if err != nil || d.State != events.Pending {
			t.Errorf("%+v, %v", d, err)
		}
		b.Fill(hooksPath+"/1/replay", hooksPath+"/1/replay", "since", "yesterday").Status(http.StatusUnprocessableEntity).Says("Choose a day")
		b.Fill(hooksPath+"/1/replay", hooksPath+"/1/replay", "since", "2026-10-01").LeadsTo(hooksPath + "/1")
		b.Get(hooksPath + "/1").Says("To be sent again: 0 events.")
	})
}
