// Package credential has the API keys and API secrets of a site: people create, rotate and switch
// them, the site signs its calls with them, and its apps prove with one, and with a user token,
// who is signed in.
package credential

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/usage"
)

// Service is the API credentials of a site. Its methods may be called from many goroutines.
type Service struct {
	db      *addondb.DB
	access  *access.Control
	log     *slog.Logger
	started time.Time // the nonces of earlier calls are not in memory
	nonces  nonces
	pairs   cached.Value[pairTable]
	// pairNumber is that of the last pair, and userTokens are the user tokens that pairs have verified.
	pairNumber atomic.Int64
	userTokens cached.Versioned[[sha256.Size]byte, usertoken.Token]
	uses       usage.Counter
}

// New returns the API credentials in a database, and the watcher that has to be told of their
// changes.
func New(db *addondb.DB, control *access.Control, log *slog.Logger) (*Service, sqldb.Watcher) {
	s := &Service{db: db, access: control, log: log, started: control.Now()}
	cached.SetVersionedCapacity(&s.userTokens, userTokenBytes, func(usertoken.Token) int { return userTokenSize })
	return s, s.pairs.Watch(s.readPairs, addondb.TopicCredentials)
}

// Run caches the API credentials until ctx ends.
func (s *Service) Run(ctx context.Context) { s.pairs.Fill(ctx) }

// WriteUses writes which credentials were used since the last time. What can't be
// written now is kept for the next time.
func (s *Service) WriteUses(ctx context.Context) {
	if err := s.uses.Write(ctx, s.db.Queries.DB(), "credentials"); err != nil {
		s.log.Warn("the credentials' last uses could not be written", "cause", err)
	}
}

// Uses is how many uses wait to be written.
func (s *Service) Uses() usage.Figures { return s.uses.Figures() }
