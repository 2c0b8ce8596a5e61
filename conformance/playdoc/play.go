// Package playdoc simulates the parts of Google Play that a server meets, over HTTP: the
// token endpoint, the Play Developer API of subscriptions, one-time products and orders, the keys of OpenID
// Connect, and push messages of Pub/Sub.
//
// It is written from Google's public documentation alone, so that tests can compare it with
// the code and with the other simulation. Each rule names its page in a comment:
//
//	Lifecycle     developer.android.com/google/play/billing/lifecycle/subscriptions
//	Subscriptions developer.android.com/google/play/billing/subscriptions
//	Integrate     developer.android.com/google/play/billing/integrate
//	Manage        developer.android.com/google/play/billing/manage-purchases
//	RTDN          developer.android.com/google/play/billing/rtdn-reference
//	Reference     developers.google.com/android-publisher/api-ref/rest/v3, and its discovery document
//	Voided        developers.google.com/android-publisher/voided-purchases
//	OAuth         developers.google.com/identity/protocols/oauth2/service-account
//	IAM           cloud.google.com/iam/docs/reference/rest/v1/projects.serviceAccounts.keys
//	Prices        developer.android.com/google/play/billing/price-changes
//	Suggestions   developer.android.com/google/play/billing/provide-refund-and-chargeback-suggestions
//	Add-ons       developer.android.com/google/play/billing/subscription-with-addons
//	Test          developer.android.com/google/play/billing/test
//	Push          cloud.google.com/pubsub/docs/push and …/authenticate-push-subscriptions
//
// Where the pages are silent or disagree, the comment says "Chosen".
package playdoc

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Options are what a simulation starts with.
type Options struct {
	// Package is the name of the app, "com.example.app" by default.
	Package  string
	Products []Product
	OneTime  []OneTimeProduct
	// Now is the clock, set by the caller. It may not go backwards.
	Now func() time.Time
	// Audience, PushAccount and Subscription are what push messages are signed and sent with.
	// Each has a default.
	Audience, PushAccount, Subscription string
	// AccountKey belongs to the service account and PushKey to Google; nil generates them.
	AccountKey, PushKey *rsa.PrivateKey
}

// Play is a simulation for one app: an http.Handler, and acts that change its state.
// Acts return an error when the documentation does not allow them. All methods may be
// called at the same time.
type Play struct {
	options Options

	mu            sync.Mutex
	subscriptions []*subscription // in the order of purchase
	once          []*oneTime      // in the order of purchase
	orders        map[string]*order
	voided        []voided // in the order of voiding
	messages      []Message
	lastMessage   int64
	access        map[string]time.Time // the end of each access token
	withdrawn     map[Permission]bool
	accountKeys   int // how many the service account has had
}

// New returns a store without purchases. It fails when a product has an invalid period.
func New(o Options) (*Play, error) {
	if o.Now == nil {
		return nil, fmt.Errorf("playdoc: no clock")
	}
	o.Package = cmp.Or(o.Package, "com.example.app")
	o.Audience = cmp.Or(o.Audience, "https://example.com/api-addons/notifications/store")
	o.PushAccount = cmp.Or(o.PushAccount, "push@example.iam.gserviceaccount.com")
	o.Subscription = cmp.Or(o.Subscription, "projects/example/subscriptions/play")
	for _, key := range []**rsa.PrivateKey{&o.AccountKey, &o.PushKey} {
		if *key == nil {
			generated, err := rsa.GenerateKey(rand.Reader, 2048)
			if err != nil {
				return nil, err
			}
			*key = generated
		}
	}
	for _, product := range o.Products {
		if err := product.check(); err != nil {
			return nil, err
		}
	}
	products := make([]Product, 0, len(o.Products))
	for _, product := range o.Products { // prices change
		product.Plans = slices.Clone(product.Plans)
		products = append(products, product)
	}
	o.Products = products
	return &Play{options: o, orders: map[string]*order{}, access: map[string]time.Time{}, withdrawn: map[Permission]bool{}, accountKeys: 1}, nil
}

// now is the time of the clock in the precision of Google's answers.
func (p *Play) now() time.Time { return p.options.Now().UTC().Truncate(time.Millisecond) }

// act runs an act on a subscription after what was due before it.
func (p *Play) act(token string, act func(s *subscription, now time.Time) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	s := p.find(token)
	if s == nil {
		return fmt.Errorf("playdoc: unknown token")
	}
	if err := act(s, p.now()); err != nil {
		return fmt.Errorf("playdoc: %w", err)
	}
	p.settle()
	return nil
}

func (p *Play) find(token string) *subscription {
	at := slices.IndexFunc(p.subscriptions, func(s *subscription) bool { return s.token == token })
	if at < 0 {
		return nil
	}
	return p.subscriptions[at]
}

// Due returns when the clock alone changes a subscription next, for example at the end of
// a grace period. It is the zero time when only an act changes it.
func (p *Play) Due(token string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	if s := p.find(token); s != nil {
		return s.due()
	}
	return time.Time{}
}

// settle applies everything that is due, in the order of time, so that a clock that was
// moved far ahead sends its notifications in their order.
func (p *Play) settle() {
	for now := p.now(); ; {
		var next *subscription
		for _, s := range p.subscriptions {
			if due := s.due(); !due.IsZero() && !due.After(now) && (next == nil || due.Before(next.due())) {
				next = s
			}
		}
		if next == nil {
			p.settleOnce()
			return
		}
		p.pass(next, next.due())
	}
}

// random returns n characters of an alphabet.
func random(n int, alphabet string) string {
	bytes := make([]byte, n)
	_, _ = rand.Read(bytes) // never fails since Go 1.24
	text := &strings.Builder{}
	for _, b := range bytes {
		text.WriteByte(alphabet[int(b)%len(alphabet)])
	}
	return text.String()
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnop"
	base64s = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
)
