package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/countersign/countersign/internal/sqldb"
	"golang.org/x/sync/singleflight"
)

// memo keeps one thing that was read from the database for as long as it can be
// trusted: until one of its topics changes, and only while changes by others
// arrive. A value that was read across a change is not kept.
type memo[T any] struct {
	topics     []string
	value      atomic.Pointer[T]
	reading    singleflight.Group // by the generation: one of many reads what all want
	mu         sync.Mutex
	generation uint64
	fed        bool
}

// watcher keeps the memo true.
func (m *memo[T]) watcher() sqldb.Watcher {
	return sqldb.Watcher{
		Changed: func(topic, _ string) {
			if slices.Contains(m.topics, topic) {
				m.drop(nil)
			}
		},
		Lost: func() { fed := false; m.drop(&fed) },
		Live: func() { fed := true; m.drop(&fed) },
	}
}

func (m *memo[T]) drop(fed *bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.generation++
	m.value.Store(nil)
	if fed != nil {
		m.fed = *fed
	}
}

// get gives what is kept, or reads it.
func (m *memo[T]) get(ctx context.Context, read func(context.Context) (*T, error)) (*T, error) {
	if v := m.value.Load(); v != nil {
		return v, nil
	}
	generation, fed := m.begin()
	if !fed {
		return read(ctx)
	}
	v, err, _ := m.reading.Do(strconv.FormatUint(generation, 10), func() (any, error) {
		if v := m.value.Load(); v != nil { // by a read that has just ended
			return v, nil
		}
		v, err := read(context.WithoutCancel(ctx))
		if err == nil {
			m.keep(v, generation)
		}
		return v, err
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	return v.(*T), nil
}

func (m *memo[T]) begin() (generation uint64, fed bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation, m.fed
}

func (m *memo[T]) keep(v *T, generation uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fed && m.generation == generation {
		m.value.Store(v)
	}
}
