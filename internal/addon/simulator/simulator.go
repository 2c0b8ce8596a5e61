// Package simulator is the app store that answers in test mode. It sells the products of the
// published map without Google: people buy, decline cards and move its clock, and the site
// and its app see what they would see of a real store. Nothing leaves the machine.
package simulator

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play"
)

// Options is what a service is built from. All fields are needed.
type Options struct {
	DB     *addondb.DB
	Access *access.Control
	// Selling returns the published settings.
	Selling func(context.Context) (iap.Selling, error)
	// Members are what the purchases activate.
	Members *membership.Service
	// Events is the feed in which the site finds what happened.
	Events *events.Service
	Log    *slog.Logger
}

// Service is the simulated store of a site. All processes that use a database share its state.
type Service struct {
	Options
	db        *addondb.DB
	access    *access.Control
	maxOrders int

	mu     sync.Mutex
	app    string
	client *play.Client
}

// New returns a service, in which the members have their simulated store. It starts nothing.
func New(o Options) *Service {
	s := &Service{Options: o, db: o.DB, access: o.Access, maxOrders: maxOrders}
	o.Members.Simulate(s)
	return s
}

// now is the present time of the addon.
func (s *Service) now() time.Time { return s.access.Now().UTC().Truncate(time.Second) }

var (
	errOff         = fault.Conflict("test_mode_off", "Test mode is off")
	errNotSelling  = fault.Conflict("iap_disabled", "In-app purchases are off")
	errNoPurchase  = fault.NotFound("simulated_purchase_not_found", "No such purchase in the simulated store")
	errNotPossible = fault.Conflict("not_possible", "Not possible in the present state of the purchase")
)

// admit returns the published settings for an actor who may use the store, while it answers.
func (s *Service) admit(ctx context.Context, actor people.Actor) (iap.Selling, error) {
	if err := s.access.May(actor, access.ManageMembers); err != nil {
		return iap.Selling{}, err
	}
	selling, err := s.Selling(ctx)
	if err == nil && !selling.Simulated {
		err = errOff
	}
	return selling, err
}
