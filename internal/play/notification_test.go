package play_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// pushBody returns the body of a push with a notification.
func pushBody(data string) []byte {
	return fmt.Appendf(nil, `{"message":{"data":%q,"messageId":"1","publishTime":"2026-01-02T03:04:05.6Z"},"subscription":"projects/p/subscriptions/s"}`,
		base64.StdEncoding.EncodeToString([]byte(data)))
}

func TestEachKindOfNotificationIsRead(t *testing.T) {
	common := play.Notification{
		MessageID: "1", PublishedAt: time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.UTC), Queue: "projects/p/subscriptions/s",
		Package: "com.example.app", EventAt: time.UnixMilli(1503349566168).UTC(),
	}
	cases := []struct {
		name, members string
		want          play.Notification
	}{
		{"a subscription", `"subscriptionNotification":{"version":"1.0","notificationType":4,"purchaseToken":"T"}`, play.Notification{Kind: play.OfSubscription, Code: 4, Token: "T"}},
		{"an unknown code", `"subscriptionNotification":{"notificationType":9999,"purchaseToken":"T"}`, play.Notification{Kind: play.OfSubscription, Code: 9999, Token: "T"}},
		{"a code as a text", `"subscriptionNotification":{"notificationType":"13","purchaseToken":"T"}`, play.Notification{Kind: play.OfSubscription, Code: 13, Token: "T"}},
		{"a one-time product", `"oneTimeProductNotification":{"notificationType":1,"purchaseToken":"T","sku":"sword"}`, play.Notification{Kind: play.OfOneTime, Code: 1, Token: "T", ProductID: "sword"}},
		{"a voided purchase", `"voidedPurchaseNotification":{"purchaseToken":"T","orderId":"GPA.1","productType":1,"refundType":2}`, play.Notification{Kind: play.OfVoid, Token: "T", OrderID: "GPA.1", ProductType: 1, RefundType: 2}},
		{"a review", `"pendingRefundReviewNotification":{"pendingRefundToken":"R","orderId":"GPA.1","refundReason":7,"obfuscatedAccountId":"A","obfuscatedProfileId":"P"}`, play.Notification{Kind: play.OfRefundReview, ReviewToken: "R", OrderID: "GPA.1", RefundReason: 7, Account: "A", Profile: "P"}},
		{"a test", `"testNotification":{"version":"1.0"}`, play.Notification{Kind: play.OfTest}},
		{"a kind that was added since", `"somethingNotification":{"purchaseToken":"T"}`, play.Notification{Kind: play.OfUnknown}},
		{"an absent kind beside another", `"subscriptionNotification":null,"testNotification":{}`, play.Notification{Kind: play.OfTest}},
	}
	for _, test := range cases {
		for _, millis := range []string{`"1503349566168"`, `1503349566168`} {
			t.Run(test.name, func(t *testing.T) {
				want := test.want
				want.MessageID, want.PublishedAt, want.Queue, want.Package, want.EventAt = common.MessageID, common.PublishedAt, common.Queue, common.Package, common.EventAt
				got := must.Get(play.ParsePush(pushBody(`{"version":"1.0","packageName":"com.example.app","eventTimeMillis":` + millis + `,` + test.members + `}`)))(t)
				if got != want {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
			})
		}
	}
}

func TestNotificationsThatCantBeRead(t *testing.T) {
	const subscription = `"subscriptionNotification":{"notificationType":4,"purchaseToken":"secret"}`
	for name, body := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("secret"), "no object": []byte(`"secret"`), "trailing data": append(pushBody(`{"packageName":"a.b"}`), '1'),
		"a member twice":    []byte(`{"message":{"messageId":"1","messageId":"2","data":"e30="}}`),
		"no id":             []byte(`{"message":{"data":"e30="}}`),
		"another type":      []byte(`{"message":{"messageId":7,"data":"e30="}}`),
		"no Base64":         []byte(`{"message":{"messageId":"1","data":"???"}}`),
		"a bad time":        []byte(`{"message":{"messageId":"1","publishTime":"now","data":"e30="}}`),
		"NUL":               []byte(`{"message":{"messageId":"1\u0000","data":"eyJwYWNrYWdlTmFtZSI6ImEuYiJ9"}}`),
		"data without":      pushBody("secret"),
		"no package":        pushBody(`{` + subscription + `}`),
		"two kinds":         pushBody(`{"packageName":"a.b",` + subscription + `,"testNotification":{}}`),
		"no token":          pushBody(`{"packageName":"a.b","subscriptionNotification":{"notificationType":4}}`),
		"a broken token":    pushBody(`{"packageName":"a.b","subscriptionNotification":{"notificationType":4,"purchaseToken":"a/../b"}}`),
		"a fraction":        pushBody(`{"packageName":"a.b","subscriptionNotification":{"notificationType":4.5,"purchaseToken":"secret"}}`),
		"an empty number":   pushBody(`{"packageName":"a.b","subscriptionNotification":{"notificationType":"","purchaseToken":"secret"}}`),
		"a long token":      pushBody(`{"packageName":"a.b","subscriptionNotification":{"notificationType":4,"purchaseToken":"` + strings.Repeat("a", 3000) + `"}}`),
		"more than 64 KB":   pushBody(strings.Repeat(" ", play.MaxPush)),
		"other letter case": []byte(`{"Message":{"messageId":"1","data":"e30="}}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := play.ParsePush(body)
			wantReason(t, err, play.Malformed)
			wantNoSecret(t, name, err, "secret")
		})
	}
}

func TestMessagesArePulledAndAcknowledged(t *testing.T) {
	const queue = "projects/simulated/subscriptions/play"
	s := newStore(t)
	c := open(t, s)
	if list, err := c.Pull(t.Context(), queue, 10); err != nil || len(list) != 0 {
		t.Fatalf("an empty queue: %v, %v", list, err)
	}
	token := buy(t, s, playfake.BuyOptions{})
	s.SendTest()
	s.SendTest()
	first := must.Get(c.Pull(t.Context(), queue, 2))(t)
	if len(first) != 2 {
		t.Fatalf("%d messages, want 2", len(first))
	}
	n := must.Get(play.ParsePush(first[0].Body))(t)
	if n.Kind != play.OfSubscription || n.Code != play.CodePurchased || n.Token != token || n.Package != s.Package() || !n.EventAt.Equal(s.Now()) || n.Queue != queue {
		t.Errorf("the notification is %+v", n)
	}
	again := must.Get(c.Pull(t.Context(), queue, 2))(t)
	expect.Equalf(t, again[0].AckID, first[0].AckID, "a message that nobody acknowledged does not come again")
	must.Do(t, c.AcknowledgeMessages(t.Context(), queue, []string{first[0].AckID, first[1].AckID}))
	must.Do(t, c.AcknowledgeMessages(t.Context(), queue, nil))
	if rest, err := c.Pull(t.Context(), queue, 10); err != nil || len(rest) != 1 {
		t.Errorf("the rest is %v, %v", rest, err)
	}
}

func TestPullingFails(t *testing.T) {
	const queue = "projects/simulated/subscriptions/play"
	s := newStore(t)
	c := open(t, s)
	for _, name := range []string{"", "play", "projects/p/subscriptions/", "projects/p/subscriptions/../x", "projects/p/topics/t", queue + "?a"} {
		_, err := c.Pull(t.Context(), name, 1)
		wantReason(t, err, play.Refused)
	}
	s.Fail(1, 404, "notFound")
	_, err := c.Pull(t.Context(), queue, 1)
	wantReason(t, err, play.Refused)
	s.Deny(playfake.PartPubSub, true)
	_, err = c.Pull(t.Context(), queue, 1)
	wantReason(t, err, play.Unauthorized)
	s.Deny(playfake.PartPubSub, false)
	s.FailQuota(1, time.Minute)
	expect.Equalf(t, wantReason(t, c.AcknowledgeMessages(t.Context(), queue, []string{"a"}), play.Unavailable).RetryAfter, time.Minute, "wait")
	s.FailRaw(1, 200, "[")
	_, err = c.Pull(t.Context(), queue, 1)
	wantReason(t, err, play.Unavailable)
}
