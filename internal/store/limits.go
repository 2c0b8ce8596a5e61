package store

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

const (
	// limitsShared is how often servers on one database exchange their counts, and
	// limitsKept how often a server that is alone writes its own.
	limitsShared = time.Second
	limitsKept   = 10 * time.Second
	// serverSeen is how often a server says that it is there, and serverGone when the
	// others forget one that no longer does.
	serverSeen = 5 * time.Second
	serverGone = 15 * time.Second
	// limitsPruned is how often counts that are over are deleted.
	limitsPruned = time.Minute
	// maxLimits is how many counts the database keeps, and maxLimitsAtOnce how many a
	// server writes at once.
	maxLimits       = 10_000
	maxLimitsAtOnce = 1000
	// serverPrefix begins the names of rows that stand for servers.
	serverPrefix = "server "
)

// counts are those of a limit, which servers exchange: [limit.Guesses] says how.
type counts interface {
	Unsent(all bool, most int) []limit.Count
	Sent(list []limit.Count)
	Merge(list []limit.Count)
	SetServers(n int)
}

// sharedLimits brings counts into the database and back, in the background: no request
// waits for it.
type sharedLimits struct {
	shared []counts // nil when there are none
	// server names this process among those on the database, "" when it is alone.
	server       string
	seen, pruned time.Time
	read         bool        // what others wrote, at least once
	failed       atomic.Bool // the last time
}

// LimitName returns the name that stands for a text in counts, keyed with the key file,
// and false while the store has none.
func (s *Store) LimitName(text string) (name limit.Name, ok bool) {
	box := s.Instance.Gate.Box()
	if box == nil {
		return name, false
	}
	return box.Name(text), true
}

// ShareLimits makes the counts of failures, of guessed purchase codes and of failed sign-ins
// outlive this process and, on PostgreSQL, be those of all servers on the database. Call it before
// [Store.Run].
func (s *Store) ShareLimits(ctx context.Context, guesses *limit.Guesses) {
	s.limits.shared = []counts{guesses, s.clashes}
	for _, l := range s.Instance.People.Limits() {
		s.limits.shared = append(s.limits.shared, l)
	}
	if s.Instance.Database.Engine() == sqldb.Postgres {
		s.limits.server = serverPrefix + rand.Text()
	}
	s.exchangeLimits(ctx, false)
}

// exchangeLimitsEvery exchanges counts until ctx ends; [Store.Close] writes the rest.
func (s *Store) exchangeLimitsEvery(ctx context.Context) {
	interval := limitsKept
	if s.limits.server != "" {
		interval = limitsShared
	}
	group.Every(ctx, interval, func(ctx context.Context) { s.exchangeLimits(ctx, false) })
}

// exchangeLimits writes what was counted here and reads what was counted by all. With
// all, also counts are written that are not worth telling yet. A failure is logged once.
func (s *Store) exchangeLimits(ctx context.Context, all bool) {
	if s.limits.shared == nil || s.Instance.Gate.Ready() != nil {
		return
	}
	err := s.writeLimits(ctx, all)
	if err == nil {
		err = s.readLimits(ctx)
	}
	if err != nil && !s.limits.failed.Load() && ctx.Err() == nil {
		s.log.Warn("exchanging the counts of limits failed; this server counts alone until it succeeds", "cause", err)
	}
	s.limits.failed.Store(err != nil)
}

// unsent lists what the other servers do not know yet.
func (l *sharedLimits) unsent(all bool) (list []limit.Count) {
	for _, one := range l.shared {
		list = append(list, one.Unsent(all, maxLimitsAtOnce-len(list))...)
	}
	return list
}

func (s *Store) writeLimits(ctx context.Context, all bool) error {
	l, now := &s.limits, s.now()
	counted := l.unsent(all)
	announce := l.server != "" && now.Sub(l.seen).Abs() >= serverSeen
	prune := now.Sub(l.pruned).Abs() >= limitsPruned && (len(counted) > 0 || l.server != "")
	if len(counted) == 0 && !announce && !prune {
		return nil
	}
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		if err := tx.AddLimits(ctx, now, counted); err != nil {
			return err
		}
		if announce {
			if err := tx.SetLimit(ctx, limit.Count{Name: l.server, N: maxLimits, Ends: now.Add(serverGone)}); err != nil {
				return err
			}
		}
		if prune {
			return tx.PruneLimits(ctx, now, maxLimits)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, one := range l.shared {
		one.Sent(counted)
	}
	if announce {
		l.seen = now
	}
	if prune {
		l.pruned = now
	}
	return nil
}

// readLimits takes over what all servers have counted. One that is alone knows it, once
// it has read what was there at its start.
func (s *Store) readLimits(ctx context.Context) error {
	l := &s.limits
	if l.read && l.server == "" {
		return nil
	}
	counts, err := s.db.Limits(ctx, s.now(), 2*maxLimits)
	if err != nil {
		return err
	}
	rows := len(counts)
	counts = slices.DeleteFunc(counts, func(c limit.Count) bool { return strings.HasPrefix(c.Name, serverPrefix) })
	for _, one := range l.shared {
		one.Merge(counts)
		one.SetServers(rows - len(counts))
	}
	l.read = true
	return nil
}

// leaveLimits writes what is left to write when the store is closed.
func (s *Store) leaveLimits(ctx context.Context) {
	if s.limits.shared == nil || s.Instance.Gate.Ready() != nil {
		return
	}
	s.exchangeLimits(ctx, true)
	if s.limits.server == "" {
		return
	}
	if err := s.db.RemoveLimit(ctx, s.limits.server); err != nil {
		s.log.Warn("removing this server from the list of servers that share limits failed", "cause", err)
	}
}
