package pages_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
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
	made := must.Get(s.CreateItem(t.Context(), operator, workspace, func(i *store.Item) error {
		i.Name = "Rain"
		describe(i)
		return nil
	}))(t)
	return made
}

func (s team) item(t *testing.T, id int64) store.Item {
	t.Helper()
	return must.Get(s.ShowItem(t.Context(), operator, id))(t)
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
		must.Do(t, err)
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
		address := must.Get(url.Parse(made.Header.Get("Location")))(t)
		i := s.item(t, mustID(t, strings.TrimPrefix(address.Path, itemsPath+"/")))
		if i.Name != "Rain" || i.Kind != store.KindVideo || i.Price.Regular != 4900 || i.Price.Extended != 19950 || !i.Support || i.Currency != "USD" ||
			!slices.Equal(i.Tags, []string{"rain", "loops"}) || i.Version != "1.2.3" || i.Description != "one\ntwo" || *i.Media.PreviewVideo != "https://cdn.example/v.mp4" ||
			i.Media.PreviewImage != nil || len(i.Media.Screenshots) != 2 || i.PublishedAt.String() != "2026-01-31T00:00:00Z" {
			t.Errorf("%+v", i)
		}
		b.Get(address.Path).Says("The item is saved")
		b.Fill(form, form, "name", "Hail", "id", "7001").LeadsTo(itemsPath + "/7001")
		p := b.Fill(form, form, "name", "Hail again", "id", "7001").Status(http.StatusConflict).Wrong("id", "already exists")
		expect.Equal(t, p.Value("name"), "Hail again")
		b.Fill(form, form, "name", "Hail", "id", "x").Status(http.StatusUnprocessableEntity).Wrong("id", "whole number")
	})
}

func mustID(t *testing.T, text string) int64 {
	t.Helper()
	return must.Get(strconv.ParseInt(text, 10, 64))(t)
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
		expect.Equalf(t, store.ItemRevision(s.item(t, 1229)), store.ItemRevision(before), "something was saved")
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
		must.Get(s.EditItem(t.Context(), operator, other.ID, "", func(i *store.Item, _ string) error { i.Name = "Hail"; return nil }))(t)
		stale.Set("name", "Mine")
		p := b.PostForm(editPath, stale).Status(http.StatusPreconditionFailed).
			Says("somebody else saved first", "Last changed by owner@shop.example", "Theirs", "Mine", "Save my input")
		if s.item(t, 1229).Name != "Theirs" || p.Value("name") != "Mine" {
			t.Error(s.item(t, 1229).Name, p.Value("name"))
		}
		b.PostForm(editPath, p.Form(editPath)).LeadsTo(itemPath)
		expect.Equal(t, s.item(t, 1229).Name, "Mine")
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
		expect.Equalf(t, s.item(t, 9001).Category, "Loops", "another workspace put it into")
	})
}

func TestThePageOfAnItemHasItsNumbersVersionsAndHistory(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		made := s.stock(t, "ada", func(i *store.Item) { i.ID, i.Version = 9001, "1.0" })
		key, token, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
		must.Do(t, err)
		sold := must.Get(s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: made.ID, License: "Regular"}))(t)
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
