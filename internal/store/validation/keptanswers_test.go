package validation_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

// change is something that happens to the purchase keptCode and its workspace's
// items after both were kept.
type change struct {
	do    func(t *testing.T, f *storetest.Fixture)
	topic string // the topic that drops what was kept
	code  string // what the purchase's validation answers then
	items int    // how many items there are then
	name  string // the first item's name then
	email string // the account's e-mail then
}

const keptCode = "kept-code"

func TestKeptAnswersFollowEveryChange(t *testing.T) {
	for name, c := range map[string]change{
		"a refund": {func(t *testing.T, f *storetest.Fixture) {
			must.Get(f.EndPurchase(t.Context(), storetest.Operator, keptCode, store.StateRefunded))(t)
		}, storedb.TopicPurchases, "purchase_refunded", 2, "Item 1", "ada@shop.example"},
		"an import of a purchase": {func(t *testing.T, f *storetest.Fixture) {
			f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, keptCode, `"state":"revoked"`)))
		}, storedb.TopicPurchases, "purchase_revoked", 2, "Item 1", "ada@shop.example"},
		"an import of an item": {func(t *testing.T, f *storetest.Fixture) {
			f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 4)))
		}, storedb.TopicItems, "", 3, "Item 1", "ada@shop.example"},
		"an import of a known item": {func(t *testing.T, f *storetest.Fixture) {
			f.MustImport(t, storetest.Lines(strings.Replace(storetest.ItemText("ada", 1), "Item 1", "New name", 1)))
		}, storedb.TopicItems, "", 2, "New name", "ada@shop.example"},
		"a new e-mail address": {func(t *testing.T, f *storetest.Fixture) {
			_, err := f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) { w.Account.Email = "new@shop.example" })
			storetest.WantError(t, err, "")
		}, storedb.TopicWorkspaces, "", 2, "Item 1", "new@shop.example"},
	} {
		t.Run(name+" by this process", func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) { c.follow(t, f.WithCache(t), nil) })
		})
		t.Run(name+" by another process", func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) { c.follow(t, f.WithCache(t), f) })
		})
	}
}

// follow asks once, so that the answers are kept, makes the change in the other
// store or else in this one, and asks again.
func (c change) follow(t *testing.T, f, other *storetest.Fixture) {
	f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, keptCode)))
	w, err := f.Workspace(t.Context(), storetest.Operator, "ada")
	storetest.WantError(t, err, "")
	a := people.Actor{Kind: people.KindKey, Workspace: w.ID, Secret: true}
	told, live := make(chan struct{}, 100), make(chan struct{}, 1)
	f.Validation.Database().Watch(sqldb.Watcher{
		Changed: func(topic, _ string) {
			if topic == c.topic {
				told <- struct{}{}
			}
		},
		Lost: func() {}, Live: func() { live <- struct{}{} },
	})
	f.Start(t, f.Validation.Database())
	storetest.Await(t, live)
	change{items: 2, name: "Item 1", email: "ada@shop.example"}.ask(t, f, a)
	f.Execute(t, `UPDATE purchases SET state = 'revoked'`, `UPDATE items SET body = replace(body, 'Item 1', 'Item X')`, `UPDATE workspaces SET email = 'eve@shop.example'`)
	change{items: 2, name: "Item 1", email: "ada@shop.example"}.ask(t, f, a) // from memory
	f.Execute(t, `UPDATE purchases SET state = 'active'`, `UPDATE items SET body = replace(body, 'Item X', 'Item 1')`, `UPDATE workspaces SET email = 'ada@shop.example'`)
	if other == nil {
		other = f
	}
	c.do(t, other)
	storetest.Await(t, told)
	c.ask(t, f, a)
}

// ask holds every answer to what it must be.
func (c change) ask(t *testing.T, f *storetest.Fixture, a people.Actor) {
	t.Helper()
	_, err := f.Validation.Validate(t.Context(), a, keptCode)
	storetest.WantError(t, err, c.code)
	items, err := f.Validation.Items(t.Context(), a, "")
	storetest.WantError(t, err, "")
	expect.Equalf(t, len(storetest.IDsOf(t, items)), c.items, "items")
	item, err := f.Validation.Item(t.Context(), a, 1)
	storetest.WantError(t, err, "")
	if !strings.Contains(item.Text(), `"name":"`+c.name+`"`) {
		t.Errorf("the item is %s", item.Text())
	}
	account, err := f.Validation.Account(t.Context(), a)
	storetest.WantError(t, err, "")
	expect.Equalf(t, account.Email, c.email, "the account's e-mail")
}
