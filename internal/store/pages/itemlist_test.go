package pages_test

import (
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

// idsOf are the ids of a list as it shows them.
func idsOf(p *webtest.Page) (ids []string) {
	for _, body := range p.All("tbody") {
		for row := range body.ChildNodes() {
			for n := range row.Descendants() {
				if n.Data == "a" {
					ids = append(ids, path.Base(webtest.Attr(n, "href")))
					break
				}
			}
		}
	}
	return ids
}

func TestTheListOfItemsLeadsThroughAllOfThem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		var want []string
		for i := range 120 {
			id := int64(5000 + 3*i)
			s.stock(t, "ada", func(i *store.Item) { i.ID, i.Name = id, "Listed "+strconv.FormatInt(id, 10) })
			want = append([]string{strconv.FormatInt(id, 10)}, want...)
		}
		s.stock(t, "bob", func(i *store.Item) { i.ID, i.Name = 5100, "Listed of another" })
		b := s.as(t, "viewer")
		var seen, back, pages []string
		for address := itemsPath + "?name=listed"; address != ""; {
			page := b.Get(address).Status(http.StatusOK).Says("120 items")
			seen, pages = append(seen, idsOf(page)...), append(pages, address)
			address = relOf(page, "next")
		}
		for address := pages[len(pages)-1]; address != ""; {
			page := b.Get(address).Status(http.StatusOK)
			back = append(idsOf(page), back...)
			address = relOf(page, "prev")
		}
		if len(pages) != 3 || !slices.Equal(seen, want) || !slices.Equal(back, want) {
			t.Errorf("%d pages\nforwards  %v\nbackwards %v", len(pages), seen, back)
		}
	})
}

func TestTheListOfItemsIsNarrowed(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.stock(t, "ada", func(i *store.Item) { i.ID, i.Name, i.Kind, i.Category = 9001, "100% Drizzle", store.KindAudio, "Loops" })
		s.stock(t, "ada", func(i *store.Item) {
			i.ID, i.Name, i.Kind, i.Category = 9002, "1000 Drizzles", store.KindVideo, "Clips"
		})
		s.stock(t, "ada", func(i *store.Item) { i.ID, i.Name, i.Kind, i.Category = 9003, "ÄRGER", store.KindAudio, "Clips_2" })
		b := s.as(t, "viewer")
		for query, want := range map[string][]string{
			"?name=DRIZZLE":               {"9002", "9001"},
			"?name=100%25":                {"9001"},
			"?name=%C3%84rg":              {"9003"},
			"?kind=audio&name=drizzle":    {"9001"},
			"?category=clips":             {"9003", "9002"},
			"?category=s_2":               {"9003"},
			"?category=CLIPS&kind=video":  {"9002"},
			"?category=clips&after=9003":  {"9002"},
			"?category=clips&before=9002": {"9003"},
			"?name=hail":                  nil,
		} {
			if got := idsOf(b.Get(itemsPath + query).Status(http.StatusOK)); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		b.Get(itemsPath + "?name=hail").Says("No matching items")
		b.Get(itemsPath + "?kind=book").Status(http.StatusUnprocessableEntity).Says("from the list")
	})
}

func TestTheListOfItemsIsSortedByItsHeads(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		for n, name := range []string{"cello", "Bassoon", "accordion"} {
			s.stock(t, "ada", func(i *store.Item) {
				i.ID, i.Name, i.Category, i.Price.Regular = int64(9001+n), name, "Sounds", countersign.Money(100*(n+1))
				i.Tags = countersign.List{"Loud"}
			})
		}
		s.stock(t, "ada", func(i *store.Item) {
			i.ID, i.Category, i.PublishedAt = 9009, "Sounds", countersign.At(today.AddDate(1, 0, 0))
		})
		b := s.as(t, "viewer")
		p := b.Get(itemsPath + "?category=sounds&tag=loud&sort=name").Status(http.StatusOK)
		if got := idsOf(p); !slices.Equal(got, []string{"9003", "9002", "9001"}) {
			t.Errorf("by name: %v", got)
		}
		heads := p.Having("aria-sort", "ascending")
		if len(heads) != 1 || strings.TrimSpace(webtest.TextOf(heads[0])) != "Name" || !strings.Contains(p.Body, "sort=-name") {
			t.Errorf("%d sorted heads", len(heads))
		}
		for query, want := range map[string][]string{
			"?tag=loud&sort=-price":                 {"9003", "9002", "9001"},
			"?tag=loud&sort=price&after=9002":       {"9003"},
			"?category=sounds&status=scheduled":     {"9009"},
			"?category=sounds&status=published":     {"9003", "9002", "9001"},
			"?category=sounds&sort=-":               {"9001", "9002", "9003", "9009"},
			"?category=sounds&sort=-published&tag=": {"9009", "9003", "9002", "9001"},
		} {
			if got := idsOf(b.Get(itemsPath + query).Status(http.StatusOK)); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
		for _, query := range []string{"?sort=colour", "?status=gone"} {
			b.Get(itemsPath + query).Status(http.StatusUnprocessableEntity).Says("from the list")
			b.Get("/w/ada/items.csv"+query, "Accept", "text/csv").Status(http.StatusBadRequest)
		}
		b.Get(itemsPath).SilentAbout("Publish now")
	})
}

func TestTheListOfItemsIsAFileThatAnImportReads(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		for id := range int64(3) {
			s.stock(t, "ada", func(i *store.Item) {
				i.ID, i.Name, i.Category, i.Tags, i.Options = 9001+id, "=1+1", "Sounds", countersign.List{"a, b"}, countersign.List{"x", "y"}
			})
		}
		b := s.as(t, "manager")
		s.run(t)
		file := b.Get("/w/ada/items.csv?category=sounds&sort=name&after=9001", "Accept", "text/csv").Status(http.StatusOK)
		if rows := strings.Split(file.Body, "\n"); len(rows) != 5 || !strings.HasPrefix(rows[1], "9001,other,no,'=1+1,") {
			t.Errorf("%q", rows)
		}
		path := upload(b, "items.csv", file.Body).Status(http.StatusSeeOther).Header.Get("Location")
		job := b.Fill(path, path, "do", "dry_run").Status(http.StatusSeeOther).Header.Get("Location")
		ended(t, b, job).Says("This was a dry run", "3 rows read · 0 rejected")
		b.Get("/w/ada/import").Says("0 new · 0 changed · 0 rejected")
		chosen := b.Get("/w/ada/items.csv?chosen=1&item=9002&new_category=", "Accept", "text/csv").Status(http.StatusOK)
		if rows := strings.Split(chosen.Body, "\n"); len(rows) != 3 || !strings.HasPrefix(rows[1], "9002,") {
			t.Errorf("%q", rows)
		}
		b.Get("/w/ada/items.csv?chosen=1", "Accept", "text/csv").Status(http.StatusBadRequest)
	})
}
