// Package membership verifies purchases with the app's store and derives from them, and from
// manual grants, what the users of a site have. It keeps that true: it acknowledges purchases,
// reads them again when they end and when the store sends notifications, and never acts on
// anything that the store does not confirm. The sections in comments are those of the notes
// on Google Play.
package membership

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/sqldb"
)

// Options is what a service is built from. All fields but PlayURL are needed.
type Options struct {
	DB     *addondb.DB
	Access *access.Control
	IAP    *iap.Service
	Events *events.Service
	// PlayURL replaces the addresses of Google Play, "" for Google.
	PlayURL string
	Log     *slog.Logger
}

// Simulator is the store that answers in test mode.
type Simulator interface {
	Open(iap.Selling) (Store, error)
	// Rename moves the purchases of a user to another one, "" for nobody. A transaction of a merge or an erasure calls it
	// before it locks anything else.
	Rename(ctx context.Context, tx *addondb.DB, user, to string) error
}

// Service is the memberships of a site. Its methods may be called from many goroutines.
type Service struct {
	db        *addondb.DB
	access    *access.Control
	iap       *iap.Service
	log       *slog.Logger
	simulator Simulator
	clients   clients
	verifiers verifiers

	// Tests replace these: the published settings, the store that settings name, the feed of events, the queue, and what
	// waits between two calls to the store.
	selling   func(context.Context) (iap.Selling, error)
	openStore func(iap.Selling) (Store, error)
	append    func(ctx context.Context, tx *addondb.DB, e events.Event) error
	put       func(ctx context.Context, tx *addondb.DB, t jobs.Task) error
	postpone  func(ctx context.Context, tx *addondb.DB, kind string, until time.Time) error
	wait      func(ctx context.Context, d time.Duration) bool
	jitter    func(bound time.Duration) time.Duration

	// failures holds the tokens that the store refused a short time ago, thefts those that were
	// presented by another user.
	failures, thefts *limit.Window[string]
	// unknowns counts by user the tokens that the store does not know.
	unknowns *limit.Window[string]
	flights  singleflight.Group
	// places bounds the verifications that wait for the store. One waits for placeTimeout to get a place from others, and for
	// claimTimeout in all.
	places                     *places
	placeTimeout, claimTimeout time.Duration
	// onceTimeout bounds a call to the store that is made again later in any case.
	onceTimeout time.Duration
	cache       cache
	// resolved has the alerts about calls whose last one succeeded, by their alertKey.
	resolved sync.Map
}

const (
	// failureWindow is how long a token that the store refused is not sent to it again (6.4).
	failureWindow = 5 * time.Minute
	// theftWindow is how long the same theft is not reported again.
	theftWindow = time.Hour
	// unknownWindow is how long a token that the store does not know counts against its user.
	unknownWindow = time.Minute
)

// New returns a service. It starts nothing.
func New(o Options) *Service {
	s := &Service{
		db: o.DB, access: o.Access, iap: o.IAP, log: o.Log, clients: clients{url: o.PlayURL, now: o.Access.Now}, verifiers: verifiers{url: o.PlayURL, now: o.Access.Now},
		failures: limit.NewWindow[string](failureWindow, o.Access.Now), thefts: limit.NewWindow[string](theftWindow, o.Access.Now),
		unknowns: limit.NewWindow[string](unknownWindow, o.Access.Now),
		places:   newPlaces(), placeTimeout: placeTimeout, claimTimeout: claimTimeout, onceTimeout: onceTimeout,
		selling: o.IAP.Selling, wait: wait, jitter: func(bound time.Duration) time.Duration { return rand.N(bound) },
	}
	s.openStore = s.storeOf
	s.append = func(ctx context.Context, tx *addondb.DB, e events.Event) error {
		_, err := o.Events.Append(ctx, tx, e)
		return err
	}
	s.put = func(ctx context.Context, tx *addondb.DB, t jobs.Task) error {
		return jobs.Put(ctx, tx.Queries, t, o.Access.Now())
	}
	s.postpone = func(ctx context.Context, tx *addondb.DB, kind string, until time.Time) error {
		return jobs.Postpone(ctx, tx.Queries, kind, o.Access.Now(), until)
	}
	cached.SetCapacity(&s.cache.Map, cacheBytes, func(*Read) int { return entryBytes })
	return s
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Simulate sets the store that answers in test mode. It is called before the service is used.
func (s *Service) Simulate(with Simulator) { s.simulator = with }

// txn is a transaction and the events that end it. Whoever appends an event makes others who
// append wait until the transaction ends, so nothing may be waited for afterwards.
type txn struct {
	*addondb.DB
	events []events.Event
	// counts are added to the sums before the events.
	counts []addondb.Number
}

// tx runs do in one transaction and then appends its events.
func (s *Service) tx(ctx context.Context, do func(*txn) error) error {
	return s.db.Tx(ctx, func(db *addondb.DB) error { return s.in(ctx, db, do) })
}

// in is tx at the end of a transaction that has begun.
func (s *Service) in(ctx context.Context, db *addondb.DB, do func(*txn) error) error {
	tx := &txn{DB: db}
	if err := do(tx); err != nil {
		return err
	}
	if err := writeCounts(ctx, db, tx.counts); err != nil {
		return err
	}
	for _, e := range tx.events {
		if err := s.append(ctx, db, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) now() time.Time { return s.access.Now().UTC().Truncate(time.Second) }

func (s *Service) timestamp() sqldb.Time { return sqldb.Time{Time: s.now()} }

func (s *Service) box() *keyfile.Box { return s.access.Box() }
