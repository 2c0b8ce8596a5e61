package sqldb

import (
	"context"
	"sync"
	"time"
)

// change names something in the database that memory may hold: a topic (a kind
// of row) and which of them; an empty ref means all of the topic.
type change struct{ topic, ref string }

// Watcher is told what happens to rows that its owner keeps in memory. Its
// functions are called one at a time and must not wait for the database.
type Watcher struct {
	// Changed names rows that a committed transaction marked, in this process
	// (before Tx returns) or in another one (within a second).
	Changed func(topic, ref string)
	// Lost reports that changes by others no longer arrive: what is held may be
	// stale and must not be used.
	Lost func()
	// Live reports that changes arrive from here on. What was read before must be
	// dropped; what is read from now on may be kept.
	Live func()
}

// Mark notes, in the transaction of q, that rows of a topic change. A value
// read before the commit is dropped by every process that keeps it.
func (q Queries) Mark(ctx context.Context, topic, ref string) error {
	q.tx.marks = append(q.tx.marks, change{topic, ref})
	_, err := q.Exec(ctx, `INSERT INTO changes (topic, ref, at) VALUES ($1, $2, $3)`,
		topic, ref, Time{time.Now()})
	return err
}

// Watch adds a watcher. Add all of them before [DB.Feed] runs; until it does,
// a watcher hears only of this process's own transactions.
func (db *DB) Watch(w Watcher) { db.watchers.add(w) }

// changed updates snapshots and caches after committed changes. It releases snapshots
// first, so that watchers do not cache data from an older one.
func (s *shared) changed(changes []change) {
	if len(changes) == 0 {
		return // what is held knows nothing of what was written
	}
	s.snapshots.release()
	s.watchers.notify(changes)
}

type watchers struct {
	mu   sync.Mutex
	list []Watcher
}

func (w *watchers) add(one Watcher) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, one)
}

// each calls fn with one watcher after the other.
func (w *watchers) each(fn func(Watcher)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.list {
		fn(one)
	}
}

func (w *watchers) notify(changes []change) {
	w.each(func(one Watcher) {
		for _, c := range changes {
			one.Changed(c.topic, c.ref)
		}
	})
}

func (w *watchers) lost() { w.each(func(one Watcher) { one.Lost() }) }

func (w *watchers) live() { w.each(func(one Watcher) { one.Live() }) }
