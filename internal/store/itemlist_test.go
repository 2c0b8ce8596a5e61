package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
)

// manyItems writes items of ada with the ids 101 to 100+n, whose orders differ.
func manyItems(t *testing.T, f *storetest.Fixture, n int) {
	t.Helper()
	var all []string
	for i := range n {
		all = append(all, storetest.ItemText("ada", 101+i, fmt.Sprintf(`"name":"%c item %d"`, "bBaA"[i%4], i*7%n), fmt.Sprintf(`"price":{"regular":%d.00,"extended":99.00}`, i%5),
			fmt.Sprintf(`"published_at":"2024-04-%02dT00:00:00Z"`, 1+i%9), `"tags":["50% off, \"loud\"","Rain"]`))
	}
	f.MustImport(t, storetest.Lines(all...))
}

func TestItemsAreListedInEveryOrderBothWays(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manyItems(t, f, 40)
		for _, order := range []store.ItemOrder{store.ItemsByID, store.ItemsByName, store.ItemsByPrice, store.ItemsByPublication} {
			for _, backwards := range []bool{false, true} {
				filter := store.ItemFilter{Order: order, Backwards: backwards, Limit: 1000}
				whole, err := f.PageItems(t.Context(), storetest.Operator, "ada", filter)
				if err != nil || len(whole.Items) < 40 {
					t.Fatal(len(whole.Items), err)
				}
				inOrder := slices.IsSortedFunc(whole.Items, func(a, b store.Item) int {
					c := map[store.ItemOrder]int{
						store.ItemsByID: int(b.ID - a.ID), store.ItemsByName: strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)),
						store.ItemsByPrice: int(a.Price.Regular - b.Price.Regular), store.ItemsByPublication: a.PublishedAt.Compare(b.PublishedAt.Time),
					}[order]
					if backwards {
						return -c
					}
					return c
				})
				if !inOrder {
					t.Errorf("%q backwards %t: %v", order, backwards, ids(whole.Items))
				}
				filter.Limit = 7
				var there, back []int64
				for more := true; more; {
					page := must.Get(f.PageItems(t.Context(), storetest.Operator, "ada", filter))(t)
					there, more = append(there, ids(page.Items)...), page.Older
					filter.After = page.Items[len(page.Items)-1].ID
				}
				filter.After, filter.Before = 0, there[len(there)-1]
				for more := true; more; {
					page := must.Get(f.PageItems(t.Context(), storetest.Operator, "ada", filter))(t)
					back, more = append(ids(page.Items), back...), page.Newer
					filter.Before = page.Items[0].ID
				}
				if !slices.Equal(there, ids(whole.Items)) || !slices.Equal(back, there[:len(there)-1]) {
					t.Errorf("%q backwards %t:\n%v\n%v\n%v", order, backwards, ids(whole.Items), there, back)
				}
			}
		}
		if _, err := f.PageItems(t.Context(), storetest.Operator, "ada", store.ItemFilter{Order: store.ItemsByName, After: 3, Limit: 1}); !fault.HasCode(err, "item_not_found") {
			t.Errorf("beside an item of another workspace: %v", err)
		}
	})
}

func ids(items []store.Item) (all []int64) {
	for _, i := range items {
		all = append(all, i.ID)
	}
	return all
}

func TestItemsAreFoundByTagAndPublication(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manyItems(t, f, 3)
		count := func(filter store.ItemFilter) int {
			t.Helper()
			n := 0
			must.Do(t, f.EachItem(t.Context(), storetest.Operator, "ada", filter, func(store.Item) error { n++; return nil }))
			return n
		}
		for tag, want := range map[string]int{`50% OFF, "loud"`: 3, "rain": 3, "rai": 0, "50_ off": 0, "<": 0} {
			expect.Equalf(t, count(store.ItemFilter{Tag: tag}), want, "tag %q: items", tag)
		}
		by := storetest.Timestamp("2024-04-02T00:00:00Z")
		if now, later := count(store.ItemFilter{PublishedBy: by, Tag: "rain"}), count(store.ItemFilter{PublishedBy: by, NotPublished: true, Tag: "rain"}); now != 2 || later != 1 {
			t.Errorf("%d published, %d later", now, later)
		}
		expect.Equalf(t, count(store.ItemFilter{IDs: []int64{101, 102, 3}}), 2, "of the chosen")
		expect.Equalf(t, count(store.ItemFilter{IDs: []int64{}}), 0, "of none chosen")
	})
}

func TestAnExportOfItemsHasMoreThanOnePortion(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manyItems(t, f, 1100)
		var seen []int64
		err := f.EachItem(t.Context(), storetest.Operator, "ada", store.ItemFilter{Order: store.ItemsByPrice, Tag: "rain"}, func(i store.Item) error { seen = append(seen, i.ID); return nil })
		if slices.Sort(seen); err != nil || len(slices.Compact(seen)) != 1100 {
			t.Errorf("%d items, %v", len(seen), err)
		}
	})
}

func TestSeveralItemsAreChangedOrSaidNotToBe(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		manyItems(t, f, 60)
		var chosen []int64
		for id := range int64(60) {
			chosen = append(chosen, 101+id)
		}
		changed, err := f.SetItemsCategory(t.Context(), storetest.Operator, "ada", append(chosen, 101, 3, 9999), "Loops")
		if err != nil || changed.Done != 60 || len(changed.Failed) != 2 || changed.Failed[0].ID != 3 || changed.Failed[0].Name != "" {
			t.Errorf("%+v, %v", changed, err)
		}
		for _, id := range []int64{101, 160} {
			if i, err := f.ShowItem(t.Context(), storetest.Operator, id); err != nil || i.Category != "Loops" || !strings.Contains(string(i.Body), `"category":"Loops"`) {
				t.Errorf("%d: %q, %v", id, i.Category, err)
			}
		}
		if i, err := f.ShowItem(t.Context(), storetest.Operator, 3); err != nil || i.Category == "Loops" {
			t.Errorf("the item of another workspace is %q, %v", i.Category, err)
		}
		expect.Equalf(t, f.Rows(t, "audit WHERE action = 'item.edit'"), 60, "entries")
		later, err := f.EditItem(t.Context(), storetest.Operator, 101, "", func(i *store.Item, _ string) error {
			i.PublishedAt = countersign.At(storetest.Noon.AddDate(1, 0, 0))
			return nil
		})
		must.Do(t, err)
		changed, err = f.PublishItems(t.Context(), storetest.Operator, "ada", []int64{102, later.ID})
		if err != nil || changed.Done != 1 || len(changed.Failed) != 1 || changed.Failed[0].ID != 102 || changed.Failed[0].Reason != "The item is already published" {
			t.Errorf("%+v, %v", changed, err)
		}
		if i, err := f.ShowItem(t.Context(), storetest.Operator, 101); err != nil || !i.PublishedAt.Equal(storetest.Noon) {
			t.Errorf("published %s, %v", i.PublishedAt, err)
		}
		if _, err := f.PublishItems(t.Context(), storetest.Operator, "ada", nil); !fault.HasCode(err, "items_chosen") {
			t.Errorf("none chosen: %v", err)
		}
	})
}
