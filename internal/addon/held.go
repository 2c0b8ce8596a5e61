package addon

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/group"
)

// held is the public answers in memory. published is nil while that can't be
// trusted; then they are read from the database.
type held struct {
	published atomic.Pointer[Published]
	mu        sync.Mutex
	// generation counts changes, so that what was read across one is not kept.
	generation uint64
	fed        bool
	wake       chan struct{}
	// kept is called when answers were kept; tests wait for it.
	kept func()
}

func (h *held) init() { h.wake = make(chan struct{}, 1) }

// changed drops the answers when a transaction has changed what they are made of.
func (h *held) changed(topic, _ string) {
	if topic == addondb.TopicServed {
		h.drop(nil)
	}
}

// lost drops the answers until the feed of changes is back.
func (h *held) lost() { fed := false; h.drop(&fed) }

// live lets the answers be kept.
func (h *held) live() { fed := true; h.drop(&fed) }

func (h *held) drop(fed *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.generation++
	h.published.Store(nil)
	if fed != nil {
		h.fed = *fed
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// begin is the generation at the start of a read, and whether it is worth one.
func (h *held) begin() (generation uint64, wanted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.generation, h.fed && h.published.Load() == nil
}

// keep keeps answers, unless a change came since their read began.
func (h *held) keep(p *Published, generation uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fed || h.generation != generation {
		return
	}
	h.published.Store(p)
	if h.kept != nil {
		h.kept()
	}
}

// holdPublished reads the answers whenever they were dropped, until ctx ends.
func (a *Addon) holdPublished(ctx context.Context) {
	for {
		if _, wanted := a.held.begin(); wanted {
			_, _ = a.Published(ctx) // the next who asks gets the error
		}
		if !group.Sleep(ctx, time.Second, a.held.wake) {
			return
		}
	}
}
