package store

import (
	"net/http/httptest"
	"slices"
	"testing"

	"encoding/json"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/web"
)

// bodyOf is the body of a prepared answer.
func bodyOf(t testing.TB, answer *web.Prepared) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	if err := answer.Serve(w, httptest.NewRequest("GET", "/", nil)); err != nil {
		t.Fatal(err)
	}
	return w.Body.Bytes()
}

// decodedItems are those of an answer.
func decodedItems(t testing.TB, answer *web.Prepared) []countersign.Item {
	t.Helper()
	var all struct{ Items []countersign.Item }
	if err := json.Unmarshal(bodyOf(t, answer), &all); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

// idsOf are the ids in an answer with items.
func idsOf(t testing.TB, answer *web.Prepared) (ids []int64) {
	t.Helper()
	for _, item := range decodedItems(t, answer) {
		ids = append(ids, item.ID)
	}
	return ids
}

func TestItemsOfAKeyAreThoseOfItsWorkspace(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("eve"), itemText("ada", 10), itemText("ada", 4)))
		_, ada := f.mustCreate(t, NewKey{Workspace: "ada"})
		_, eve := f.mustCreate(t, NewKey{Workspace: "eve"})
		items, err := f.Validation.Items(t.Context(), f.actorOf(t, ada), "")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := idsOf(t, items), []int64{1, 2, 4, 10}; !slices.Equal(got, want) {
			t.Errorf("items %d, want %d", got, want)
		}
		_, err = f.Validation.Items(t.Context(), f.actorOf(t, eve), "")
		wantError(t, err, "no_items")
		if messageOf(err) != "No items found" {
			t.Errorf("message %q", messageOf(err))
		}
		for id, want := range map[int64]string{1: "", 3: "item_not_found", 0: "item_not_found", -1: "item_not_found", 99: "item_not_found", 1 << 62: "item_not_found"} {
			body, err := f.Validation.Item(t.Context(), f.actorOf(t, ada), id)
			if codeOf(err) != want || (err == nil) != (body.Text() != "") {
				t.Errorf("item %d: %q, %v; want the code %q", id, body.Text(), err, want)
			}
			if err != nil && messageOf(err) != "Item Not Found" {
				t.Errorf("item %d: message %q", id, messageOf(err))
			}
		}
	})
}

func TestEachAddressOfAStoreHasItsOwnDefaultPictures(t *testing.T) {
	shops(t, func(t *testing.T, f *fixture) {
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		for _, base := range []string{"http://10.0.0.1", "http://10.0.0.2", "http://10.0.0.1"} {
			items, err := f.Validation.Items(t.Context(), f.actorOf(t, token), base)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range decodedItems(t, items) {
				if item.Media.Thumbnail != base+"/media/default/thumbnail.png" || *item.Media.PreviewImage != base+"/media/default/preview.png" {
					t.Errorf("at %s: %s", base, item.Media.Thumbnail)
				}
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
