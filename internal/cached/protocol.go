// Package cached keeps what was read from the database in memory for as long as it is
// true: until a change of it is committed, by this process or another one.
//
// All caches follow one protocol. A value is cached only if no change arrived between
// the start of its read and its storing. While changes by other processes do not arrive,
// a cache is empty and nothing is stored in it.
package cached

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/singleflight"
)

// protocol decides what may be stored.
type protocol struct {
	mu sync.Mutex // held to store and to drop
	// generation counts what dropped something.
	generation atomic.Uint64
	feedLive   bool
	reads      singleflight.Group
}

// drop calls fn, which drops what changed. Reads that began before store nothing.
func (p *protocol) drop(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.generation.Add(1)
	fn()
}

// setFeed is drop for the loss and the return of the feed, where fn drops everything.
func (p *protocol) setFeed(live bool, fn func()) {
	p.drop(func() {
		p.feedLive = live
		fn()
	})
}

// store calls fn, which stores a value whose read began at a generation, if it may.
func (p *protocol) store(since uint64, fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.feedLive && p.generation.Load() == since {
		fn()
	}
}

func (p *protocol) isLive() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.feedLive
}

// share runs one read for concurrent callers with the same key. While changes by others
// do not arrive, it does not share. key must contain the generation, so that no read is
// shared across a change. The read continues if its first caller leaves; who leaves does not wait.
func share[T any](ctx context.Context, p *protocol, key string, read func(context.Context) (T, error)) (T, error) {
	if !p.isLive() {
		return read(ctx)
	}
	var none T
	done := p.reads.DoChan(key, func() (v any, err error) {
		defer func() {
			if cause := recover(); cause != nil { // it is the panic of those who wait, not of the process
				v = panicked{cause}
			}
		}()
		return read(context.WithoutCancel(ctx))
	})
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		if p, ok := r.Val.(panicked); ok {
			panic(p.cause)
		}
		if err := cmp.Or(ctx.Err(), r.Err); err != nil {
			return none, err
		}
		return r.Val.(T), nil
	}
}

// panicked is what a shared read panicked with.
type panicked struct{ cause any }
