package playdoc

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"net/http"
	"strconv"
	"time"
)

// The types of subscription notifications that the acts cause (RTDN).
const (
	subscriptionRecovered               = 1
	subscriptionRenewed                 = 2
	subscriptionCanceled                = 3
	subscriptionPurchased               = 4
	subscriptionOnHold                  = 5
	subscriptionInGracePeriod           = 6
	subscriptionRestarted               = 7
	subscriptionPriceChangeConfirmed    = 8
	subscriptionDeferred                = 9
	subscriptionPaused                  = 10
	subscriptionPauseScheduleChanged    = 11
	subscriptionRevoked                 = 12
	subscriptionExpired                 = 13
	subscriptionItemsChanged            = 17
	subscriptionCancellationScheduled   = 18
	subscriptionPriceChangeUpdated      = 19
	subscriptionPendingPurchaseCanceled = 20
)

// Message is a message of Pub/Sub with a notification.
type Message struct {
	ID        string
	Published time.Time
	// Data is the DeveloperNotification, as JSON.
	Data []byte
}

// notification is DeveloperNotification. subscriptionNotification has no subscriptionId any
// more: the reference of today took it out, while older copies show it.
type notification struct {
	Version      string `json:"version"`
	Package      string `json:"packageName"`
	Time         int64  `json:"eventTimeMillis,string"`
	Subscription any    `json:"subscriptionNotification,omitempty"`
	OneTime      any    `json:"oneTimeProductNotification,omitempty"`
	Voided       any    `json:"voidedPurchaseNotification,omitempty"`
	Review       any    `json:"pendingRefundReviewNotification,omitempty"`
	Test         any    `json:"testNotification,omitempty"`
}

type subscriptionNotification struct {
	Version string `json:"version"`
	Type    int    `json:"notificationType"`
	Token   string `json:"purchaseToken"`
}

type voidedNotification struct {
	Token       string `json:"purchaseToken"`
	Order       string `json:"orderId"`
	ProductType int    `json:"productType"`
	RefundType  int    `json:"refundType"`
}

// The types in notifications of voids (RTDN).
const (
	ofSubscription, ofOneTime = 1, 2
	inFull, inPart            = 1, 2
)

func (p *Play) notify(s *subscription, kind int, at time.Time) {
	p.publish(notification{Subscription: subscriptionNotification{"1.0", kind, s.token}}, at)
}

func (p *Play) notifyVoided(o *order, at time.Time) {
	kind := ofSubscription
	if p.findOnce(o.token) != nil {
		kind = ofOneTime
	}
	p.publish(notification{Voided: voidedNotification{o.token, o.id, kind, inFull}}, at)
}

// SendTest publishes the notification that the console's button sends (RTDN).
func (p *Play) SendTest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.publish(notification{Test: map[string]string{"version": "1.0"}}, p.now())
}

func (p *Play) publish(n notification, at time.Time) {
	n.Version, n.Package, n.Time = "1.0", p.options.Package, at.UnixMilli()
	data, _ := json.Marshal(n)
	p.lastMessage++
	p.messages = append(p.messages, Message{ID: strconv.FormatInt(4_000_000_000_000_000+p.lastMessage, 10), Published: at, Data: data})
}

// Messages returns the messages since the last call, in the order of their events.
func (p *Play) Messages() []Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	sent := p.messages
	p.messages = nil
	return sent
}

// Body is the body of a push request (Push). Chosen: the names with an underscore, which
// the page shows beside the others, are included too. Attributes are left out.
func (p *Play) Body(m Message) []byte {
	published := stamp(m.Published)
	body, _ := json.Marshal(map[string]any{"subscription": p.options.Subscription, "message": map[string]any{
		"data": m.Data, "messageId": m.ID, "message_id": m.ID, "publishTime": published, "publish_time": published,
	}})
	return body
}

// Push returns the request that delivers a message to an address, with a token of OpenID
// Connect that is valid for an hour (Push, authentication).
func (p *Play) Push(url string, m Message) (*http.Request, error) {
	r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(p.Body(m)))
	if err != nil {
		return nil, err
	}
	now := p.now()
	token, err := sign(map[string]any{
		"iss": "https://accounts.google.com", "aud": p.options.Audience, "azp": "100000000000000000002", "sub": "100000000000000000002",
		"email": p.options.PushAccount, "email_verified": true, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}, p.options.PushKey, p.pushKeyID())
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	return r, nil
}

// pushKeyID names the key by a digest of it, so that two stores do not share a name.
func (p *Play) pushKeyID() string {
	digest := sha256.Sum256(p.options.PushKey.N.Bytes())
	return hex.EncodeToString(digest[:20])
}

// serveCerts answers the public keys as a JSON Web Key Set, which may be cached.
func (p *Play) serveCerts(w http.ResponseWriter) {
	key := p.options.PushKey.PublicKey
	w.Header().Set("Cache-Control", "public, max-age=3600, must-revalidate, no-transform")
	write(w, map[string]any{"keys": []map[string]string{{
		"kty": "RSA", "alg": "RS256", "use": "sig", "kid": p.pushKeyID(),
		"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
	}}}, nil)
}
