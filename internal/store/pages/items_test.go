package pages_test

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

const (
	itemsPath = "/w/ada/items"
	itemPath  = "/w/ada/items/1229"
	editPath  = "/w/ada/items/1229/edit"
	rulesPath = "/w/ada/items/1229/licensing"
)

// stock creates an item of a workspace and returns it.
func (s team) stock(t *testing.T, workspace string, describe func(*store.Item)) store.Item {
	t.Helper()
	made, err := s.CreateItem(t.Context(), operator, workspace, func(i *store.Item) error {
		i.Name = "Rain"
		describe(i)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (s team) item(t *testing.T, id int64) store.Item {
	t.Helper()
	i, err := s.ShowItem(t.Context(), operator, id)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

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

func TestThePageOfAnItemShowsWhatTheAPIAnswers(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		preview := "https://cdn.example/p.png"
		made := s.stock(t, "ada", func(i *store.Item) {
			i.Name, i.Kind, i.Description = "<b>Rain</b>", store.KindAudio, "<script>alert(1)</script>"
			i.Media.PreviewImage = &preview
		})
		path := itemsPath + "/" + strconv.FormatInt(made.ID, 10)
		page := s.as(t, "viewer").Get(path).Status(http.StatusOK).
			Says("<b>Rain</b>", "Saved, but not printed for this kind", "lacks a thumbnail", "License rules").SilentAbout("Change the rules")
		if strings.Contains(page.Body, "<b>Rain") || strings.Contains(page.Body, "<script>alert") {
			t.Error("a text is not text")
		}
		_, token, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "preview", Class: store.ClassSecret})
		if err != nil {
			t.Fatal(err)
		}
		api := apiText(t, s.server.URL+"/api/items/item?item_id="+strconv.FormatInt(made.ID, 10)+"&api_key="+token)
		shown := page.Having("id", "field-answer")
		if len(shown) != 1 || withoutSpace(webtest.TextOf(shown[0])) != withoutSpace(api) {
			t.Errorf("the page has\n%s\nand the API answers\n%s", page.Text(), api)
		}
		s.as(t, "viewer").Get("/w/ada/items/201").Status(http.StatusNotFound) // of bob
		s.as(t, "administrator").Get("/w/ada/items/201").Status(http.StatusNotFound)
		s.as(t, "viewer").Get("/w/ada/items/x").Status(http.StatusNotFound)
	})
}

func withoutSpace(text string) string { return strings.Join(strings.Fields(text), "") }

func TestAnItemIsCreatedInTheForm(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b, form := s.as(t, "manager"), itemsPath+"/new"
		b.Get(itemsPath).Says("New item")
		made := b.Fill(form, form, "name", " Rain ", "kind", "video", "price.regular", "49", "price.extended", "199.5", "support", "yes",
			"tags", "rain\r\n\r\n loops ", "version", "1.2.3", "description", "one\r\ntwo", "media.preview_video", "https://cdn.example/v.mp4",
			"media.screenshots", "https://cdn.example/1.png\nhttps://cdn.example/2.png", "published_at", "2026-01-31").Status(http.StatusSeeOther)
		address, err := url.Parse(made.Header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		i := s.item(t, mustID(t, strings.TrimPrefix(address.Path, itemsPath+"/")))
		if i.Name != "Rain" || i.Kind != store.KindVideo || i.Price.Regular != 4900 || i.Price.Extended != 19950 || !i.Support || i.Currency != "USD" ||
			!slices.Equal(i.Tags, []string{"rain", "loops"}) || i.Version != "1.2.3" || i.Description != "one\ntwo" || *i.Media.PreviewVideo != "https://cdn.example/v.mp4" ||
			i.Media.PreviewImage != nil || len(i.Media.Screenshots) != 2 || i.PublishedAt.String() != "2026-01-31T00:00:00Z" {
			t.Errorf("%+v", i)
		}
		b.Get(address.Path).Says("The item is saved")
		b.Fill(form, form, "name", "Hail", "id", "7001").LeadsTo(itemsPath + "/7001")
		p := b.Fill(form, form, "name", "Hail again", "id", "7001").Status(http.StatusConflict).Wrong("id", "already exists")
		if p.Value("name") != "Hail again" {
			t.Error(p.Value("name"))
		}
		b.Fill(form, form, "name", "Hail", "id", "x").Status(http.StatusUnprocessableEntity).Wrong("id", "whole number")
	})
}

func mustID(t *testing.T, text string) int64 {
	t.Helper()
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestWrongAnswersAboutAnItemAreMarkedAndKept(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b, before := s.as(t, "manager"), s.item(t, 1229)
		for name, value := range map[string]string{
			"name": "", "kind": "book", "version": "one", "price.regular": "12,50", "price.extended": "-1", "currency": "usd", "demo_link": "/demo",
			"media.thumbnail": "javascript:alert(1)", "media.preview_image": "x", "media.preview_video": "x", "media.preview_audio": "x",
			"media.screenshots": "https://cdn.example/1.png\nx", "published_at": "soon", "category": strings.Repeat("x", 300),
			"tags": strings.Repeat("x\n", 101), "options": strings.Repeat("x", 300),
		} {
			p := b.Fill(editPath, editPath, name, value).Status(http.StatusUnprocessableEntity).Says("Nothing was saved.")
			wrong := p.Having("aria-invalid", "true")
			if len(wrong) != 1 || webtest.Attr(wrong[0], "name") != name {
				t.Errorf("%s: %d fields are marked", name, len(wrong))
			}
			if kept := strings.TrimSpace(p.Form(editPath).Get(name)); name != "kind" && kept != strings.TrimSpace(value) {
				t.Errorf("%s: %q", name, kept)
			}
		}
		if store.ItemRevision(s.item(t, 1229)) != store.ItemRevision(before) {
			t.Error("something was saved")
		}
		b.Post(editPath, "name", "Mine").Status(http.StatusUnprocessableEntity).Says("arrived incomplete")
	})
}

func TestThePreviewOfAnItemSavesNothing(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		p := b.Fill(editPath, editPath, "do", "preview", "name", "Storm", "kind", "audio").Status(http.StatusOK)
		if got := previewOf(p); !strings.Contains(got, `"name": "Storm"`) || !strings.Contains(got, "preview_audio") || strings.Contains(got, "preview_image") || p.Value("name") != "Storm" {
			t.Error(got)
		}
		if s.item(t, 1229).Name == "Storm" {
			t.Error("the preview was saved")
		}
	})
}

func TestAnUnchangedFormChangesNothingOfAnItem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		empty := ""
		made := s.stock(t, "ada", func(i *store.Item) { i.Media.PreviewImage, i.Description = &empty, " one\r\ntwo " })
		path := itemsPath + "/" + strconv.FormatInt(made.ID, 10)
		before := store.ItemRevision(s.item(t, made.ID))
		s.as(t, "manager").Fill(path+"/edit", path+"/edit").LeadsTo(path)
		if store.ItemRevision(s.item(t, made.ID)) != before {
			t.Errorf("%+v", s.item(t, made.ID))
		}
	})
}

func TestTheSecondEditOfAnItemShowsBothVersions(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		stale := b.Get(editPath).Form(editPath)
		other := s.stock(t, "ada", func(*store.Item) {})
		s.as(t, "owner").Fill(editPath, editPath, "name", "Theirs").LeadsTo(itemPath)
		if _, err := s.EditItem(t.Context(), operator, other.ID, func(i *store.Item, _ string) error { i.Name = "Hail"; return nil }); err != nil {
			t.Fatal(err)
		}
		stale.Set("name", "Mine")
		p := b.PostForm(editPath, stale).Status(http.StatusPreconditionFailed).
			Says("somebody else saved first", "Last changed by owner@shop.example", "Theirs", "Mine", "Save my input")
		if s.item(t, 1229).Name != "Theirs" || p.Value("name") != "Mine" {
			t.Error(s.item(t, 1229).Name, p.Value("name"))
		}
		b.PostForm(editPath, p.Form(editPath)).LeadsTo(itemPath)
		if s.item(t, 1229).Name != "Mine" {
			t.Error(s.item(t, 1229).Name)
		}
	})
}

func TestTheLicenseRulesOfAnItemChange(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		stale := b.Get(editPath).Form(editPath)
		b.Fill(rulesPath, rulesPath, "licensing.extended_domains", "5", "licensing.wildcard", "true", "licensing.staging_hosts", "Staging.*\r\n*.preview.example").LeadsTo(itemPath)
		if l := s.item(t, 1229).Licensing; l.ExtendedDomains != 5 || l.MovesAYear != 3 || !l.Wildcard || !slices.Equal(l.StagingHosts, []string{"staging.*", "*.preview.example"}) {
			t.Errorf("%+v", l)
		}
		b.Get(itemPath).Says("Extended 5", "staging.*, *.preview.example")
		for name, value := range map[string]string{"licensing.moves_a_year": "many", "licensing.regular_domains": "5000", "licensing.move_wait_hours": "-1", "licensing.staging_hosts": "*"} {
			if p := b.Fill(rulesPath, rulesPath, name, value).Status(http.StatusUnprocessableEntity); p.Form(rulesPath).Get(name) != value || len(p.Having("aria-invalid", "true")) != 1 {
				t.Errorf("%s: %q", name, p.Form(rulesPath).Get(name))
			}
		}
		b.PostForm(editPath, stale).LeadsTo(itemPath) // the rules are not on that form
		if !s.item(t, 1229).Licensing.Wildcard {
			t.Error("the other form has changed the rules")
		}
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

func TestChosenItemsAreChangedOrTheReasonIsSaid(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.stock(t, "ada", func(i *store.Item) {
			i.ID, i.Name, i.PublishedAt = 9001, "Later", countersign.At(today.AddDate(1, 0, 0))
		})
		s.stock(t, "ada", func(i *store.Item) { i.ID, i.Name = 9002, "<i>Now</i>" })
		b := s.as(t, "manager")
		address := itemsPath + "/bulk?sort=name"
		b.Post(address, "do", "publish").Status(http.StatusUnprocessableEntity).Says("Choose between 1 and 1000 items")
		b.Post(address, "do", "publish", "all", "9001", "item", "9002").Status(http.StatusOK).
			Says("1 done, 1 not", "<i>Now</i>", "The item is already published.")
		if got := s.item(t, 9001).PublishedAt; !got.Equal(today) {
			t.Errorf("published %s", got)
		}
		b.Post(address, "do", "category", "all", "9001 9002", "new_category", " Loops ").LeadsTo(itemsPath + "?sort=name")
		b.Get(itemsPath).Says("2 items changed.")
		if s.item(t, 9001).Category != "Loops" || s.item(t, 9002).Category != "Loops" {
			t.Error("the category is not changed")
		}
		s.as(t, "stranger").Post(strings.Replace(address, "/ada/", "/bob/", 1), "do", "category", "item", "9001", "new_category", "Theirs").Says("0 done, 1 not", "No item 9001")
		if got := s.item(t, 9001).Category; got != "Loops" {
			t.Errorf("another workspace put it into %q", got)
		}
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

func TestThePageOfAnItemHasItsNumbersVersionsAndHistory(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		made := s.stock(t, "ada", func(i *store.Item) { i.ID, i.Version = 9001, "1.0" })
		key, token, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
		if err != nil {
			t.Fatal(err)
		}
		sold, err := s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: made.ID, License: "Regular"})
		if err != nil {
			t.Fatal(err)
		}
		s.validate(t, token, sold.Code)
		s.validate(t, token, sold.Code)
		b, form := s.as(t, "manager"), itemsPath+"/9001/edit"
		b.Fill(form, form, "notes", "Nothing").Status(http.StatusUnprocessableEntity).Wrong("notes", "Notes belong to a new version")
		b.Fill(form, form, "version", "1.1", "notes", "One <i>fix</i>\r\nand another").LeadsTo(itemsPath + "/9001")
		page := s.as(t, "viewer").Get(itemsPath + "/9001").Status(http.StatusOK)
		page.Says("Calls in 30 days 2 valid 0 failed.", "Sales in 30 days 1", "1.1", "One <i>fix</i> and another", email("manager"), "Created an item", "Changed an item", `version: "1.1"`)
		page.SilentAbout("Created an API key", key.Name)
	})
}

func TestRulesThatSomebodyElseSavedFirstStay(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		form := b.Get(rulesPath).Form(rulesPath)
		s.as(t, "owner").Fill(rulesPath, rulesPath, "licensing.regular_domains", "7").Status(http.StatusSeeOther)
		form.Set("licensing.moves_a_year", "9")
		page := b.PostForm(rulesPath, form).Status(http.StatusPreconditionFailed).Says("somebody else saved first", "owner@shop.example")
		if rule := s.item(t, 1229).Licensing; rule.RegularDomains != 7 || rule.MovesAYear == 9 {
			t.Fatalf("%+v", rule)
		}
		b.PostForm(rulesPath, page.Form(rulesPath)).Status(http.StatusSeeOther)
		if rule := s.item(t, 1229).Licensing; rule.MovesAYear != 9 {
			t.Errorf("%+v", rule)
		}
	})
}
