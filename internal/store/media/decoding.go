package media

import (
	"context"
	"slices"
	"sync"
)

// maxMemory is how much memory one picture may need, and allMemory how much all together that are read at the same time,
// in bytes.
const (
	maxMemory = 128 << 20
	allMemory = maxMemory + 32<<20
)

// decodings share the memory of all pictures that are decoded: each workspace has one at a time, and the one that has
// waited longest since its last is next.
type decodings struct {
	mu      sync.Mutex
	free    int
	running map[int64]bool
	last    map[int64]int // the turn of each workspace, until nobody is left
	turn    int
	waiting []*decoding
}

// decoding is a picture that waits for its memory.
type decoding struct {
	workspace int64
	memory    int
	begin     chan struct{}
}

func newDecodings() *decodings {
	return &decodings{free: allMemory, running: map[int64]bool{}, last: map[int64]int{}}
}

// enter waits for the turn of a workspace, until done is called.
func (d *decodings) enter(ctx context.Context, workspace int64, memory int) (done func(), err error) {
	one := &decoding{workspace, memory, make(chan struct{})}
	d.change(func() { d.waiting = append(d.waiting, one) })
	select {
	case <-one.begin:
		return func() { d.leave(one) }, nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	select {
	case <-one.begin: // at the same moment
		return func() { d.leave(one) }, nil
	default:
		d.remove(one)
		return nil, context.Cause(ctx)
	}
}

func (d *decodings) leave(one *decoding) {
	d.change(func() {
		d.free += one.memory
		delete(d.running, one.workspace)
	})
}

// change changes what there is, and lets those begin for which there is room.
func (d *decodings) change(what func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	what()
	for next := d.next(); next != nil; next = d.next() {
		d.remove(next)
		d.free -= next.memory
		d.turn++
		d.running[next.workspace], d.last[next.workspace] = true, d.turn
		close(next.begin)
	}
	if len(d.waiting)+len(d.running) == 0 {
		clear(d.last)
	}
}

// next is the picture to begin with; nil for none.
func (d *decodings) next() (next *decoding) {
	for _, one := range d.waiting {
		if !d.running[one.workspace] && one.memory <= d.free && (next == nil || d.last[one.workspace] < d.last[next.workspace]) {
			next = one
		}
	}
	return next
}

func (d *decodings) remove(one *decoding) {
	d.waiting = slices.DeleteFunc(d.waiting, func(other *decoding) bool { return other == one })
}
