// Package settings holds the rules of the app's settings: their definitions, the draft
// that people change, and the versions that are published to apps (spec 2.5, 2.6).
package settings

import (
	"context"
	"log/slog"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/sqldb"
)

// Service is the settings of an addon. Its methods may be called from many goroutines.
type Service struct {
	db        *addondb.DB
	guard     *access.Guard
	iap       *iap.Service
	published cached.Value[Published]
	log       *slog.Logger
	// onPublish is called in each transaction that publishes.
	onPublish func(context.Context, *addondb.DB) error
}

// New returns the settings in a database, and the watcher that has to be told of its
// changes.
func New(db *addondb.DB, guard *access.Guard, purchases *iap.Service, log *slog.Logger) (*Service, sqldb.Watcher) {
	s := &Service{db: db, guard: guard, iap: purchases, log: log, onPublish: func(context.Context, *addondb.DB) error { return nil }}
	return s, s.published.Watch(s.readPublished, addondb.TopicServed)
}

// WatchPublish has fn called in each transaction that publishes. It is called before the
// service is used.
func (s *Service) WatchPublish(fn func(context.Context, *addondb.DB) error) { s.onPublish = fn }

// Run caches what apps are served until ctx ends.
func (s *Service) Run(ctx context.Context) { s.published.Fill(ctx) }
