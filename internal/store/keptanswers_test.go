package store

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

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
			if _, err := f.EndPurchase(t.Context(), operator, keptCode, StateRefunded); err != nil {
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
			eitherShops(t, func(t *testing.T, f *fixture) { c.follow(t, f.withCache(t), nil) })
		})
		t.Run(name+" by another process", func(t *testing.T) {
			eitherShops(t, func(t *testing.T, f *fixture) { c.follow(t, f.withCache(t), f) })
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
	silently(t, f, `UPDATE purchases SET state = 'revoked'`, `UPDATE items SET body = replace(body, 'Item 1', 'Item X')`, `UPDATE workspaces SET email = 'eve@shop.example'`)
	change{items: 2, name: "Item 1", email: "ada@shop.example"}.ask(t, f, a) // from memory
	silently(t, f, `UPDATE purchases SET state = 'active'`, `UPDATE items SET body = replace(body, 'Item X', 'Item 1')`, `UPDATE workspaces SET email = 'ada@shop.example'`)
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
	_, err := f.Validation.Validate(t.Context(), a, keptCode)
	wantError(t, err, c.code)
	items, err := f.Validation.Items(t.Context(), a, "")
	wantError(t, err, "")
	if n := len(idsOf(t, items)); n != c.items {
		t.Errorf("%d items, want %d", n, c.items)
	}
	item, err := f.Validation.Item(t.Context(), a, 1)
	wantError(t, err, "")
	if !strings.Contains(item.Text(), `"name":"`+c.name+`"`) {
		t.Errorf("the item is %s", item.Text())
	}
	account, err := f.Validation.Account(t.Context(), a)
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

// silently changes the database as no writer of ours does: nobody is told.
func silently(t *testing.T, f *fixture, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := f.database.Queries().Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}
