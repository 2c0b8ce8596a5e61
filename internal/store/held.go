package store

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/seal"
	"github.com/countersign/countersign/internal/store/storedb"
)

// held is the keys in memory: every key by its digests. keys is nil
// while that can't be trusted; then keys are read from the database.
type held struct {
	keys atomic.Pointer[keyTable]
	mu   sync.Mutex
	// generation counts changes, so that a table read across one is not kept.
	generation uint64
	fed        bool
	wake       chan struct{}
	// kept is called when a table was kept; tests wait for it.
	kept func()
}

// keyTable is every key by its digests.
type keyTable struct {
	byDigest map[storedb.KeyDigest]*heldKey
	// imported says that some may have come from another shop, whose digests take longer
	// to make. Without any, nothing is made for a key that is not one of ours.
	imported bool
}

// heldKey is a key and the actor that it makes of whoever has it.
type heldKey struct {
	storedb.HeldKey
	actor people.Actor
}

func hold(k storedb.HeldKey) *heldKey {
	return &heldKey{k, people.Actor{
		Kind: people.KindKey, ID: strconv.FormatInt(k.ID, 10), Face: people.FaceAPI,
		Workspace: k.WorkspaceID, Secret: k.Class == ClassSecret, Item: k.ItemID,
	}}
}

func (h *held) init() { h.wake = make(chan struct{}, 1) }

// changed drops the table when a transaction has changed keys or the switches
// of their workspaces.
func (h *held) changed(topic, _ string) {
	if topic == storedb.TopicKeys {
		h.drop(nil)
	}
}

// lost drops the table until the feed of changes is back.
func (h *held) lost() { fed := false; h.drop(&fed) }

// live lets the table be filled.
func (h *held) live() { fed := true; h.drop(&fed) }

func (h *held) drop(fed *bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.generation++
	h.keys.Store(nil)
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
	return h.generation, h.fed && h.keys.Load() == nil
}

// keep keeps a table, unless a change came since its read began.
func (h *held) keep(t keyTable, generation uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.fed || h.generation != generation {
		return
	}
	h.keys.Store(&t)
	if h.kept != nil {
		h.kept()
	}
}

// holdKeys fills the table whenever it was dropped, until ctx ends.
func (s *Store) holdKeys(ctx context.Context) {
	for {
		generation, wanted := s.held.begin()
		if wanted {
			if list, err := s.db.HeldKeys(ctx); err == nil {
				s.held.keep(tableOf(list), generation)
			}
		}
		if !group.Sleep(ctx, time.Second, s.held.wake) {
			return
		}
	}
}

func tableOf(list []storedb.HeldKey) keyTable {
	t := keyTable{byDigest: make(map[storedb.KeyDigest]*heldKey, len(list))}
	for _, k := range list {
		h := hold(k)
		t.byDigest[k.Digest] = h
		if k.Previous != nil {
			t.byDigest[*k.Previous] = h
		}
		t.imported = t.imported || !isOurs(k.Hint) || k.Previous != nil
	}
	return t
}

// findKey finds a key by one of its values, and returns the digest that found it. The
// keys that the store made have one digest; an imported one may still have the plain
// one of an earlier version.
func (s *Store) findKey(ctx context.Context, value string) (*heldKey, storedb.KeyDigest, error) {
	ours := isOurs(value)
	if t := s.held.keys.Load(); t != nil && !t.imported && !ours {
		return nil, storedb.KeyDigest{}, errKeyUnknown
	}
	digest := keyDigest(s.box.Load(), value)
	k, err := s.findDigest(ctx, value, digest)
	if errors.Is(err, errKeyUnknown) && !ours {
		digest = seal.KeyDigest(value)
		k, err = s.findDigest(ctx, value, digest)
	}
	return k, digest, err
}

func (s *Store) findDigest(ctx context.Context, value string, digest storedb.KeyDigest) (*heldKey, error) {
	if t := s.held.keys.Load(); t != nil {
		if k := t.byDigest[digest]; k != nil {
			return k, nil
		}
		return nil, errKeyUnknown
	}
	if mistyped(value) {
		return nil, errKeyUnknown
	}
	k, err := s.db.HeldKey(ctx, digest)
	if err != nil {
		return nil, notFound(err, errKeyUnknown)
	}
	return hold(k), nil
}

var errKeyUnknown error = unauthorized("key_unknown")

func unauthorized(code string) *countersign.Error {
	return &countersign.Error{Kind: countersign.KindUnauthorized, Code: code, Message: "Invalid request"}
}
