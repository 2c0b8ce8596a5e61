package membership

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// playRate is how many calls a second Google Play gets at most.
const playRate = 40

// playStore is Google Play.
type playStore struct {
	*play.Client
	now func() time.Time
}

// Now is the time on the store's clock.
func (s playStore) Now(context.Context) (time.Time, error) { return s.now(), nil }

// storeOf returns the store that settings name: Google Play, or in test mode the simulated store.
func (s *Service) storeOf(selling iap.Selling) (Store, error) {
	if selling.Simulated {
		return s.simulator.Open(selling)
	}
	client, err := s.clients.open(selling)
	return playStore{client, s.access.Now}, err
}

// clients keeps the clients of Google Play, one for each application, while the service account stays the same.
type clients struct {
	// url replaces the addresses of Google, "" for those.
	url string
	now func() time.Time

	mu      sync.Mutex
	account []byte
	byApp   map[string]*play.Client
}

// open returns the client for settings.
func (c *clients) open(s iap.Selling) (*play.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !bytes.Equal(c.account, s.ServiceAccount) {
		c.byApp = nil
	}
	if client := c.byApp[s.Application]; client != nil {
		return client, nil
	}
	o := play.Options{ServiceAccount: s.ServiceAccount, Package: s.Application, URL: c.url, Now: c.now, Rate: playRate}
	if c.url != "" {
		o.Rate = 0
	}
	client, err := play.Open(o)
	if err != nil {
		return nil, err
	}
	if c.byApp == nil {
		c.byApp, c.account = map[string]*play.Client{}, s.ServiceAccount
	}
	c.byApp[s.Application] = client
	return client, nil
}

// CheckStore tests the connection to the app's store with the published settings: the key, the
// access token, the package, and each permission. It changes nothing there. Settings with which
// no store can be asked are a conflict (not_configured), and so is test mode (test_mode).
func (s *Service) CheckStore(ctx context.Context, actor people.Actor) ([]play.Check, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, err
	}
	selling, err := s.selling(ctx)
	if err != nil {
		return nil, err
	}
	client, err := s.storeClient(selling)
	if err != nil {
		return nil, err
	}
	return client.Check(ctx), nil
}

// storeClient returns the client of the real store.
func (s *Service) storeClient(selling iap.Selling) (*play.Client, error) {
	switch {
	case selling.Simulated:
		return nil, fault.Conflict("test_mode", "Test mode is on: the store is not contacted")
	case selling.Application == "":
		return nil, fault.Conflict("not_configured", "No Android application ID is published")
	case selling.ServiceAccount == nil:
		return nil, fault.Conflict("not_configured", "No service account is published")
	}
	google, err := s.clients.open(selling)
	if err != nil {
		return nil, fault.WithCause(fault.Conflict("not_configured", "The published service account can't be used"), err)
	}
	return google, nil
}
