package cached

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
)

// fillRetry is how soon a value that could not be read is read again.
const fillRetry = time.Second

// Value is one cached value: an object, or a whole table. Call [Value.Watch] before its
// other methods, which may be called from many goroutines.
type Value[T any] struct {
	protocol
	value   atomic.Pointer[T]
	read    func(context.Context) (*T, error)
	topics  []string
	dropped chan struct{} // wakes Fill
}

// Watch makes v the cache of what read returns, until one of the topics changes. The
// watcher has to be added to the database ([sqldb.DB.Watch]).
func (v *Value[T]) Watch(read func(context.Context) (*T, error), topics ...string) sqldb.Watcher {
	v.read, v.topics, v.dropped = read, topics, make(chan struct{}, 1)
	return sqldb.Watcher{Changed: v.changed, Lost: v.Lost, Live: v.Live}
}

func (v *Value[T]) changed(topic, _ string) {
	if slices.Contains(v.topics, topic) {
		v.drop(v.empty)
	}
}

// Lost drops the value, until changes by others arrive again.
func (v *Value[T]) Lost() { v.setFeed(false, v.empty) }

// Live drops the value and lets it be cached: changes by others arrive from here on.
func (v *Value[T]) Live() { v.setFeed(true, v.empty) }

func (v *Value[T]) empty() {
	v.value.Store(nil)
	select {
	case v.dropped <- struct{}{}:
	default:
	}
}

// Cached returns the cached value, or nil when there is none.
func (v *Value[T]) Cached() *T { return v.value.Load() }

// Get returns the cached value, or reads it. Its error is that of the read.
func (v *Value[T]) Get(ctx context.Context) (*T, error) {
	if value := v.value.Load(); value != nil {
		return value, nil
	}
	since := v.generation.Load()
	return share(ctx, &v.protocol, strconv.FormatUint(since, 10), func(ctx context.Context) (*T, error) {
		if value := v.value.Load(); value != nil { // by a read that has just ended
			return value, nil
		}
		return v.readSince(ctx, since)
	})
}

func (v *Value[T]) readSince(ctx context.Context, since uint64) (*T, error) {
	value, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	v.store(since, func() { v.value.Store(value) })
	return value, nil
}

// Fill reads the value whenever it was dropped, until ctx ends. Who needs the value
// meanwhile gets the error of a read that failed.
func (v *Value[T]) Fill(ctx context.Context) {
	for {
		if v.isLive() && v.Cached() == nil {
			_, _ = v.readSince(ctx, v.generation.Load())
		}
		if !group.Sleep(ctx, fillRetry, v.dropped) {
			return
		}
	}
}
