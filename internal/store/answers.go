package store

import (
	"sync"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/maypok86/otter/v2"
)

// answers keeps what was read for answers, up to a number of bytes. Whatever a
// transaction changes is dropped before its Tx returns; a value is kept only if
// no change came since its read began.
type answers struct {
	cache *otter.Cache[answerKey, answer]
	// itemsAlone says that nothing else is kept.
	itemsAlone bool
	mu         sync.Mutex
	// generation counts changes; fed tells whether those of others arrive.
	generation uint64
	fed        bool
}

// answerKey names what is kept of a workspace: its account, its items, one of
// them, or a purchase by its folded code.
type answerKey struct {
	workspace int64
	item      int64
	code      string
	what      byte
}

const (
	anAccount byte = iota
	allItems
	anItem
	aPurchase
)

func accountKey(workspace int64) answerKey { return answerKey{workspace: workspace, what: anAccount} }

func itemsKey(workspace int64) answerKey { return answerKey{workspace: workspace, what: allItems} }

func itemKey(workspace, item int64) answerKey {
	return answerKey{workspace: workspace, what: anItem, item: item}
}

func purchaseKey(workspace int64, folded string) answerKey {
	return answerKey{workspace: workspace, what: aPurchase, code: folded}
}

// answer is what is kept. size is about what it holds in memory, in bytes.
type answer interface{ size() int }

// entryBytes is about what the cache itself spends on an entry.
const entryBytes = 300

// itemRoom is the least memory for items, in bytes: every purchase prints one of
// them, so they are kept also when other answers are not.
const itemRoom = 8 << 20

func newAnswers(bytes int64) *answers {
	return &answers{
		itemsAlone: bytes == 0,
		cache: otter.Must(&otter.Options[answerKey, answer]{
			MaximumWeight: uint64(max(bytes, itemRoom)),
			Weigher:       func(_ answerKey, v answer) uint32 { return uint32(min(v.size()+entryBytes, 1<<31)) },
		}),
	}
}

// changed drops what a transaction has changed: one purchase when ref names it,
// everything otherwise.
func (a *answers) changed(topic, ref string) {
	if topic == storedb.TopicKeys || topic == storedb.TopicLicenses || topic == storedb.TopicLicenseKeys {
		return
	}
	a.drop(func() {
		workspace, folded, ok := storedb.ParsePurchaseRef(ref)
		if topic == storedb.TopicPurchases && ok {
			a.cache.Invalidate(purchaseKey(workspace, folded))
			return
		}
		a.cache.InvalidateAll()
	})
}

func (a *answers) lost() { a.drop(func() { a.fed = false; a.cache.InvalidateAll() }) }
func (a *answers) live() { a.drop(func() { a.fed = true; a.cache.InvalidateAll() }) }

func (a *answers) drop(what func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.generation++
	what()
}

// find gives what is kept, or the generation at which a read begins.
func (a *answers) find(key answerKey) (kept answer, generation uint64) {
	if a.itemsAlone && key.what != anItem {
		return nil, 0
	}
	if kept, ok := a.cache.GetIfPresent(key); ok {
		return kept, 0
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return nil, a.generation
}

// keep keeps what was read, unless a change came since its read began.
func (a *answers) keep(key answerKey, v answer, generation uint64) {
	if a.itemsAlone && key.what != anItem {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fed && a.generation == generation {
		a.cache.Set(key, v)
	}
}

// keptPurchase is a purchase as it is printed. Its item is kept by itself, once
// for all of its purchases.
type keptPurchase struct {
	countersign.PrintedPurchase
	item  int64
	state State
}

// size counts the key's code, too, which is part of what is printed.
func (k *keptPurchase) size() int { return 2*len(k.Before) + len(k.After) + 80 }

// keptItem is an item as the API prints it, and whether its purchases may carry
// support.
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
