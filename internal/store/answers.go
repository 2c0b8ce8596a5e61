package store

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/maypok86/otter/v2"
	"golang.org/x/sync/singleflight"
)

// answers keeps what was read for answers, up to a number of bytes. Whatever a
// transaction changes is dropped before its Tx returns; a value is kept only if
// no change came since its read began.
type answers struct {
	// purchases is nil when only items are kept.
	purchases *otter.Cache[purchaseKey, keptPurchase]
	door      *doorkeeper // of purchases
	others    *otter.Cache[answerKey, answer]
	reads     singleflight.Group // of others, by once
	mu        sync.Mutex         // held to keep and to drop
	// generation counts changes; fed tells whether those of others arrive.
	generation atomic.Uint64
	fed        bool
}

// purchaseKey names a purchase of a workspace by its folded code.
type purchaseKey struct {
	workspace int64
	code      string
}

// answerKey names what else is kept of a workspace: its account, its items, or one
// of them.
type answerKey struct {
	workspace int64
	item      int64
	what      byte
}

const (
	anAccount byte = iota
	allItems
	anItem
)

func accountKey(workspace int64) answerKey { return answerKey{workspace: workspace, what: anAccount} }

func itemsKey(workspace int64) answerKey { return answerKey{workspace: workspace, what: allItems} }

func itemKey(workspace, item int64) answerKey {
	return answerKey{workspace: workspace, what: anItem, item: item}
}

// answer is what is kept. size is about what it holds in memory, in bytes.
type answer interface{ size() int }

// entryBytes is about what the caches themselves spend on an entry.
const entryBytes = 170

// itemRoom is the least memory for items, in bytes: every purchase prints one of
// them, so they are kept also when other answers are not.
const itemRoom = 8 << 20

// newAnswers keeps up to a number of bytes: five eighths of them are for purchases,
// which by default is room for 100,000.
func newAnswers(bytes int64) *answers {
	forOthers := bytes * 3 / 8
	a := &answers{others: otter.Must(&otter.Options[answerKey, answer]{
		MaximumWeight: uint64(max(forOthers, itemRoom)),
		Weigher:       func(_ answerKey, v answer) uint32 { return uint32(min(v.size()+entryBytes, 1<<31)) },
	})}
	if bytes > 0 {
		a.purchases = otter.Must(&otter.Options[purchaseKey, keptPurchase]{
			MaximumWeight: uint64(bytes - forOthers),
			Weigher:       func(_ purchaseKey, p keptPurchase) uint32 { return uint32(p.size()) },
		})
		a.door = newDoorkeeper(bytes - forOthers)
	}
	return a
}

// changed drops what a transaction has changed: one purchase when ref names it,
// everything otherwise.
func (a *answers) changed(topic, ref string) {
	if topic == storedb.TopicKeys || topic == storedb.TopicLicenses || topic == storedb.TopicLicenseKeys {
		return
	}
	workspace, folded, ok := storedb.ParsePurchaseRef(ref)
	if topic != storedb.TopicPurchases || !ok {
		a.drop(a.empty)
		return
	}
	a.drop(func() {
		if a.purchases != nil {
			a.purchases.Invalidate(purchaseKey{workspace, folded})
		}
	})
}

func (a *answers) lost() { a.drop(func() { a.fed = false; a.empty() }) }
func (a *answers) live() { a.drop(func() { a.fed = true; a.empty() }) }

func (a *answers) empty() {
	a.others.InvalidateAll()
	if a.purchases != nil {
		a.purchases.InvalidateAll()
		a.door.emptied()
	}
}

func (a *answers) drop(what func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation.Add(1)
	what()
}

// findPurchase gives the purchase that is kept, or the generation at which a read
// begins.
func (a *answers) findPurchase(key purchaseKey) (kept keptPurchase, found bool, generation uint64) {
	if a.purchases == nil {
		return kept, false, 0
	}
	if kept, found = a.purchases.GetIfPresent(key); found {
		return kept, true, 0
	}
	return kept, false, a.generation.Load()
}

// keepPurchase keeps what was read, if it is worth it, unless a change came since
// its read began.
func (a *answers) keepPurchase(key purchaseKey, p keptPurchase, generation uint64) {
	if a.purchases == nil || !a.door.admits(key, p.size()) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fed && a.generation.Load() == generation {
		key.code = p.part(key.code)
		a.purchases.Set(key, p)
	}
}

// find is findPurchase for all else.
func (a *answers) find(key answerKey) (kept answer, generation uint64) {
	if a.purchases == nil && key.what != anItem {
		return nil, a.generation.Load()
	}
	if kept, ok := a.others.GetIfPresent(key); ok {
		return kept, 0
	}
	return nil, a.generation.Load()
}

// keep is keepPurchase for all else.
func (a *answers) keep(key answerKey, v answer, generation uint64) {
	if a.purchases == nil && key.what != anItem {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fed && a.generation.Load() == generation {
		a.others.Set(key, v)
	}
}

// once reads and keeps what find did not find. Who wants the same meanwhile waits
// for it and shares it, but not across a change: of long answers, one for each of
// a crowd would take more memory than all else. A read that is shared goes on when
// the one who began it leaves.
func (a *answers) once(ctx context.Context, key answerKey, generation uint64, read func(context.Context) (answer, error)) (answer, error) {
	if !a.trusted() {
		return read(ctx)
	}
	v, err, _ := a.reads.Do(fmt.Sprint(key, generation), func() (any, error) {
		if kept, _ := a.find(key); kept != nil { // by a read that has just ended
			return kept, nil
		}
		v, err := read(context.WithoutCancel(ctx))
		if err == nil {
			a.keep(key, v, generation)
		}
		return v, err
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return nil, err
	}
	return v.(answer), nil
}

// trusted tells whether the changes of others arrive.
func (a *answers) trusted() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fed
}

// keptPurchase is a purchase as it is printed. Its item is kept by itself, once
// for all of its purchases. There may be hundreds of thousands of them, so each is
// two pieces of memory for the collector to follow, and no more: the entry and
// what is printed.
type keptPurchase struct {
	printed countersign.PrintedPurchase
	item    int64
	state   State
}

func (k keptPurchase) size() int { return k.printed.Len() + entryBytes }

// part is s as a part of what is printed, if it stands there. Otherwise it is a
// copy: s may be a part of a whole request.
func (k keptPurchase) part(s string) string {
	before := k.printed.Before()
	if i := strings.Index(before, s); i >= 0 {
		return before[i : i+len(s)]
	}
	return strings.Clone(s)
}

// keptItem is an item as the API prints it, and whether its purchases print until
// when they are supported, also when that has passed.
type keptItem struct {
	body    string
	support bool
}

func (k *keptItem) size() int { return len(k.body) + 40 }

// keptAccount is the account of a workspace.
type keptAccount struct{ countersign.Account }

func (k *keptAccount) size() int {
	p := k.Profile
	return 500 + len(p.Heading) + len(p.Description) + 100*len(p.SocialLinks)
}

// Items is the items of a workspace as the API prints them, by id. It may be
// shared by many requests.
type Items struct {
	bodies   []string
	bytes    int
	once     sync.Once
	prepared any
}

// Prepared gives what prepare makes of the items' bodies. It is called once for
// as long as the items are kept.
func (i *Items) Prepared(prepare func(bodies []string) any) any {
	i.once.Do(func() { i.prepared, i.bodies = prepare(i.bodies), nil })
	return i.prepared
}

// size counts the bytes and, beside them, a compressed copy.
func (i *Items) size() int { return i.bytes + i.bytes/4 }
