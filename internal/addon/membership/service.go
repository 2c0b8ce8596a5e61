// Package membership verifies purchases with the app's store and derives from them, and from
// manual grants, what the users of a site have. It keeps that true: it acknowledges purchases,
// reads them again when they end and when the store sends notifications, and never acts on
// anything that the store does not confirm. The sections in comments are those of the notes
// on Google Play.
package membership

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/sqldb"
)

// Event is what the site is told, written in the transaction of its cause (6.5). Membership,
// Previous and Purchase are JSON, nil for none.
type Event struct {
	Type        entitle.EventType
	UserID      string
	Membership  json.RawMessage
	Previous    json.RawMessage
	Purchase    json.RawMessage
	Environment entitle.Environment
}

// Options is what a service is built from. All fields but Wait and Jitter are needed.
type Options struct {
	DB    *addondb.DB
	Guard *access.Guard
	// Selling returns the published settings.
	Selling func(context.Context) (iap.Selling, error)
	// Open returns the store that settings name. It is called for each use.
	Open func(iap.Selling) (Store, error)
	// Append writes an event in a transaction, Put a task. Postpone has the tasks of a kind that are due wait until a time.
	Append   func(ctx context.Context, tx *addondb.DB, e Event) error
	Put      func(ctx context.Context, tx *addondb.DB, t jobs.Task) error
	Postpone func(ctx context.Context, tx *addondb.DB, kind string, until time.Time) error
	// Rename moves the purchases of a user in the simulated store to another one, "" for nobody, before a transaction of
	// a merge or an erasure locks anything else.
	Rename func(ctx context.Context, tx *addondb.DB, user, to string) error
	// Wait waits between two calls to the store, and returns false when ctx ends first.
	Wait func(ctx context.Context, d time.Duration) bool
	// Jitter returns a random duration up to a bound.
	Jitter func(bound time.Duration) time.Duration
	Log    *slog.Logger
}

// Service is the memberships of a site. Its methods may be called from many goroutines.
type Service struct {
	Options
	db    *addondb.DB
	guard *access.Guard
	// failures holds the tokens that the store refused a short time ago, thefts those that were
	// presented by another user.
	failures, thefts *limit.Window[string]
	// unknowns counts by user the tokens that the store does not know.
	unknowns *limit.Window[string]
	flights  singleflight.Group
	// places bounds the verifications that wait for the store. One waits for patience to get a place from others, and for
	// claimTimeout in all.
	places                 *places
	patience, claimTimeout time.Duration
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
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Jitter == nil {
		o.Jitter = func(bound time.Duration) time.Duration { return rand.N(bound) }
	}
	s := &Service{
		Options: o, db: o.DB, guard: o.Guard,
		failures: limit.NewWindow[string](failureWindow, o.Guard.Now), thefts: limit.NewWindow[string](theftWindow, o.Guard.Now),
		unknowns: limit.NewWindow[string](unknownWindow, o.Guard.Now),
		places:   newPlaces(), patience: patience, claimTimeout: claimTimeout, onceTimeout: onceTimeout,
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

// txn is a transaction and the events that end it. Whoever appends an event makes others who
// append wait until the transaction ends, so nothing may be waited for afterwards.
type txn struct {
	*addondb.DB
	events []Event
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
		if err := s.Append(ctx, db, e); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) now() time.Time { return s.guard.Now().UTC().Truncate(time.Second) }

func (s *Service) timestamp() sqldb.Time { return sqldb.Time{Time: s.now()} }

func (s *Service) box() *keyfile.Box { return s.guard.Box() }
