// Package licensing issues, moves, revokes and checks licenses, and holds the keys that
// sign them.
package licensing

import (
	"log/slog"
	"time"

	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
	"golang.org/x/sync/singleflight"
)

// Service is the licensing of a store. Its methods may be called from many goroutines.
type Service struct {
	db        *storedb.DB
	gate      *instance.Gate
	purchases *validation.Validator
	keys      cached.Value[signingKeys]
	making    singleflight.Group // of the first key
	revoked   cached.Value[revokedLicenses]
	now       func() time.Time
	log       *slog.Logger
}

// New returns the licensing of the purchases that a validator knows.
func New(db *storedb.DB, gate *instance.Gate, purchases *validation.Validator, now func() time.Time, log *slog.Logger) *Service {
	return &Service{db: db, gate: gate, purchases: purchases, now: now, log: log}
}

// Watchers have to be added to the database: they drop what has changed.
func (s *Service) Watchers() []sqldb.Watcher {
	return []sqldb.Watcher{
		s.keys.Watch(s.readKeys, storedb.TopicLicenseKeys, keyfile.Topic),
		s.revoked.Watch(s.readRevoked, storedb.TopicLicenses, storedb.TopicLicenseKeys, keyfile.Topic),
	}
}

// What the licensing writes into the audit log.
const (
	actionIssue     people.Action = "license.issue"
	actionMove      people.Action = "license.move"
	actionRevoke    people.Action = "license.revoke"
	actionRotateKey people.Action = "license_key.rotate"
	actionSetRule   people.Action = "item.licensing"
)

// Actions lists the actions that this package writes into the audit log.
func Actions() []people.Action {
	return []people.Action{actionIssue, actionMove, actionRevoke, actionRotateKey, actionSetRule}
}

// Ending is how a license ended.
type Ending = storedb.Ending

// The endings of a license; "" is one that has not ended.
const (
	EndingMoved    = storedb.EndingMoved
	EndingGivenUp  = storedb.EndingGivenUp
	EndingReplaced = storedb.EndingReplaced
	EndingRevoked  = storedb.EndingRevoked
)
