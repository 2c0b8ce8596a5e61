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
	access    *access.Control
	iap       *iap.Service
	published cached.Value[Published]
	log       *slog.Logger
	// concluded is called at the end of the transaction that publishes, with the settings of purchases before and after.
	concluded func(ctx context.Context, tx *addondb.DB, before, after iap.Values) error
}

// New returns the settings in a database, and the watcher that has to be told of its
// changes.
func New(db *addondb.DB, control *access.Control, purchases *iap.Service, log *slog.Logger) (*Service, sqldb.Watcher) {
	s := &Service{db: db, access: control, iap: purchases, log: log}
	s.concluded = func(context.Context, *addondb.DB, iap.Values, iap.Values) error { return nil }
	return s, s.published.Watch(s.readPublished, addondb.TopicServed)
}

// WatchPublished has fn called at the end of each transaction that publishes, with the settings of purchases before and after.
// It is called before the service is used.
func (s *Service) WatchPublished(fn func(ctx context.Context, tx *addondb.DB, before, after iap.Values) error) {
	s.concluded = fn
}

// Run caches what apps are served until ctx ends.
func (s *Service) Run(ctx context.Context) { s.published.Fill(ctx) }
