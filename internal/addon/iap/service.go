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
	guard     *access.Guard
	published cached.Value[Published]
	log       *slog.Logger
}

// New returns the in-app purchases in a database, and the watcher that has to be told of
// its changes.
func New(db *addondb.DB, guard *access.Guard, log *slog.Logger) (*Service, sqldb.Watcher) {
	s := &Service{db: db, guard: guard, log: log}
	return s, s.published.Watch(s.readPublished, addondb.TopicServed)
}

// Run caches what apps are served until ctx ends.
func (s *Service) Run(ctx context.Context) { s.published.Fill(ctx) }
