package sqldb

import (
	"errors"
	"sync"
	"sync/atomic"
)

// snapshots are all read transactions that look-ups hold open on SQLite. They
// are held only while the feed tells of every commit, and released together at each
// that has marked something: what a look-up reads is never older than the last such
// commit that this process has made or heard of. Others do not matter to it, and to
// open a snapshot after one costs SQLite its whole mapping of the file. Before a
// checkpoint they are released, too, so that none keeps the log from being reset.
type snapshots struct {
	mu   sync.Mutex
	list []*readers
	// releases counts how often all were released.
	releases atomic.Uint64
	// feedLive reports whether the feed is live.
	feedLive atomic.Bool
}

func (s *snapshots) add(r *readers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, r)
}

// release ends all snapshots: the idle ones at once, those in use when their
// look-up ends.
func (s *snapshots) release() {
	s.releases.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		r.releaseIdle()
	}
}

// follow says whether snapshots may be held.
func (s *snapshots) follow(feedLive bool) {
	s.feedLive.Store(feedLive)
	s.release()
}

func (s *snapshots) close() error {
	s.feedLive.Store(false)
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, r := range s.list {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}
