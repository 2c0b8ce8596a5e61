package membership

import (
	"context"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// CheckStore tests the connection to the app's store with the published settings: the key, the
// access token, the package, and each permission. It changes nothing there. Settings with which
// no store can be asked are a conflict (not_configured), and so is test mode (test_mode).
func (s *Service) CheckStore(ctx context.Context, actor people.Actor) ([]play.Check, error) {
	if err := s.guard.May(actor, access.ManageSettings); err != nil {
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
