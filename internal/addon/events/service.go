// Package events has the events of memberships and purchases: an ordered feed that the site
// reads, and webhooks that send each event to the site, with retries and a log.
package events

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/hook"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// retention is how long events, deliveries and attempts are kept.
const retention = 30 * 24 * time.Hour

// itself is the actor of what the addon does without being asked.
var itself = people.Operator("countersign")

// Service is the events of an addon. Its methods may be called from many goroutines.
type Service struct {
	db      *addondb.DB
	access  *access.Control
	sender  *hook.Sender
	allowed []netip.Prefix
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)
	log     *slog.Logger

	mu    sync.Mutex
	news  chan struct{} // closed by the next change of the feed
	ended chan struct{} // closed when Run ends
}

// Options are what a service needs beside its database.
type Options struct {
	Access *access.Control
	// Queue gets the kind of job that delivers events.
	Queue *jobs.Queue
	// Sender sends webhooks.
	Sender *hook.Sender
	// AllowPrivate are the private networks that Sender calls.
	AllowPrivate []netip.Prefix
	// Lookup returns the addresses of a name, as [net.Resolver.LookupNetIP] does.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	Log    *slog.Logger
}

// New returns the events in a database, and the watcher that has to be told of its changes.
func New(db *addondb.DB, o Options) (*Service, sqldb.Watcher) {
	s := &Service{
		db: db, access: o.Access, sender: o.Sender, allowed: o.AllowPrivate, lookup: o.Lookup, log: o.Log, news: make(chan struct{}), ended: make(chan struct{}),
	}
	o.Queue.Handle(deliverKind, jobs.Kind{
		Work: s.deliver, Ended: s.deliveryFailed, Workers: deliverWorkers, PerScope: deliverTogether, Lease: deliverLease, Retries: deliverRetries,
	})
	changed := func(topic, _ string) {
		if topic == addondb.TopicEvents {
			s.tell()
		}
	}
	return s, sqldb.Watcher{Changed: changed, Lost: func() {}, Live: s.tell}
}

// Run has [Service.Wait] wait until ctx ends. Call it once.
func (s *Service) Run(ctx context.Context) {
	<-ctx.Done()
	close(s.ended)
}

// Prune deletes events, deliveries and attempts that are older than 30 days.
func (s *Service) Prune(ctx context.Context) error {
	before := sqldb.Time{Time: s.access.Now().Add(-retention)}
	return s.db.Tx(ctx, func(tx *addondb.DB) error { return tx.PruneEvents(ctx, before) })
}

// tell wakes those who wait for events.
func (s *Service) tell() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.news)
	s.news = make(chan struct{})
}

func (s *Service) nextNews() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}
