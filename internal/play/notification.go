package play

import (
	"encoding/base64"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// MaxPush is the size of the largest push message that is read, in bytes.
const MaxPush = 64 << 10

// NotificationKind is what a notification is about.
type NotificationKind string

// The kinds of notifications.
const (
	OfSubscription NotificationKind = "subscription"
	OfOneTime      NotificationKind = "one_time"
	OfVoid         NotificationKind = "voided"
	OfRefundReview NotificationKind = "refund_review"
	OfTest         NotificationKind = "test"
	// OfUnknown is a kind that Google has added since.
	OfUnknown NotificationKind = "unknown"
)

// Codes of notifications about subscriptions. Google adds others; they stay numbers.
const (
	CodeRecovered           = 1
	CodeRenewed             = 2
	CodeCanceled            = 3
	CodePurchased           = 4
	CodeOnHold              = 5
	CodeInGracePeriod       = 6
	CodeRestarted           = 7
	CodePriceConfirmed      = 8
	CodeDeferred            = 9
	CodePaused              = 10
	CodePauseChanged        = 11
	CodeRevoked             = 12
	CodeExpired             = 13
	CodeItemsChanged        = 17
	CodeCancelScheduled     = 18
	CodePriceChanged        = 19
	CodePendingCanceled     = 20
	CodePriceConsentChanged = 22
)

// Notification is a real-time developer notification. It only says that something changed:
// what is true now, [Client.Subscription] returns.
type Notification struct {
	MessageID   string // unique; the same message can come again
	PublishedAt time.Time
	// Queue is the name of the Pub/Sub subscription.
	Queue   string
	Package string
	EventAt time.Time
	Kind    NotificationKind
	// Code is Google's number of a subscription or one-time notification, else 0.
	Code      int64
	Token     string // the purchase token; secret; "" for reviews and tests
	ProductID string // of one-time products
	OrderID   string // of voided orders and reviews
	// ProductType is 1 for a subscription and 2 for a one-time product, RefundType 1 for all and
	// 2 for a part of the quantity, both for voided orders.
	ProductType, RefundType int64
	// ReviewToken is for the answer to a review of a chargeback; secret. RefundReason is
	// Google's number.
	ReviewToken      string
	RefundReason     int64
	Account, Profile string
}

// envelope is a push message.
type envelope struct {
	Message struct {
		Data           string `json:"data"`
		MessageID      string `json:"messageId"`
		OtherID        string `json:"message_id"`
		PublishTime    string `json:"publishTime"`
		OtherPublished string `json:"publish_time"`
	} `json:"message"`
	Subscription string `json:"subscription"`
}

// developerNotification is what is in the data of a push message.
type developerNotification struct {
	PackageName     string  `json:"packageName"`
	EventTimeMillis integer `json:"eventTimeMillis"`
	Subscription    *struct {
		Type  integer `json:"notificationType"`
		Token string  `json:"purchaseToken"`
	} `json:"subscriptionNotification"`
	OneTime *struct {
		Type  integer `json:"notificationType"`
		Token string  `json:"purchaseToken"`
		SKU   string  `json:"sku"`
	} `json:"oneTimeProductNotification"`
	Voided *struct {
		Token       string  `json:"purchaseToken"`
		OrderID     string  `json:"orderId"`
		ProductType integer `json:"productType"`
		RefundType  integer `json:"refundType"`
	} `json:"voidedPurchaseNotification"`
	Review *struct {
		Token   string  `json:"pendingRefundToken"`
		OrderID string  `json:"orderId"`
		Reason  integer `json:"refundReason"`
		Account string  `json:"obfuscatedAccountId"`
		Profile string  `json:"obfuscatedProfileId"`
	} `json:"pendingRefundReviewNotification"`
	Test *struct{} `json:"testNotification"`
}

// integer is a number that Google writes as a number or as a string.
type integer int64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *integer) UnmarshalJSON(text []byte) error {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	value, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return errors.New("not a whole number")
	}
	*n = integer(value)
	return nil
}

// ParsePush reads the body of a push message. Its error has the reason [Malformed] and quotes
// nothing of the body.
func ParsePush(body []byte) (Notification, error) {
	var e envelope
	if len(body) > MaxPush {
		return Notification{}, malformed("larger than 64 KB")
	}
	if json.Unmarshal(body, &e) != nil {
		return Notification{}, malformed("not a push message in JSON")
	}
	m := e.Message
	n := Notification{MessageID: firstText(m.MessageID, m.OtherID), Queue: e.Subscription}
	if n.MessageID == "" {
		return Notification{}, malformed("the message has no id")
	}
	if published := firstText(m.PublishTime, m.OtherPublished); published != "" {
		var err error
		if n.PublishedAt, err = time.Parse(time.RFC3339Nano, published); err != nil {
			return Notification{}, malformed("the time of publishing is not valid")
		}
	}
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return Notification{}, malformed("the data is not Base64")
	}
	var d developerNotification
	if json.Unmarshal(data, &d) != nil {
		return Notification{}, malformed("the data is not a notification in JSON")
	}
	if err := n.fill(&d); err != nil {
		return Notification{}, err
	}
	return n, n.checkTexts()
}

// fill reads the one member that says what the notification is about.
func (n *Notification) fill(d *developerNotification) error {
	n.Package, n.Kind = d.PackageName, OfUnknown
	if d.EventTimeMillis != 0 {
		n.EventAt = time.UnixMilli(int64(d.EventTimeMillis)).UTC()
	}
	found := 0
	if s := d.Subscription; s != nil {
		found++
		n.Kind, n.Code, n.Token = OfSubscription, int64(s.Type), s.Token
	}
	if o := d.OneTime; o != nil {
		found++
		n.Kind, n.Code, n.Token, n.ProductID = OfOneTime, int64(o.Type), o.Token, o.SKU
	}
	if v := d.Voided; v != nil {
		found++
		n.Kind, n.Token, n.OrderID = OfVoid, v.Token, v.OrderID
		n.ProductType, n.RefundType = int64(v.ProductType), int64(v.RefundType)
	}
	if r := d.Review; r != nil {
		found++
		n.Kind, n.ReviewToken, n.OrderID, n.RefundReason = OfRefundReview, r.Token, r.OrderID, int64(r.Reason)
		n.Account, n.Profile = r.Account, r.Profile
	}
	if d.Test != nil {
		found++
		n.Kind = OfTest
	}
	switch {
	case found > 1:
		return malformed("more than one kind of notification in one message")
	case n.Package == "":
		return malformed("the notification names no package")
	case (n.Kind == OfSubscription || n.Kind == OfOneTime || n.Kind == OfVoid) && n.Token == "":
		return malformed("the notification names no purchase")
	}
	return nil
}

// checkTexts refuses texts that are too long or hold control characters, which PostgreSQL
// would not store.
func (n *Notification) checkTexts() error {
	for _, text := range []string{n.MessageID, n.Queue, n.Package, n.ProductID, n.OrderID, n.Account, n.Profile, n.Token, n.ReviewToken} {
		if len(text) > maxTokenLength {
			return malformed("a text is too long")
		}
		for _, r := range text {
			if r < ' ' || r == 0x7f {
				return malformed("a text has a control character")
			}
		}
	}
	if n.Token != "" && checkToken(n.Token) != nil {
		return malformed("the purchase token is not valid")
	}
	return nil
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func malformed(why string) error { return &Error{Reason: Malformed, Cause: errors.New(why)} }
