package validation

import (
	"hash/maphash"
	"sync/atomic"
)

// admission decides which purchases are worth caching. While there is room, all are.
// After that only those that were asked for twice within a while: to keep one costs
// about as much as to read it, and of codes that are all asked equally often most
// would be put out again before anybody asks a second time.
type admission struct {
	bytes int64
	// room is what was not used yet of the bytes, negative once it is full.
	room atomic.Int64
	seed maphash.Seed
	// asked holds a part of the hash of the purchases that were asked for last.
	asked []atomic.Uint32
}

// bytesPerAsked makes the admission remember somewhat fewer purchases than there is
// room for.
const bytesPerAsked = 512

func newAdmission(bytes int64) *admission {
	d := &admission{bytes: bytes, seed: maphash.MakeSeed(), asked: make([]atomic.Uint32, bytes/bytesPerAsked+1)}
	d.emptied()
	return d
}

// emptied notes that all room is free again.
func (d *admission) emptied() { d.room.Store(d.bytes) }

// admits reports whether a purchase of so many bytes is to be cached.
func (d *admission) admits(key purchaseKey, bytes int) bool {
	if d.room.Load() > 0 {
		d.room.Add(-int64(bytes))
		return true
	}
	hash := maphash.Comparable(d.seed, key)
	mark := uint32(hash>>32) | 1 // never that of an unused place
	return d.asked[hash%uint64(len(d.asked))].Swap(mark) == mark
}
