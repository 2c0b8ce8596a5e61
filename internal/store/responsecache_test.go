package store

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"unsafe"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
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
			if _, kept, _ := during.purchases.Find(key); kept != c.want {
				t.Errorf("a change during the read: kept %t, want %t", kept, c.want)
			}
			after.live()
			_, _, generation = after.purchases.Find(key)
			after.storePurchase(key, cachedPurchase{}, generation)
			c.meanwhile(after)
			if _, kept, _ := after.purchases.Find(key); kept != c.want {
				t.Errorf("a change after the read: kept %t, want %t", kept, c.want)
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
	if _, kept, _ := a.purchases.Find(key); !kept {
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
		p := cachedPurchase{printed: countersign.PurchaseText{PurchaseCode: []byte(printed)}.Print()}
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
		{"a list of items", itemsKey(7), &Items{}, false},
		{"an account", accountKey(7), &cachedAccount{}, false},
		{"an item", itemKey(7, 1), &cachedItem{}, true},
	} {
		_, _, generation := a.others.Find(c.key)
		a.store(c.key, c.value, generation)
		if _, kept, _ := a.others.Find(c.key); kept != c.want {
			t.Errorf("%s is kept: %t, want %t", c.name, kept, c.want)
		}
	}
	key := purchaseKey{7, "code 1"}
	_, _, generation := a.purchases.Find(key)
	a.storePurchase(key, cachedPurchase{}, generation)
	if _, kept, _ := a.purchases.Find(key); kept {
		t.Error("a purchase is kept")
	}
}

// change is something that happens to the purchase keptCode and its workspace's
// items after both were kept.
type change struct {
	do    func(t *testing.T, f *fixture)
	topic string // the topic that drops what was kept
	code  string // what the purchase's validation answers then
	items int    // how many items there are then
	name  string // the first item's name then
	email string // the account's e-mail then
}

const keptCode = "kept-code"

func TestKeptAnswersFollowEveryChange(t *testing.T) {
	for name, c := range map[string]change{
		"a refund": {func(t *testing.T, f *fixture) {
			if _, err := f.RefundPurchase(t.Context(), operator, keptCode); err != nil {
				t.Fatal(err)
			}
		}, storedb.TopicPurchases, "purchase_refunded", 2, "Item 1", "ada@shop.example"},
		"an import of a purchase": {func(t *testing.T, f *fixture) {
			f.mustImport(t, lines(purchaseText("ada", 1, keptCode, `"state":"revoked"`)))
		}, storedb.TopicPurchases, "purchase_revoked", 2, "Item 1", "ada@shop.example"},
		"an import of an item": {func(t *testing.T, f *fixture) { f.mustImport(t, lines(itemText("ada", 4))) }, storedb.TopicItems, "", 3, "Item 1", "ada@shop.example"},
		"an import of a known item": {func(t *testing.T, f *fixture) {
			f.mustImport(t, lines(strings.Replace(itemText("ada", 1), "Item 1", "New name", 1)))
		}, storedb.TopicItems, "", 2, "New name", "ada@shop.example"},
		"a new e-mail address": {func(t *testing.T, f *fixture) {
			_, err := f.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) { w.Account.Email = "new@shop.example" })
			wantError(t, err, "")
		}, storedb.TopicWorkspaces, "", 2, "Item 1", "new@shop.example"},
	} {
		t.Run(name+" by this process", func(t *testing.T) {
			shops(t, func(t *testing.T, f *fixture) { c.follow(t, f.withCache(t), nil) })
		})
		t.Run(name+" by another process", func(t *testing.T) {
			shops(t, func(t *testing.T, f *fixture) { c.follow(t, f.withCache(t), f) })
		})
	}
}

// follow asks once, so that the answers are kept, makes the change in the other
// store or else in this one, and asks again.
func (c change) follow(t *testing.T, f, other *fixture) {
	f.mustImport(t, lines(purchaseText("ada", 1, keptCode)))
	w, err := f.Workspace(t.Context(), operator, "ada")
	wantError(t, err, "")
	a := people.Actor{Kind: people.KindKey, Workspace: w.ID, Secret: true}
	told, live := make(chan struct{}, 100), make(chan struct{}, 1)
	f.database.Watch(sqldb.Watcher{
		Changed: func(topic, _ string) {
			if topic == c.topic {
				told <- struct{}{}
			}
		},
		Lost: func() {}, Live: func() { live <- struct{}{} },
	})
	f.run(t)
	await(t, live)
	change{items: 2, name: "Item 1", email: "ada@shop.example"}.ask(t, f, a)
	_, purchase, _ := f.responses.purchases.Find(purchaseKey{w.ID, keptCode})
	_, items, _ := f.responses.others.Find(itemsKey(w.ID))
	_, item, _ := f.responses.others.Find(itemKey(w.ID, 1))
	_, account, _ := f.responses.others.Find(accountKey(w.ID))
	if !purchase || !items || !item || !account {
		t.Errorf("kept: purchase %t, items %t, item %t, account %t", purchase, items, item, account)
	}
	if other == nil {
		other = f
	}
	c.do(t, other)
	await(t, told)
	c.ask(t, f, a)
}

// ask holds every answer to what it must be.
func (c change) ask(t *testing.T, f *fixture, a people.Actor) {
	t.Helper()
	_, err := f.ValidatePurchase(t.Context(), a, keptCode)
	wantError(t, err, c.code)
	items, err := f.Items(t.Context(), a)
	wantError(t, err, "")
	if len(items.bodies) != c.items {
		t.Errorf("%d items, want %d", len(items.bodies), c.items)
	}
	item, err := f.Item(t.Context(), a, 1)
	wantError(t, err, "")
	if !strings.Contains(item, `"name":"`+c.name+`"`) {
		t.Errorf("the item is %s", item)
	}
	account, err := f.Account(t.Context(), a)
	wantError(t, err, "")
	if account.Email != c.email {
		t.Errorf("the account's e-mail is %s, want %s", account.Email, c.email)
	}
}

func (f *fixture) withCache(t *testing.T) *fixture {
	t.Helper()
	o := optionsOf(f.at, f.clock)
	o.CacheBytes = 1 << 20
	s := opened(t, o)
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &fixture{s, f.clock, f.at}
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
					_, _, generation := a.others.Find(itemsKey(7))
					_, err := a.once(t.Context(), itemsKey(7), generation, func(context.Context) (response, error) {
						reads.Add(1)
						<-release
						return &Items{}, nil
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
	_, _, generation := a.others.Find(itemsKey(7))
	got, err := a.once(t.Context(), itemsKey(7), generation, func(context.Context) (response, error) { return &Items{}, sqldb.ErrNotFound })
	if err != sqldb.ErrNotFound || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if _, kept, _ := a.others.Find(itemsKey(7)); kept {
		t.Error("it is kept")
	}
}

// Who began a read may leave: the others still get it.
func TestASharedReadGoesOn(t *testing.T) {
	a := newResponseCache(1 << 20)
	a.live()
	ctx, leave := context.WithCancel(t.Context())
	_, _, generation := a.others.Find(itemsKey(7))
	_, err := a.once(ctx, itemsKey(7), generation, func(ctx context.Context) (response, error) {
		leave()
		return &Items{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("who left got %v", err)
	}
	if _, kept, _ := a.others.Find(itemsKey(7)); !kept {
		t.Error("what was read is not kept")
	}
}
