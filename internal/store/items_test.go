package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/store/transfer"
)

func TestItemsOfAKeyAreThoseOfItsWorkspace(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("eve"), storetest.ItemText("ada", 10), storetest.ItemText("ada", 4)))
		_, ada := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		_, eve := f.MustCreate(t, store.NewKey{Workspace: "eve"})
		items := must.Get(f.Validation.Items(t.Context(), f.ActorOf(t, ada), ""))(t)
		if got, want := storetest.IDsOf(t, items), []int64{1, 2, 4, 10}; !slices.Equal(got, want) {
			t.Errorf("items %d, want %d", got, want)
		}
		_, err := f.Validation.Items(t.Context(), f.ActorOf(t, eve), "")
		storetest.WantError(t, err, "no_items")
		expect.Equalf(t, storetest.MessageOf(err), "No items found", "message")
		for id, want := range map[int64]string{1: "", 3: "item_not_found", 0: "item_not_found", -1: "item_not_found", 99: "item_not_found", 1 << 62: "item_not_found"} {
			body, err := f.Validation.Item(t.Context(), f.ActorOf(t, ada), id)
			if storetest.CodeOf(err) != want || (err == nil) != (body.Text() != "") {
				t.Errorf("item %d: %q, %v; want the code %q", id, body.Text(), err, want)
			}
			if err != nil && storetest.MessageOf(err) != "Item Not Found" {
				t.Errorf("item %d: message %q", id, storetest.MessageOf(err))
			}
		}
	})
}

func TestEachAddressOfAStoreHasItsOwnDefaultPictures(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		for _, base := range []string{"http://10.0.0.1", "http://10.0.0.2", "http://10.0.0.1"} {
			items := must.Get(f.Validation.Items(t.Context(), f.ActorOf(t, token), base))(t)
			for _, item := range storetest.ItemsOf(t, items) {
				if item.Media.Thumbnail != base+"/media/default/thumbnail.png" || *item.Media.PreviewImage != base+"/media/default/preview.png" {
					t.Errorf("at %s: %s", base, item.Media.Thumbnail)
				}
			}
		}
	})
}

func TestOperatorSeesItemsOfAllWorkspaces(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for workspace, want := range map[string]int{"ada": 2, "bob": 1} {
			if list, err := f.ListItems(t.Context(), storetest.Operator, workspace); err != nil || len(list) != want {
				t.Errorf("%s has %d items, %v; want %d", workspace, len(list), err, want)
			}
		}
		if item, err := f.ShowItem(t.Context(), storetest.Operator, 3); err != nil || item.Name != "Item 3" || !item.Support {
			t.Errorf("item 3 is %+v, %v", item, err)
		}
		_, err := f.ShowItem(t.Context(), storetest.Operator, 99)
		storetest.WantError(t, err, "item_not_found")
		_, err = f.ListItems(t.Context(), storetest.Operator, "eve")
		storetest.WantError(t, err, "workspace_not_found")
	})
}

// from returns a change that reads an item's JSON.
func from(text string) func(*store.Item) error {
	return func(i *store.Item) error {
		_, err := transfer.ReadItem([]byte(text), i, "ada")
		return err
	}
}

func TestCreateItem(t *testing.T) {
	cases := []struct{ name, text, want, body string }{
		{"the rest is filled in", `{"name":"Rain"}`, "", `{"id":4,"name":"Rain","description":"","category":"","sub_category":"","options":[],"version":"","demo_link":"","tags":[],` +
			`"media":{"thumbnail":"","preview_image":""},"price":{"regular":0.00,"extended":0.00},"currency":"USD","published_at":"2026-11-01T12:00:00Z"}`},
		{"all members, as a line of an import", storetest.ItemText("ada", 9, `"kind":"audio"`, `"support":true`, `"tags":["a","b"]`, `"media":{"preview_audio":"https://cdn.example/a.mp3"}`), "",
			`{"id":9,"name":"Item 9","description":"","category":"","sub_category":"","options":[],"version":"1.2.3","demo_link":"","tags":["a","b"],` +
				`"media":{"thumbnail":"","preview_audio":"https://cdn.example/a.mp3"},"price":{"regular":49.00,"extended":199.00},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}`},
		{"an id of this workspace", `{"id":1,"name":"Rain"}`, "item_exists", ""},
		{"an id of another workspace", `{"id":3,"name":"Rain"}`, "item_exists", ""},
		{"without a name", `{}`, "invalid", ""},
		{"a negative id", `{"id":-1,"name":"Rain"}`, "invalid", ""},
		{"an unknown kind", `{"name":"Rain","kind":"Audio"}`, "invalid", ""},
		{"a price with three decimals", `{"name":"Rain","price":{"regular":1.001}}`, "invalid", ""},
		{"an unknown member", `{"name":"Rain","prize":1}`, "invalid", ""},
		{"too many domains", `{"name":"Rain","licensing":{"regular_domains":5000}}`, "invalid", ""},
		{"another type", `{"type":"purchase","name":"Rain"}`, "invalid", ""},
		{"another workspace", `{"workspace":"bob","name":"Rain"}`, "invalid", ""},
		{"an array", `[]`, "invalid", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				items, entries := f.Rows(t, "items"), len(f.Audits(t))
				i, err := f.CreateItem(t.Context(), storetest.Operator, "ada", from(c.text))
				storetest.WantError(t, err, c.want)
				if c.want != "" {
					if f.Rows(t, "items") != items || len(f.Audits(t)) != entries {
						t.Error("something was written")
					}
					return
				}
				read, err := f.ShowItem(t.Context(), storetest.Operator, i.ID)
				if err != nil || string(read.Body) != c.body || storetest.MustJSON(t, read.Licensing) != storetest.MustJSON(t, storedb.DefaultLicensing()) {
					t.Errorf("%s, %+v, %v", read.Body, read.Licensing, err)
				}
				if e := f.NewestAudit(t); e.Action != "item.create" || e.Workspace != "ada" || e.Subject != store.IDText(i.ID) || e.Detail != i.Name {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestEditItem(t *testing.T) {
	long := strings.Repeat("rain ", 100)
	cases := []struct{ name, text, want, before, after string }{
		{"one member", `{"version":"1.2.4"}`, "", `version: "1.2.3"`, `version: "1.2.4"`},
		{"one member of an object", `{"price":{"extended":250}}`, "", `price.extended: 199.00`, `price.extended: 250.00`},
		{"a list", `{"tags":["rain"]}`, "", `tags: []`, `tags: ["rain"]`},
		{"what only the store knows", `{"kind":"video","support":false,"licensing":{"moves_a_year":9}}`, "",
			`kind: "other", licensing.moves_a_year: 3, support: true`, `kind: "video", licensing.moves_a_year: 9, support: false`},
		{"a link that was there", `{"media":{"preview_image":"https://cdn.example/2.png"}}`, "",
			`media.preview_image: "https://cdn.example/1.png"`, `media.preview_image: "https://cdn.example/2.png"`},
		{"a long text", `{"description":"` + long + `"}`, "", `description: ""`, `description: "` + long[:199] + `… (502 characters)`},
		{"the same", `{"id":1,"type":"item","workspace":"ada","version":"1.2.3"}`, "", "", ""},
		{"nothing", `{}`, "", "", ""},
		{"an id", `{"id":2}`, "invalid", "", ""},
		{"another workspace", `{"workspace":"bob"}`, "invalid", "", ""},
		{"no name", `{"name":""}`, "invalid", "", ""},
		{"a link to nowhere", `{"demo_link":"nowhere"}`, "invalid", "", ""},
		{"a wrong staging host", `{"licensing":{"staging_hosts":["*"]}}`, "invalid", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
				f.MustImport(t, storetest.Lines(storetest.ItemText("ada", 1, `"support":true`, `"media":{"preview_image":"https://cdn.example/1.png"}`)))
				row, entries := f.Dump(t, "items"), len(f.Audits(t))
				i, err := f.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error { return from(c.text)(i) })
				storetest.WantError(t, err, c.want)
				if c.after == "" {
					if f.Dump(t, "items") != row || len(f.Audits(t)) != entries {
						t.Error("something was written")
					}
					return
				}
				if read, err := f.ShowItem(t.Context(), storetest.Operator, 1); err != nil || storetest.MustJSON(t, read) != storetest.MustJSON(t, i) {
					t.Errorf("%s, %v; returned %s", storetest.MustJSON(t, read), err, storetest.MustJSON(t, i))
				}
				if e := f.NewestAudit(t); e.Action != "item.edit" || e.Workspace != "ada" || e.Subject != "1" || e.Before != c.before || e.After != c.after {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestItemsOfNobody(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, err := f.EditItem(t.Context(), storetest.Operator, 99, "", func(*store.Item, string) error { return nil })
		storetest.WantError(t, err, "item_not_found")
		_, err = f.CreateItem(t.Context(), storetest.Operator, "eve", from(`{"name":"Rain"}`))
		storetest.WantError(t, err, "workspace_not_found")
	})
}

// What a secret key is answered about items and purchases changes with them at once.
func TestEditedItemsAreServedAtOnce(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.PurchaseText("ada", 1, "code")))
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		f = f.WithCache(t)
		f.Start(t, f.Instance.Database)
		a := f.ActorOf(t, token)
		wantNames := func(name string, count int) {
			t.Helper()
			items, err := f.Validation.Items(t.Context(), a, "https://shop.example")
			storetest.WantError(t, err, "")
			if n := len(storetest.IDsOf(t, items)); n != count || !strings.Contains(string(items.Plain.Body), `"name":"`+name+`"`) {
				t.Errorf("%d items: %s", n, items.Plain.Body)
			}
			expect.Equalf(t, printedName(t, f, a), name, "the purchase prints")
		}
		wantNames("Item 1", 2)
		_, err := f.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error { return from(`{"name":"Storm"}`)(i) })
		storetest.WantError(t, err, "")
		wantNames("Storm", 2)
		_, err = f.CreateItem(t.Context(), storetest.Operator, "ada", from(`{"name":"Hail"}`))
		storetest.WantError(t, err, "")
		wantNames("Storm", 3)
	})
}

// printedName is the name of the item that the purchase "code" prints.
func printedName(t *testing.T, f *storetest.Fixture, a people.Actor) string {
	t.Helper()
	valid, err := f.Validation.Validate(t.Context(), a, "code")
	storetest.WantError(t, err, "")
	return storetest.Read(t, valid).Item.Name
}
