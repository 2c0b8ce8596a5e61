package sqldb

import (
	"errors"
	"sync"
	"sync/atomic"
)

// snapshots are the read transactions that lookups keep open on SQLite. They exist only
// while the change feed is live. All are released at each commit that marks a change,
// so no lookup reads data older than the last such commit known here. Other commits do
// not matter, and opening a snapshot after a commit makes SQLite map the file again.
// Before a checkpoint they are released too, so that the log can be reset.
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
// lookup ends.
func (s *snapshots) release() {
	s.releases.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.list {
		r.releaseIdle()
	}
}

// follow reports whether snapshots may be held.
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
