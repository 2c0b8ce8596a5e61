// Package playfake is a complete simulated Google Play. It answers the Play Developer
// API, the token endpoint, Pub/Sub and the keys of push messages over HTTP, and it has a
// clock that moves when it is told to. Its behaviour follows Google's public documentation.
package playfake

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Options is what a store begins with. Zero values are replaced by defaults.
type Options struct {
	// Package is the name of the app's package; the default is com.example.app.
	Package string
	// Start is the date of the store's clock; the default is 2026-01-01.
	Start time.Time
	// Random is where ids come from; the default is the system's. It must never end.
	Random io.Reader
	// Products is the catalogue; the default is [SampleProducts].
	Products []Product
	// AccountKey is the key of the service account, PushKey that of push messages; they are
	// generated when they are first needed.
	AccountKey, PushKey *rsa.PrivateKey
	// Audience and PushAccount are in the token of each push message.
	Audience, PushAccount string
}

// Store is a simulated Google Play for one app. Goroutines may share it.
type Store struct {
	mu     sync.Mutex
	random io.Reader
	state  state
	script script
	// purchases and orders are those of the state by token and id, up to the last look-up.
	purchases map[string]*purchase
	orders    map[string]*order
	// admitted reports that calls need no access token.
	admitted bool
}

// state is all that a snapshot holds.
type state struct {
	Package     string
	Now         time.Time
	Audience    string
	PushAccount string
	// AccountKey and PushKey are in PKCS #8, nil until they are needed.
	AccountKey, PushKey []byte
	// Rotations is how often the key of push messages was replaced.
	Rotations    int
	Products     []Product
	Purchases    []*purchase // oldest first
	Orders       []*order    // oldest first
	Voids        []void      // oldest first
	Messages     []Message   // oldest first
	LastMessage  int64
	AccessTokens []accessToken
}

// maxMessages is how many messages a store keeps.
const maxMessages = 1000

// New returns a store in which nothing was bought yet.
func New(o Options) (*Store, error) {
	s := &Store{random: o.Random, purchases: map[string]*purchase{}, orders: map[string]*order{}, state: state{
		Package: o.Package, Now: o.Start, Audience: o.Audience, PushAccount: o.PushAccount, Products: o.Products,
	}}
	if s.random == nil {
		s.random = rand.Reader
	}
	if s.state.Package == "" {
		s.state.Package = "com.example.app"
	}
	if s.state.Now.IsZero() {
		s.state.Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if s.state.Products == nil {
		s.state.Products = SampleProducts()
	}
	if s.state.PushAccount == "" {
		s.state.PushAccount = "push@simulated.iam.gserviceaccount.com"
	}
	for _, p := range s.state.Products {
		if err := p.check(); err != nil {
			return nil, err
		}
	}
	var err error
	if s.state.AccountKey, err = encodeKey(o.AccountKey); err != nil {
		return nil, err
	}
	s.state.PushKey, err = encodeKey(o.PushKey)
	return s, err
}

// Snapshot returns the state of the store as JSON: purchases, clock, keys, messages. It holds
// secrets of the simulated Play. The failure script is not part of it.
func (s *Store) Snapshot() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.Marshal(s.state)
}

// Restore replaces the state of the store by a snapshot.
func (s *Store) Restore(snapshot []byte) error {
	var read state
	if err := json.Unmarshal(snapshot, &read); err != nil {
		return fmt.Errorf("read the snapshot of the simulated Play: %w", err)
	}
	if read.Package == "" || read.Now.IsZero() {
		return errors.New("read the snapshot of the simulated Play: it is incomplete")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.purchases, s.orders = read, map[string]*purchase{}, map[string]*order{}
	return nil
}

// Now returns the time on the store's clock.
func (s *Store) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Now
}

// SetPackage replaces the name of the app's package.
func (s *Store) SetPackage(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.Package = name
}

// Package returns the name of the app's package.
func (s *Store) Package() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Package
}

// id returns a new random id of lower-case letters and digits.
func (s *Store) id(bytes int) string {
	b := make([]byte, bytes)
	if _, err := io.ReadFull(s.random, b); err != nil {
		panic("playfake: the source of random ids ended: " + err.Error())
	}
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b))
}

// digits returns n random digits.
func (s *Store) digits(n int) string {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.random, b); err != nil {
		panic("playfake: the source of random ids ended: " + err.Error())
	}
	for i := range b {
		b[i] = '0' + b[i]%10
	}
	return string(b)
}

// purchase returns the purchase with a token, nil for none.
func (s *Store) purchase(token string) *purchase {
	for _, p := range s.state.Purchases[len(s.purchases):] {
		s.purchases[p.Token] = p
	}
	return s.purchases[token]
}

// act runs an act of the buyer or the developer on a purchase, and what becomes due by it.
func (s *Store) act(token string, do func(p *purchase) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.purchase(token)
	if p == nil {
		return errors.New("unknown purchase token")
	}
	if err := do(p); err != nil {
		return err
	}
	p.Revision++
	s.advanceTo(s.state.Now)
	return nil
}
