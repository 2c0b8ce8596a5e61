package conformance

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
)

// Notifications of the store, and requests that pretend to bring them.
var notificationCases = []conformance{
	{name: "a notification that arrives again changes nothing", rule: "1.8", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		list := s.play.news()
		s.push(list...)
		s.work()
		reads, version := s.front.reads(token), s.membership("7").Version
		s.push(list...)
		s.work()
		if s.front.reads(token) != reads || s.membership("7").Version != version {
			s.t.Error("the store was asked again, or the membership changed")
		}
		s.wantEvents("activated 7", "will_not_renew 7")
	}},
	{name: "notifications that arrive in another order lead to what the store says", rule: "1.8", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.lapse("7", token, 26*time.Hour)
		s.pass(9 * day)
		s.act(s.play.recover, token)
		list := s.play.news()
		slices.Reverse(list)
		for _, m := range list {
			s.push(m)
			s.work()
		}
		s.want("7", "active Gold")
	}},
	{name: "a code that is not known has the purchase read again, with an alert", rule: "1.8 codes 14 to 16, 21", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		s.push(s.about("m1", 21, token))
		s.work()
		s.want("7", "active Gold, ends")
		if s.alerts() != "unknown_notification" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
	}},
	{name: "a notification alone changes nothing that the store does not confirm", rule: "1.8", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		version := s.membership("7").Version
		for code, id := range []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13"} {
			s.push(s.about(id, code, token))
		}
		s.push(s.note("void", map[string]any{"voidedPurchaseNotification": map[string]any{
			"purchaseToken": token, "orderId": s.play.lastOrder(token), "productType": 1, "refundType": 1,
		}}))
		s.work()
		s.want("7", "active Gold")
		if s.membership("7").Version != version {
			s.t.Error("the membership changed")
		}
	}},
	{name: "a purchase is activated and acknowledged by its notification, before the app calls", rule: "1.5, 1.8 code 4", run: func(s *site) {
		token := s.buy("7", purchase{product: gold})
		s.deliver()
		s.want("7", "active Gold")
		if s.front.acknowledgement(token).times != 1 {
			s.t.Error("not acknowledged")
		}
		if v := s.verified("7", token); v.Result != "unchanged" {
			s.t.Errorf("%v", v)
		}
		s.wantEvents("activated 7")
	}},
	{name: "a purchase whose account id nobody has waits for the app", rule: "1.5", run: func(s *site) {
		token := s.buy("", purchase{product: gold})
		s.deliver()
		if s.front.acknowledgement(token).times != 0 {
			s.t.Error("acknowledged for nobody")
		}
		s.verified("7", token)
		s.want("7", "active Gold")
	}},
	{name: "a notification of another app raises an alert and asks nothing", rule: "1.8", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		reads := s.front.reads(token)
		m := s.about("m1", 12, token)
		m.data = []byte(strings.ReplaceAll(string(m.data), appPackage, "com.other.app"))
		s.push(m)
		s.work()
		if s.front.reads(token) != reads || s.alerts() != "other_application" {
			s.t.Errorf("%d reads, alerts: %s", s.front.reads(token)-reads, s.alerts())
		}
	}},
	{name: "a test notification and one about a one-time product that the site does not sell are stored, and nothing follows", rule: "1.8", run: func(s *site) {
		s.push(
			s.note("m1", map[string]any{"testNotification": map[string]any{"version": "1.0"}}),
			s.note("m2", map[string]any{"oneTimeProductNotification": map[string]any{"version": "1.0", "notificationType": 1, "purchaseToken": "coins-token-of-a-buyer", "sku": "coins"}}),
		)
		s.work()
		s.wantMessages(2)
		if s.alerts() != "" || s.front.reads("coins-token-of-a-buyer") != 0 {
			s.t.Errorf("alerts: %s", s.alerts())
		}
	}},
	{name: "a request without the store's proof is refused, and nothing is stored", rule: "1.8 push authentication", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		bearer, body, err := s.play.push(s.play.news()[0])
		s.check(err)
		forgeries := map[string]string{"no token": "", "another key": resigned(bearer, newKey(), nil)}
		for name, claims := range map[string]map[string]any{
			"another audience":        {"aud": "https://evil.example"},
			"another issuer":          {"iss": "https://evil.example"},
			"another service account": {"email": "push@evil.iam.gserviceaccount.com"},
			"an unverified e-mail":    {"email_verified": false},
			"an expired token":        {"iat": s.now.Add(-3 * time.Hour).Unix(), "exp": s.now.Add(-2 * time.Hour).Unix()},
		} {
			forgeries[name] = resigned(bearer, addontest.Key(), claims)
		}
		for name, forged := range forgeries {
			var refused verdict
			status, _, err := s.send("POST", "iap/notifications/store", string(body), map[string]string{"Authorization": "Bearer " + forged}, &refused)
			s.check(err)
			if status != 401 || refused.Code != "unauthorized" {
				s.t.Errorf("%s: %d %s", name, status, refused.Code)
			}
		}
		s.wantMessages(0)
		s.want("7", "active Gold")
		header := map[string]string{"Authorization": "Bearer " + resigned(bearer, addontest.Key(), map[string]any{"iss": "accounts.google.com"})}
		s.call(204, "POST", "iap/notifications/store", string(body), header, nil) // the other name of the issuer
		s.wantMessages(1)
	}},
	{name: "notifications are accepted after the store has replaced its signing key", rule: "1.8 push authentication", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.deliver()
		s.check(s.play.rotatePushKey())
		s.pass(2 * time.Minute)
		s.act(s.play.cancel, token)
		s.deliver()
		s.want("7", "active Gold, ends")
	}},
	{name: "a notification comes again when the store's keys can't be read", rule: "1.8", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		s.act(s.play.cancel, token)
		list := s.play.news()
		bearer, body, err := s.play.push(list[0])
		s.check(err)
		s.front.cut(true)
		s.call(503, "POST", "iap/notifications/store", string(body), map[string]string{"Authorization": "Bearer " + bearer}, nil)
		s.wantMessages(0)
		s.front.cut(false)
		s.pass(2 * time.Minute)
		s.push(list...)
		s.work()
		s.want("7", "active Gold, ends")
	}},
	{name: "a renewal whose notification was lost is found when the paid time ends", rule: "6.5, 6.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		end := s.membership("7").Until.Time
		s.now = end
		s.play.move(end)
		s.check(s.play.renew(token))
		s.play.news()
		s.clock.Move(end.Sub(s.clock.Now()) - time.Minute)
		s.pass(3 * time.Minute)
		s.want("7", "active Gold")
		if !s.membership("7").Until.After(end) {
			s.t.Error("the renewal was not found")
		}
		s.wantEvents("activated 7", "renewed 7")
	}},
	{name: "silence raises an alert while renewals are found by reading", rule: "6.6", run: func(s *site) {
		token := s.bought("7", purchase{product: gold})
		end := s.membership("7").Until.Time
		s.now = end
		s.play.move(end)
		s.check(s.play.renew(token))
		s.clock.Move(end.Sub(s.clock.Now()))
		s.pass(2 * time.Minute)
		s.pass(time.Hour)
		if s.alerts() != "notifications_silent" {
			s.t.Errorf("alerts: %s", s.alerts())
		}
	}},
}

// wantMessages wants a number of stored notifications.
func (s *site) wantMessages(want int) {
	s.t.Helper()
	list, err := s.Members.Messages(s.t.Context(), operator, 0, 100)
	s.check(err)
	if len(list) != want {
		s.t.Errorf("%d notifications are stored, want %d", len(list), want)
	}
}

// resigned is a bearer token with other claims, signed with a key.
func resigned(bearer string, key *rsa.PrivateKey, changes map[string]any) string {
	parts := strings.Split(bearer, ".")
	text, _ := base64.RawURLEncoding.DecodeString(parts[1])
	claims := map[string]any{}
	_ = json.Unmarshal(text, &claims) // of our own simulation
	for name, value := range changes {
		claims[name] = value
	}
	signed := parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(jsonText(claims)))
	digest := sha256.Sum256([]byte(signed))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, digest[:])
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}
