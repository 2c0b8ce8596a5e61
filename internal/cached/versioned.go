package cached

// Versioned caches values with their versions. A reader knows the current version before it asks,
// so nothing has to be dropped when a value changes. The zero Versioned caches nothing. Its methods
// may be called from many goroutines.
type Versioned[K comparable, V any] struct {
	values values[K, versioned]
}

// versioned holds any value, so that otter's generic code is compiled once for each type of key.
type versioned struct {
	version int64
	value   any
}

// SetVersionedCapacity is [SetCapacity] for values with versions.
func SetVersionedCapacity[K comparable, V any](c *Versioned[K, V], bytes int64, size func(V) int) {
	c.values = newCache[K](bytes, func(v versioned) int { return size(v.value.(V)) })
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
	return v.value.(V), true
}

// Store caches the value that a key has at a version.
func (c *Versioned[K, V]) Store(key K, version int64, value V) {
	if c.values != nil {
		c.values.Set(key, versioned{version, value})
	}
}
