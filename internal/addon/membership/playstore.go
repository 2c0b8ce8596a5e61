package membership

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/iap"
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
	return playStore{client, s.guard.Now}, err
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
