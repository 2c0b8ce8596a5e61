package store

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/transfer"
)

// from returns a change that reads an item's JSON.
func from(text string) func(*Item) error {
	return func(i *Item) error {
		_, err := transfer.ReadItem([]byte(text), i, "ada")
		return err
	}
}

func TestCreateItem(t *testing.T) {
	cases := []struct{ name, text, want, body string }{
		{"the rest is filled in", `{"name":"Rain"}`, "", `{"id":4,"name":"Rain","description":"","category":"","sub_category":"","options":[],"version":"","demo_link":"","tags":[],` +
			`"media":{"thumbnail":"","preview_image":""},"price":{"regular":0.00,"extended":0.00},"currency":"USD","published_at":"2026-11-01T12:00:00Z"}`},
		{"all members, as a line of an import", itemText("ada", 9, `"kind":"audio"`, `"support":true`, `"tags":["a","b"]`, `"media":{"preview_audio":"https://cdn.example/a.mp3"}`), "",
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
			eitherShops(t, func(t *testing.T, f *fixture) {
				items, entries := f.rows(t, "items"), len(f.audits(t))
				i, err := f.CreateItem(t.Context(), operator, "ada", from(c.text))
				wantError(t, err, c.want)
				if c.want != "" {
					if f.rows(t, "items") != items || len(f.audits(t)) != entries {
						t.Error("something was written")
					}
					return
				}
				read, err := f.ShowItem(t.Context(), operator, i.ID)
				if err != nil || string(read.Body) != c.body || mustJSON(t, read.Licensing) != mustJSON(t, storedb.DefaultLicensing()) {
					t.Errorf("%s, %+v, %v", read.Body, read.Licensing, err)
				}
				if e := f.newestAudit(t); e.Action != "item.create" || e.Workspace != "ada" || e.Subject != idText(i.ID) || e.Detail != i.Name {
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
			eitherShops(t, func(t *testing.T, f *fixture) {
				f.mustImport(t, lines(itemText("ada", 1, `"support":true`, `"media":{"preview_image":"https://cdn.example/1.png"}`)))
				row, entries := f.dump(t, "items"), len(f.audits(t))
				i, err := f.EditItem(t.Context(), operator, 1, func(i *Item, _ string) error { return from(c.text)(i) })
				wantError(t, err, c.want)
				if c.after == "" {
					if f.dump(t, "items") != row || len(f.audits(t)) != entries {
						t.Error("something was written")
					}
					return
				}
				if read, err := f.ShowItem(t.Context(), operator, 1); err != nil || mustJSON(t, read) != mustJSON(t, i) {
					t.Errorf("%s, %v; returned %s", mustJSON(t, read), err, mustJSON(t, i))
				}
				if e := f.newestAudit(t); e.Action != "item.edit" || e.Workspace != "ada" || e.Subject != "1" || e.Before != c.before || e.After != c.after {
					t.Errorf("%+v", e)
				}
			})
		})
	}
}

func TestItemsOfNobody(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, err := f.EditItem(t.Context(), operator, 99, func(*Item, string) error { return nil })
		wantError(t, err, "item_not_found")
		_, err = f.CreateItem(t.Context(), operator, "eve", from(`{"name":"Rain"}`))
		wantError(t, err, "workspace_not_found")
	})
}

// What a secret key is answered about items and purchases changes with them at once.
func TestEditedItemsAreServedAtOnce(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(purchaseText("ada", 1, "code")))
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		f = f.withCache(t)
		f.run(t)
		a := f.actorOf(t, token)
		wantNames := func(name string, count int) {
			t.Helper()
			items, err := f.Validation.Items(t.Context(), a, "https://shop.example")
			wantError(t, err, "")
			if n := len(idsOf(t, items)); n != count || !strings.Contains(string(bodyOf(t, items)), `"name":"`+name+`"`) {
				t.Errorf("%d items: %s", n, bodyOf(t, items))
			}
			if printed := f.printedName(t, a); printed != name {
				t.Errorf("the purchase prints %q, want %q", printed, name)
			}
		}
		wantNames("Item 1", 2)
		_, err := f.EditItem(t.Context(), operator, 1, func(i *Item, _ string) error { return from(`{"name":"Storm"}`)(i) })
		wantError(t, err, "")
		wantNames("Storm", 2)
		_, err = f.CreateItem(t.Context(), operator, "ada", from(`{"name":"Hail"}`))
		wantError(t, err, "")
		wantNames("Storm", 3)
	})
}

// printedName is the name of the item that the purchase "code" prints.
func (f *fixture) printedName(t *testing.T, a people.Actor) string {
	t.Helper()
	valid, err := f.Validation.Validate(t.Context(), a, "code")
	wantError(t, err, "")
	return read(t, valid).Item.Name
}
