package store

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/google/go-cmp/cmp"
)

// Spec 2.3: which media an item prints depends on its kind, not on what it has.
func TestMediaByKind(t *testing.T) {
	all := countersign.ItemMedia{
		Thumbnail: "T", PreviewImage: new("I"), PreviewVideo: new("V"), PreviewAudio: new("A"), Screenshots: []string{"S"},
	}
	none := countersign.ItemMedia{}
	cases := []struct {
		name  string
		kind  storedb.Kind
		media countersign.ItemMedia
		want  string
	}{
		{"audio prints its sound and no picture", storedb.KindAudio, all, `{"thumbnail":"T","preview_audio":"A","screenshots":["S"]}`},
		{"video prints its picture and its film", storedb.KindVideo, all, `{"thumbnail":"T","preview_image":"I","preview_video":"V","screenshots":["S"]}`},
		{"everything else prints its picture", storedb.KindOther, all, `{"thumbnail":"T","preview_image":"I","screenshots":["S"]}`},
		{"what must be there is there, if empty: audio", storedb.KindAudio, none, `{"thumbnail":"","preview_audio":""}`},
		{"what must be there is there, if empty: video", storedb.KindVideo, none, `{"thumbnail":"","preview_image":"","preview_video":""}`},
		{"what must be there is there, if empty: other", storedb.KindOther, none, `{"thumbnail":"","preview_image":""}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			item := Item{Kind: c.kind, Item: countersign.Item{ID: 1, PublishedAt: at("2024-04-27T12:00:00Z"), Media: c.media}}
			if err := render(&item); err != nil {
				t.Fatal(err)
			}
			if want := `"media":` + c.want + `,"price"`; !strings.Contains(string(item.Body), want) {
				t.Errorf("body %s, want %s", item.Body, want)
			}
			if diff := cmp.Diff(c.media, item.Media); diff != "" {
				t.Errorf("the item's own media were changed: %s", diff)
			}
		})
	}
}

func TestItemIsPrintedInTheOrderOfTheSpec(t *testing.T) {
	item := Item{Kind: storedb.KindOther, Item: countersign.Item{
		ID: 1229, Name: "A & B <c>", Description: "d", Category: "e", SubCategory: "f", Options: countersign.List{"g"}, Version: "1.10",
		DemoLink: "https://h.example/?a=1&b=2", Media: countersign.ItemMedia{Thumbnail: "https://i.example"},
		Price: countersign.Price{Regular: 4900, Extended: 19905}, Currency: "USD", PublishedAt: at("2024-04-27T12:00:00Z"),
	}}
	if err := render(&item); err != nil {
		t.Fatal(err)
	}
	const want = `{"id":1229,"name":"A & B <c>","description":"d","category":"e","sub_category":"f","options":["g"],"version":"1.10",` +
		`"demo_link":"https://h.example/?a=1&b=2","tags":[],"media":{"thumbnail":"https://i.example","preview_image":""},` +
		`"price":{"regular":49.00,"extended":199.05},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}`
	if string(item.Body) != want {
		t.Errorf("%s\nwant %s", item.Body, want)
	}
}

func TestItemsOfAKeyAreThoseOfItsWorkspace(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("eve"), itemText("ada", 10), itemText("ada", 4)))
		_, ada := f.mustCreate(t, NewKey{Workspace: "ada"})
		_, eve := f.mustCreate(t, NewKey{Workspace: "eve"})
		items, err := f.Items(t.Context(), f.actorOf(t, ada))
		if err != nil {
			t.Fatal(err)
		}
		bodies := items.Prepared(func(bodies []string) any { return bodies }).([]string)
		var ids []string
		for _, body := range bodies {
			ids = append(ids, body[:strings.Index(body, ",")])
		}
		if got, want := strings.Join(ids, " "), `{"id":1 {"id":2 {"id":4 {"id":10`; got != want {
			t.Errorf("items %s, want %s", got, want)
		}
		_, err = f.Items(t.Context(), f.actorOf(t, eve))
		wantError(t, err, "no_items")
		if messageOf(err) != "No items found" {
			t.Errorf("message %q", messageOf(err))
		}
		for id, want := range map[int64]string{1: "", 3: "item_not_found", 0: "item_not_found", -1: "item_not_found", 99: "item_not_found", 1 << 62: "item_not_found"} {
			body, err := f.Item(t.Context(), f.actorOf(t, ada), id)
			if codeOf(err) != want || (err == nil) != (body != "") {
				t.Errorf("item %d: %q, %v; want the code %q", id, body, err, want)
			}
			if err != nil && messageOf(err) != "Item Not Found" {
				t.Errorf("item %d: message %q", id, messageOf(err))
			}
		}
	})
}

func TestOperatorSeesItemsOfAllWorkspaces(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		for workspace, want := range map[string]int{"ada": 2, "bob": 1} {
			if list, err := f.ListItems(t.Context(), operator, workspace); err != nil || len(list) != want {
				t.Errorf("%s has %d items, %v; want %d", workspace, len(list), err, want)
			}
		}
		if item, err := f.ShowItem(t.Context(), operator, 3); err != nil || item.Name != "Item 3" || !item.Support {
			t.Errorf("item 3 is %+v, %v", item, err)
		}
		_, err := f.ShowItem(t.Context(), operator, 99)
		wantError(t, err, "item_not_found")
		_, err = f.ListItems(t.Context(), operator, "eve")
		wantError(t, err, "workspace_not_found")
	})
}
