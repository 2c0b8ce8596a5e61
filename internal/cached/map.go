package cached

import (
	"context"
	"fmt"

	"github.com/maypok86/otter/v2"
)

// Map is cached values by their keys, up to a number of bytes. The zero Map keeps none.
// Its methods may be called from many goroutines.
type Map[K comparable, V any] struct {
	protocol
	values values[K, V]
}

// values are the entries of a cache. They are behind an interface, and made by a function that is
// not a method: else every package with a cache somewhere below its fields would compile
// otter's generic code again.
type values[K comparable, V any] interface {
	GetIfPresent(K) (V, bool)
	Set(K, V) (V, bool)
	Invalidate(K) (V, bool)
	InvalidateAll()
}

// SetCapacity sets the capacity of a map in bytes; size returns the size of a value. Call it
// before the methods of the map.
func SetCapacity[K comparable, V any](m *Map[K, V], bytes int64, size func(V) int) {
	m.values = newCache[K](bytes, size)
}

func newCache[K comparable, V any](bytes int64, size func(V) int) *otter.Cache[K, V] {
	return otter.Must(&otter.Options[K, V]{
		MaximumWeight: uint64(bytes),
		Weigher:       func(_ K, v V) uint32 { return uint32(min(size(v), 1<<31)) },
	})
}

// HasRoom reports whether m keeps values.
func (m *Map[K, V]) HasRoom() bool { return m.values != nil }

// Find returns the cached value of a key, or the generation at which a read of it
// begins, for [Map.Store] and [Map.Share].
func (m *Map[K, V]) Find(key K) (value V, found bool, since uint64) {
	if m.values == nil {
		return value, false, m.generation.Load()
	}
	if value, found = m.values.GetIfPresent(key); found {
		return value, true, 0
	}
	return value, false, m.generation.Load()
}

// Store caches a value whose read began at a generation, unless a change came since.
func (m *Map[K, V]) Store(key K, value V, since uint64) {
	if m.values != nil {
		m.store(since, func() { m.values.Set(key, value) })
	}
}

// Share lets one of those who want the same value since the same generation read it for
// all. The read may store it.
func (m *Map[K, V]) Share(ctx context.Context, key K, since uint64, read func(context.Context) (V, error)) (V, error) {
	return share(ctx, &m.protocol, fmt.Sprint(key, since), read)
}

// Drop drops the value of a key that has changed.
func (m *Map[K, V]) Drop(key K) {
	m.drop(func() {
		if m.values != nil {
			m.values.Invalidate(key)
		}
	})
}

// DropAll drops all values.
func (m *Map[K, V]) DropAll() { m.drop(m.empty) }

// Lost drops all values, until changes by others arrive again.
func (m *Map[K, V]) Lost() { m.setFeed(false, m.empty) }

// Live drops all values and lets them be cached: changes by others arrive from here on.
func (m *Map[K, V]) Live() { m.setFeed(true, m.empty) }

func (m *Map[K, V]) empty() {
	if m.values != nil {
		m.values.InvalidateAll()
	}
}
