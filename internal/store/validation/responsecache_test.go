package validation

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// A value is kept only when nothing happened between the start of its read and
// its keeping.
func TestAnswersAreKeptUnlessSomethingChangedMeanwhile(t *testing.T) {
	purchase := storedb.Purchase{WorkspaceID: 7, Code: "Code 1"}
	cases := []struct {
		name      string
		meanwhile func(*responseCache)
		want      bool
	}{
		{"a read without a change is kept", func(*responseCache) {}, true},
		{"a change of keys does not matter", func(a *responseCache) { a.changed(storedb.TopicKeys, "") }, true},
		{"a change of this purchase drops it", func(a *responseCache) { a.changed(storedb.TopicPurchases, purchase.Ref()) }, false},
		{"a change of all purchases drops it", func(a *responseCache) { a.changed(storedb.TopicPurchases, "") }, false},
		{"a change of workspaces drops it", func(a *responseCache) { a.changed(storedb.TopicWorkspaces, "") }, false},
		{"a change of items drops it", func(a *responseCache) { a.changed(storedb.TopicItems, "") }, false},
		{"a feed that was lost drops it", func(a *responseCache) { a.lost() }, false},
		{"a feed that was lost and came back drops it", func(a *responseCache) { a.lost(); a.live() }, false},
	}
	key := purchaseKey{7, "code 1"}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			during, after := newResponseCache(1<<20), newResponseCache(1<<20)
			during.live()
			_, _, generation := during.purchases.Find(key)
			c.meanwhile(during)
			during.storePurchase(key, cachedPurchase{}, generation)
			if _, cached, _ := during.purchases.Find(key); cached != c.want {
				t.Errorf("a change during the read: kept %t, want %t", cached, c.want)
			}
			after.live()
			_, _, generation = after.purchases.Find(key)
			after.storePurchase(key, cachedPurchase{}, generation)
			c.meanwhile(after)
			if _, cached, _ := after.purchases.Find(key); cached != c.want {
				t.Errorf("a change after the read: kept %t, want %t", cached, c.want)
			}
		})
	}
}

func TestAnotherPurchaseStaysKept(t *testing.T) {
	a := newResponseCache(1 << 20)
	a.live()
	key := purchaseKey{7, "code 1"}
	_, _, generation := a.purchases.Find(key)
	a.storePurchase(key, cachedPurchase{}, generation)
	a.changed(storedb.TopicPurchases, storedb.Purchase{WorkspaceID: 7, Code: "code 2"}.Ref())
	if _, cached, _ := a.purchases.Find(key); !cached {
		t.Error("a change of one purchase dropped another")
	}
}

func TestAnyLimitIsOne(t *testing.T) {
	for _, limit := range []int64{1, 2, 3, 1000} {
		newResponseCache(limit).live()
	}
}

// What is kept may not hold the request that it was asked with.
func TestKeptCodesHoldNoRequest(t *testing.T) {
	request := strings.Repeat("x", 1000) + "abcd-1"
	asked := request[1000:]
	for _, printed := range []string{"abcd-1", "ABCD-1"} {
		p := cachedPurchase{printed: printPurchase(&storedb.PurchaseText{Code: []byte(printed)})}
		part := p.part(asked)
		if part != asked || unsafe.StringData(part) == unsafe.StringData(asked) {
			t.Errorf("of %s: %q, the request's own: %t", printed, part, part == asked)
		}
	}
}

func TestItemsAloneAreKeptWhenSwitchedOff(t *testing.T) {
	a := newResponseCache(0)
	a.live()
	for _, c := range []struct {
		name  string
		key   responseKey
		value response
		want  bool
	}{
		{"a list of items", itemsKey(7, ""), &cachedItems{}, false},
		{"an account", accountKey(7), &cachedAccount{}, false},
		{"an item", itemKey(7, 1), &cachedItem{}, true},
	} {
		_, _, generation := a.others.Find(c.key)
		a.store(c.key, c.value, generation)
		if _, cached, _ := a.others.Find(c.key); cached != c.want {
			t.Errorf("%s is kept: %t, want %t", c.name, cached, c.want)
		}
	}
	key := purchaseKey{7, "code 1"}
	_, _, generation := a.purchases.Find(key)
	a.storePurchase(key, cachedPurchase{}, generation)
	if _, cached, _ := a.purchases.Find(key); cached {
		t.Error("a purchase is kept")
	}
}

// A crowd that wants the same answer reads it once, and nobody gets what was read
// before a change that had come when they asked.
func TestACrowdReadsOnce(t *testing.T) {
	for _, c := range []struct {
		name      string
		bytes     int64
		fed       bool
		meanwhile func(*responseCache)
		want      int64
	}{
		{"who asks during a read shares it", 1 << 20, true, func(*responseCache) {}, 1},
		{"also when answers are not kept", 0, true, func(*responseCache) {}, 1},
		{"but not across a change", 1 << 20, true, func(a *responseCache) { a.changed(storedb.TopicItems, "") }, 2},
		{"nor across one when answers are not kept", 0, true, func(a *responseCache) { a.changed(storedb.TopicItems, "") }, 2},
		{"nor when changes may have been missed", 0, true, func(a *responseCache) { a.lost(); a.live() }, 2},
		{"and not while changes of others don't arrive", 1 << 20, false, func(*responseCache) {}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newResponseCache(c.bytes)
				if c.fed {
					a.live()
				}
				var reads atomic.Int64
				var done sync.WaitGroup
				release := make(chan struct{})
				ask := func() {
					_, _, generation := a.others.Find(itemsKey(7, ""))
					_, err := a.once(t.Context(), itemsKey(7, ""), generation, func(context.Context) (response, error) {
						reads.Add(1)
						<-release
						return &cachedItems{}, nil
					})
					if err != nil {
						t.Error(err)
					}
				}
				done.Go(ask)
				synctest.Wait()
				c.meanwhile(a)
				done.Go(ask)
				synctest.Wait()
				close(release)
				done.Wait()
				if got := reads.Load(); got != c.want {
					t.Errorf("read %d times, want %d", got, c.want)
				}
			})
		})
	}
}

func TestAReadThatFailsIsNotKept(t *testing.T) {
	a := newResponseCache(1 << 20)
	a.live()
	_, _, generation := a.others.Find(itemsKey(7, ""))
	got, err := a.once(t.Context(), itemsKey(7, ""), generation, func(context.Context) (response, error) { return &cachedItems{}, sqldb.ErrNotFound })
	if err != sqldb.ErrNotFound || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, cached, _ := a.others.Find(itemsKey(7, "")); cached {
		t.Error("it is kept")
	}
}

// Who began a read may leave: the others still get it.
func TestASharedReadGoesOn(t *testing.T) {
	a := newResponseCache(1 << 20)
	a.live()
	ctx, leave := context.WithCancel(t.Context())
	_, _, generation := a.others.Find(itemsKey(7, ""))
	_, err := a.once(ctx, itemsKey(7, ""), generation, func(ctx context.Context) (response, error) {
		leave()
		return &cachedItems{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	if _, cached, _ := a.others.Find(itemsKey(7, "")); !cached {
		t.Error("what was read is not kept")
	}
}
