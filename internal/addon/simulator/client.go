package simulator

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// accountBits is the size of the key of the service account; the client refuses smaller ones.
const accountBits = 2048

// accountKey returns the key of the service account with which this process calls.
var accountKey = sync.OnceValues(func() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, accountBits)
	if err != nil {
		return nil, fmt.Errorf("simulator: generate the key of the service account: %w", err)
	}
	return key, nil
})

// store is the simulated store as memberships use it.
type store struct {
	*play.Client
	service *Service
}

// Now is the time on the store's clock.
func (s store) Now(ctx context.Context) (time.Time, error) { return s.service.Now(ctx) }

// Open returns the simulated store.
func (s *Service) Open(selling iap.Selling) (membership.Store, error) {
	client, err := s.clientOf(selling)
	return store{client, s}, err
}

// clientOf returns the client of Google Play whose calls the simulated store answers.
func (s *Service) clientOf(selling iap.Selling) (*play.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil && s.app == selling.Application {
		return s.client, nil
	}
	key, err := accountKey()
	if err != nil {
		return nil, err
	}
	shared := &playfake.Shared{Visit: s.visit, AccountKey: key, Now: s.now}
	file, err := shared.ServiceAccount()
	if err != nil {
		return nil, fmt.Errorf("simulator: the service account: %w", err)
	}
	client, err := play.Open(play.Options{ServiceAccount: file, Package: selling.Application, Transport: shared, Now: s.access.Now})
	if err != nil {
		return nil, err
	}
	s.client, s.app = client, selling.Application
	return client, nil
}

// Now returns the time on the store's clock.
func (s *Service) Now(ctx context.Context) (now time.Time, err error) {
	err = s.visit(ctx, false, func(store *playfake.Store) error {
		now = store.Now()
		return nil
	})
	return now, err
}

// visit is for the calls of the client. Reads take no lock, unless something became due since
// the last change.
func (s *Service) visit(ctx context.Context, write bool, do func(*playfake.Store) error) error {
	selling, err := s.Selling(ctx)
	if err != nil {
		return err
	}
	if !write {
		st, due, err := s.read(ctx, selling)
		if err != nil {
			return err
		}
		if !due {
			return do(st.store)
		}
	}
	_, err = s.change(ctx, selling, 0, func(_ *addondb.DB, st *state) error { return do(st.store) })
	return err
}
