package cached

import "github.com/maypok86/otter/v2"

// Versioned caches values with their versions. A reader knows the current version before it asks,
// so nothing has to be dropped when a value changes. The zero Versioned caches nothing. Its methods
// may be called from many goroutines.
type Versioned[K comparable, V any] struct {
	values *otter.Cache[K, versioned[V]]
}

type versioned[V any] struct {
	version int64
	value   V
}

// SetCapacity sets the capacity in bytes; size returns the size of a value. Call it before the
// other methods.
func (c *Versioned[K, V]) SetCapacity(bytes int64, size func(V) int) {
	c.values = newCache[K](bytes, func(v versioned[V]) int { return size(v.value) })
}

// Find returns the cached value of a key if it is of this version.
func (c *Versioned[K, V]) Find(key K, version int64) (value V, found bool) {
	if c.values == nil {
		return value, false
	}
	v, found := c.values.GetIfPresent(key)
	if !found || v.version != version {
		return value, false
	}
	return v.value, true
}

// Store caches the value that a key has at a version.
func (c *Versioned[K, V]) Store(key K, version int64, value V) {
	if c.values != nil {
		c.values.Set(key, versioned[V]{version, value})
	}
}
