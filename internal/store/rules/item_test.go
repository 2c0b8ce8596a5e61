package rules

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/google/go-cmp/cmp"
)

var published = countersign.At(time.Date(2024, 4, 27, 12, 0, 0, 0, time.UTC))

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
			item := storedb.Item{Kind: c.kind, Item: countersign.Item{ID: 1, PublishedAt: published, Media: c.media}}
			must.Do(t, RenderItem(&item))
			if want := `"media":` + c.want + `,"price"`; !strings.Contains(string(item.Body), want) {
				t.Errorf("body %s, want %s", item.Body, want)
			}
			expect.Equalf(t, cmp.Diff(c.media, item.Media), "", "the item's own media were changed")
		})
	}
}

func TestItemIsPrintedInTheOrderOfTheSpec(t *testing.T) {
	item := storedb.Item{Kind: storedb.KindOther, Item: countersign.Item{
		ID: 1229, Name: "A & B <c>", Description: "d", Category: "e", SubCategory: "f", Options: countersign.List{"g"}, Version: "1.10",
		DemoLink: "https://h.example/?a=1&b=2", Media: countersign.ItemMedia{Thumbnail: "https://i.example"},
		Price: countersign.Price{Regular: 4900, Extended: 19905}, Currency: "USD", PublishedAt: published,
	}}
	must.Do(t, RenderItem(&item))
	const want = `{"id":1229,"name":"A & B <c>","description":"d","category":"e","sub_category":"f","options":["g"],"version":"1.10",` +
		`"demo_link":"https://h.example/?a=1&b=2","tags":[],"media":{"thumbnail":"https://i.example","preview_image":""},` +
		`"price":{"regular":49.00,"extended":199.05},"currency":"USD","published_at":"2024-04-27T12:00:00Z"}`
	if string(item.Body) != want {
		t.Errorf("%s\nwant %s", item.Body, want)
	}
}
