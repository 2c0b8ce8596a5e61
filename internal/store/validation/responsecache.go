package validation

import (
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/prepared"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// responseCache keeps what was read for responses, up to a number of bytes.
type responseCache struct {
	purchases cached.Map[purchaseKey, cachedPurchase] // no capacity when only items are cached
	others    cached.Map[responseKey, response]
}

// purchaseKey names a purchase of a workspace by its folded code.
type purchaseKey struct {
	workspace int64
	code      string
}

// responseKey names what else is kept of a workspace: its account, its items, or one
// of them.
type responseKey struct {
	workspace int64
	item      int64
	what      byte
	base      string // of the default pictures in allItems
}

const (
	anAccount byte = iota
	allItems
	anItem
)

func accountKey(workspace int64) responseKey {
	return responseKey{workspace: workspace, what: anAccount}
}

func itemsKey(workspace int64, base string) responseKey {
	return responseKey{workspace: workspace, what: allItems, base: base}
}

func itemKey(workspace, item int64) responseKey {
	return responseKey{workspace: workspace, what: anItem, item: item}
}

// response is a cached response. size returns its approximate size in bytes.
type response interface{ size() int }

// entryBytes is about what the caches themselves spend on an entry.
const entryBytes = 170

// itemRoom is the least memory for items, in bytes: every purchase prints one of
// them, so they are cached also when other responses are not.
const itemRoom = 8 << 20

// newResponseCache keeps up to a number of bytes: five eighths of them are for
// purchases, which by default is enough for 100,000.
func newResponseCache(bytes int64) *responseCache {
	forOthers := bytes * 3 / 8
	c := new(responseCache)
	cached.SetCapacity(&c.others, max(forOthers, itemRoom), func(v response) int { return v.size() + entryBytes })
	if bytes > 0 {
		cached.SetCapacity(&c.purchases, bytes-forOthers, cachedPurchase.size)
	}
	return c
}

func (c *responseCache) watcher() sqldb.Watcher {
	return sqldb.Watcher{Changed: c.changed, Lost: c.lost, Live: c.live}
}

// changed drops what a transaction has changed: one purchase when ref names it,
// everything otherwise.
func (c *responseCache) changed(topic, ref string) {
	if topic == storedb.TopicKeys || topic == storedb.TopicLicenses || topic == storedb.TopicLicenseKeys {
		return
	}
	workspace, folded, ok := storedb.ParsePurchaseRef(ref)
	if topic == storedb.TopicPurchases && ok {
		c.purchases.Drop(purchaseKey{workspace, folded})
		return
	}
	c.others.DropAll()
	c.purchases.DropAll()
}

func (c *responseCache) lost() {
	c.others.Lost()
	c.purchases.Lost()
}

func (c *responseCache) live() {
	c.others.Live()
	c.purchases.Live()
}

// storePurchase caches what was read, unless a change came since its read began.
func (c *responseCache) storePurchase(key purchaseKey, p cachedPurchase, since uint64) {
	if c.purchases.HasRoom() {
		key.code = p.part(key.code)
		c.purchases.Store(key, p, since)
	}
}

// keeps reports whether a response is cached: without capacity for purchases, items only.
func (c *responseCache) keeps(key responseKey) bool {
	return c.purchases.HasRoom() || key.what == anItem
}

// store is storePurchase for all else.
func (c *responseCache) store(key responseKey, v response, since uint64) {
	if c.keeps(key) {
		c.others.Store(key, v, since)
	}
}

// once reads and caches what others.Find did not find. Who wants the same meanwhile
// shares it: of long responses, one for each of a crowd would take more memory than all
// else.
func (c *responseCache) once(ctx context.Context, key responseKey, since uint64, read func(context.Context) (response, error)) (response, error) {
	return c.others.Share(ctx, key, since, func(ctx context.Context) (response, error) {
		if v, found, _ := c.others.Find(key); found { // by a read that has just ended
			return v, nil
		}
		v, err := read(ctx)
		if err == nil {
			c.store(key, v, since)
		}
		return v, err
	})
}

// cachedPurchase is a purchase in printed form. All purchases of an item share the
// item's text. There may be hundreds of thousands, so each is only two allocations for
// the garbage collector: the entry and its text.
type cachedPurchase struct {
	printed printedPurchase
	id      int64
	item    int64
	state   storedb.State
}

func (k cachedPurchase) size() int { return k.printed.len() + entryBytes }

// part is s as a part of what is printed, if it stands there. Otherwise it is a
// copy: s may be a part of a whole request.
func (k cachedPurchase) part(s string) string {
	before := k.printed.before()
	if i := strings.Index(before, s); i >= 0 {
		return before[i : i+len(s)]
	}
	return strings.Clone(s)
}

// cachedItem is an item as the API prints it, and whether its purchases print until
// when they are supported, also when that has passed.
type cachedItem struct {
	text    ItemText
	support bool
}

func (k *cachedItem) size() int { return len(k.text.text) + 56 }

// cachedAccount is the account of a workspace.
type cachedAccount struct{ countersign.Account }

func (k *cachedAccount) size() int {
	p := k.Profile
	return 500 + len(p.Heading) + len(p.Description) + 100*len(p.SocialLinks)
}

// cachedItems is the answer with the items of a workspace, and how many bytes they have.
type cachedItems struct {
	answer *prepared.Response
	bytes  int
}

// size counts the bytes and, beside them, a compressed copy.
func (k *cachedItems) size() int { return k.bytes + k.bytes/4 }
