package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
)

// verdict is the answer to a verification.
type verdict struct {
	countersign.IAPVerification
	// Code and Retryable are of a refusal.
	Code      string `json:"code"`
	Retryable bool   `json:"retryable"`
	status    int
	header    http.Header
}

// String is the status and what became of the token.
func (v verdict) String() string { return fmt.Sprint(v.status, " ", v.Result, v.Code) }

// send sends a request to the addon, compares the answer with the OpenAPI document and reads its
// members into into, which may be nil. Other goroutines than that of the test may use it.
func (s *site) send(method, path, body string, header map[string]string, into any) (int, http.Header, error) {
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/api-addons/"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil {
		err = s.oracle.Check(method, r.URL.Path, response.StatusCode, response.Header, answer)
	}
	if err == nil && into != nil && len(answer) > 0 {
		err = json.NewDecoder(bytes.NewReader(answer)).Decode(into)
	}
	return response.StatusCode, response.Header, err
}

// call is send, and wants a status.
func (s *site) call(status int, method, path, body string, header map[string]string, into any) {
	s.t.Helper()
	got, _, err := s.send(method, path, body, header, into)
	s.check(err)
	if got != status {
		s.t.Fatalf("%s %s: %d, want %d", method, path, got, status)
	}
}

func jsonText(v any) string {
	text, _ := json.Marshal(v) // only plain values come here
	return string(text)
}

// account is the obfuscated account id of a user, as the app asks for it.
func (s *site) account(user string) string {
	s.t.Helper()
	var intent countersign.IAPIntent
	s.call(200, "POST", "iap/intents", "", s.app(user), &intent)
	return intent.AccountID
}

// buy buys in the simulation, for a user's account id or, with "", without one.
func (s *site) buy(user string, p purchase) string {
	s.t.Helper()
	if user != "" {
		p.account = s.account(user)
	}
	token, err := s.play.buy(p)
	s.check(err)
	return token
}

// bought is buy, and the app verifies the purchase.
func (s *site) bought(user string, p purchase) string {
	s.t.Helper()
	token := s.buy(user, p)
	s.verified(user, token)
	return token
}

// verify has a token verified for a user.
func (s *site) verify(user, token string) (v verdict) {
	s.t.Helper()
	v, err := s.tryVerify(user, token)
	s.check(err)
	return v
}

func (s *site) tryVerify(user, token string) (v verdict, err error) {
	body := jsonText(map[string]string{"platform": "store", "purchase_token": token})
	v.status, v.header, err = s.send("POST", "iap/verify", body, s.app(user), &v)
	return v, err
}

// verified is verify that has to succeed.
func (s *site) verified(user, token string) verdict {
	s.t.Helper()
	v := s.verify(user, token)
	if v.status != http.StatusOK || !v.Purchase.Acknowledged {
		s.t.Fatalf("%s: %v, %+v", user, v, v.Purchase)
	}
	return v
}

// refused is verify that has to be answered with a status and a code.
func (s *site) refused(user, token string, status int, code string) verdict {
	s.t.Helper()
	v := s.verify(user, token)
	if v.status != status || v.Code != code {
		s.t.Errorf("%s: %v, want %d %s", user, v, status, code)
	}
	return v
}

// membership is what the app of a user reads.
func (s *site) membership(user string) countersign.IAPMembership {
	s.t.Helper()
	var read struct{ Membership countersign.IAPMembership }
	s.call(200, "GET", "iap/membership", "", s.app(user), &read)
	return read.Membership
}

// state is a membership in words: the status, with access the package, and what matters then.
func (s *site) state(user string) string {
	s.t.Helper()
	m := s.membership(user)
	text := m.Status
	if m.Active {
		text += " " + m.Package.Name
	}
	if m.Active && !m.WillRenew {
		text += ", ends"
	}
	if m.ActionRequired != nil {
		text += ", " + *m.ActionRequired
	}
	return text
}

// want compares the membership of a user with words for it.
func (s *site) want(user, want string) {
	s.t.Helper()
	if got := s.state(user); got != want {
		s.t.Errorf("user %s has %q, want %q", user, got, want)
	}
}

// purchases are those of a user as the site reads them, newest first.
func (s *site) purchases(user string) []countersign.IAPPurchase {
	s.t.Helper()
	var page struct{ Purchases []countersign.IAPPurchase }
	s.call(200, "GET", "iap/users/"+user+"/purchases", "", s.server(), &page)
	return page.Purchases
}

// events are those since the last call, as "activated 7".
func (s *site) events() (list []string) {
	s.t.Helper()
	for {
		var feed countersign.IAPFeed
		s.call(200, "GET", "iap/events?after="+strconv.FormatInt(s.cursor, 10), "", s.server(), &feed)
		if len(feed.Events) == 0 {
			return list
		}
		s.cursor = feed.Cursor
		for _, e := range feed.Events {
			var body struct {
				Type   string `json:"type"`
				UserID string `json:"user_id"`
			}
			s.check(json.Unmarshal(e.Event, &body))
			list = append(list, strings.TrimPrefix(body.Type, "membership.")+" "+body.UserID)
		}
	}
}

func (s *site) wantEvents(want ...string) {
	s.t.Helper()
	if got := s.events(); !slices.Equal(got, want) {
		s.t.Errorf("events %q, want %q", got, want)
	}
}

// deliver pushes the notifications since the last time to the addon, in their order, and has them
// processed.
func (s *site) deliver() {
	s.t.Helper()
	s.push(s.play.news()...)
	s.work()
}

// push sends notifications as the store does.
func (s *site) push(list ...message) {
	s.t.Helper()
	for _, m := range list {
		bearer, body, err := s.play.push(m)
		s.check(err)
		s.call(204, "POST", "iap/notifications/store", string(body), map[string]string{"Authorization": "Bearer " + bearer}, nil)
	}
}

// note writes a notification of the app with members of the caller's choice.
func (s *site) note(id string, members map[string]any) message {
	body := map[string]any{"version": "1.0", "packageName": appPackage, "eventTimeMillis": strconv.FormatInt(s.now.UnixMilli(), 10)}
	for name, value := range members {
		body[name] = value
	}
	return message{id, []byte(jsonText(body))}
}

// about writes a notification about a subscription.
func (s *site) about(id string, code int, token string) message {
	return s.note(id, map[string]any{"subscriptionNotification": map[string]any{"version": "1.0", "notificationType": code, "purchaseToken": token}})
}

// act does something in the simulation that has to be possible.
func (s *site) act(do func(token string) error, token string) {
	s.t.Helper()
	s.check(do(token))
}

// renew moves both clocks to the end of a user's paid time, has the subscription renewed and the
// notifications delivered.
func (s *site) renew(user, token string) {
	s.t.Helper()
	end := s.membership(user).Until.Time
	s.now = end
	s.play.move(end)
	s.check(s.play.renew(token))
	s.clock.Move(end.Sub(s.clock.Now()))
	s.deliver()
}
