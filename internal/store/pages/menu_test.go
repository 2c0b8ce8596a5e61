package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

func TestTheMenuMarksWhatAPageBelongsTo(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		purchase, _ := s.sell(t, store.Purchase{Code: "to-be-licensed"})
		b := s.as(t, "manager")
		for path, want := range map[string]string{
			"/w/ada":           "/w/ada",
			"/w/ada/items/new": "/w/ada/items",
			purchase:           "/w/ada/purchases",
			"/w/ada/licenses/" + s.license(t, "to-be-licensed", "old.example") + "/move": "/w/ada/purchases",
			"/w/ada/import": "/w/ada/import",
			upload(b, "sales.csv", sold).Header.Get("Location"): "/w/ada/import",
			imported(b, sold): "/w/ada/import",
		} {
			marked := b.Get(path).Status(http.StatusOK).Having("aria-current", "page")
			if len(marked) == 0 || webtest.Attr(marked[0], "href") != want {
				t.Errorf("%s: want %s", path, want)
			}
		}
	})
}
