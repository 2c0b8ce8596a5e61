// Package iap holds the rules of in-app purchases: membership packages, the product
// map, the service account, and the view of all this that apps read (spec 2.6, 2.7).
// The values themselves are settings of the draft, which package settings changes.
package iap

import (
	"context"
	"log/slog"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/sqldb"
)

// Service is the in-app purchases of an addon. Its methods may be called from many
// goroutines.
type Service struct {
	db        *addondb.DB
	access    *access.Control
	published cached.Value[Published]
	log       *slog.Logger
	// ranked is called in the transaction that changes a package's rank.
	ranked func(context.Context, *addondb.DB) error
}

// New returns the in-app purchases in a database, and the watcher that has to be told of
// its changes.
func New(db *addondb.DB, control *access.Control, log *slog.Logger) (*Service, sqldb.Watcher) {
	s := &Service{db: db, access: control, log: log, ranked: func(context.Context, *addondb.DB) error { return nil }}
	return s, s.published.Watch(s.readPublished, addondb.TopicServed)
}

// WatchRanks has fn called in each transaction that changes the rank of a package. It is
// called before the service is used.
func (s *Service) WatchRanks(fn func(context.Context, *addondb.DB) error) { s.ranked = fn }

// Run caches what apps are served until ctx ends.
func (s *Service) Run(ctx context.Context) { s.published.Fill(ctx) }
