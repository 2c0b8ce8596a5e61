package pages_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

const (
	generalPath = "/w/ada/settings/general"
	profilePath = "/w/ada/settings/profile"
)

// previewOf is the text of the page's preview.
func previewOf(p *webtest.Page) string {
	p.T.Helper()
	found := p.Having("id", "field-preview")
	if len(found) != 1 {
		p.T.Fatalf("%s: no preview", p.Name)
	}
	return webtest.TextOf(found[0])
}

// apiText is the body of the API's answer.
func apiText(t *testing.T, address string) string {
	t.Helper()
	answer := must.Get(http.Get(address))(t)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", answer.StatusCode, body, err)
	}
	return string(body)
}

func TestOwnersChangeTheAccountAndSeeWhatTheAPIAnswers(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		b.Get("/w/ada/settings").LeadsTo(generalPath)
		b.Fill(generalPath, generalPath, "name.firstname", " Eve ", "email", "eve@shop.example", "currency", "EUR").LeadsTo(generalPath)
		p := b.Get(generalPath).Says("Saved.", "can't be changed")
		if p.Value("name.firstname") != "Eve" || p.Value("currency") != "EUR" {
			t.Errorf("%s %s", p.Value("name.firstname"), p.Value("currency"))
		}
		b.Fill(profilePath, profilePath, "profile.heading", "<b>Rain</b>", "profile.description", "one\r\ntwo", "link.2.name", "mastodon", "link.2.address", "https://social.example/@ada").LeadsTo(profilePath)
		p = b.Get(profilePath)
		_, token, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "preview", Class: store.ClassSecret})
		must.Do(t, err)
		api := apiText(t, s.server.URL+"/api/account/details?api_key="+token)
		if got := previewOf(p); strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(api), "") {
			t.Errorf("the preview is\n%s\nand the API answers\n%s", got, api)
		}
	})
}

func TestThePreviewIsOfWhatWasTypedAndSavesNothing(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		p := b.Fill(generalPath, generalPath, "do", "preview", "name.firstname", "Eve", "email", "no e-mail").Status(http.StatusOK)
		if got := previewOf(p); !strings.Contains(got, `"firstname": "Eve"`) || !strings.Contains(got, `"email": "no e-mail"`) || p.Value("name.firstname") != "Eve" {
			t.Error(got)
		}
		if p := b.Get(generalPath); p.Value("name.firstname") == "Eve" {
			t.Error("the preview was saved")
		}
	})
}

func TestLinksAreAddedAndRemovedAsRows(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		if p := b.Get(profilePath); p.Value("link.1.name") != "x" || len(p.Having("name", "link.2.name")) != 1 {
			t.Fatalf("rows: %s", p.Text())
		}
		p := b.Fill(profilePath, profilePath, "do", "add", "link.2.name", "y", "link.2.address", "https://y.example/ada", "profile.heading", "Rain").Status(http.StatusOK)
		if p.Value("link.2.name") != "y" || p.Value("profile.heading") != "Rain" || len(p.Having("name", "link.3.address")) != 1 {
			t.Errorf("%s", p.Text())
		}
		form := p.Form(profilePath)
		form.Set("do", "remove:0")
		p = b.PostForm(profilePath, form).Status(http.StatusOK)
		if p.Value("link.0.name") != "x" || p.Value("link.1.name") != "y" {
			t.Error(p.Value("link.0.name"), p.Value("link.1.name"))
		}
		b.PostForm(profilePath, p.Form(profilePath)).LeadsTo(profilePath)
		w, err := s.Workspace(t.Context(), operator, "ada")
		if links := w.Account.Profile.SocialLinks; err != nil || len(links) != 2 || links["y"] != "https://y.example/ada" {
			t.Errorf("%v, %v", links, err)
		}
	})
}

func TestWrongAnswersOfTheAccountAreMarkedAndKept(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		for name, value := range map[string]string{"email": "no e-mail", "currency": "usd", "name.lastname": strings.Repeat("x", 300)} {
			if p := b.Fill(generalPath, generalPath, name, value).Status(http.StatusUnprocessableEntity).Says("Nothing was saved."); p.Value(name) != value || len(p.Having("aria-invalid", "true")) != 1 {
				t.Errorf("%s: %q", name, p.Value(name))
			}
		}
		for name, value := range map[string]string{"profile.media.avatar": "/a.png", "profile.contact.email": "ada"} {
			if p := b.Fill(profilePath, profilePath, name, value).Status(http.StatusUnprocessableEntity); p.Value(name) != value || len(p.Having("aria-invalid", "true")) != 1 {
				t.Errorf("%s: %q", name, p.Value(name))
			}
		}
		b.Fill(profilePath, profilePath, "link.2.name", "y").Status(http.StatusUnprocessableEntity).Wrong("link.2.address", "Type the address, or remove the row.")
		b.Fill(profilePath, profilePath, "link.2.address", "https://y.example").Status(http.StatusUnprocessableEntity).Wrong("link.2.name", "Type the name of the network.")
		b.Fill(profilePath, profilePath, "link.2.name", "x", "link.2.address", "https://y.example").Status(http.StatusUnprocessableEntity).Wrong("link.2.name", "Another row has this name. Each network has one link.")
		b.Fill(profilePath, profilePath, "link.1.name", "x", "link.1.address", "javascript:alert(1)").Status(http.StatusUnprocessableEntity).
			Wrong("link.1.address", "social_links.x is not a web address that begins with https:// or http://.")
	})
}

func TestWhoeverSavesSecondSeesBothVersions(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		stale := b.Get(generalPath).Form(generalPath)
		other := b.Get(profilePath).Form(profilePath)
		s.as(t, "administrator").Fill(generalPath, generalPath, "name.firstname", "Theirs").LeadsTo(generalPath)
		stale.Set("name.firstname", "Mine")
		p := b.PostForm(generalPath, stale).Status(http.StatusPreconditionFailed).
			Says("somebody else saved first", "Last changed by administrator@shop.example", "Theirs", "Mine", "Save my input")
		expect.Equal(t, p.Value("name.firstname"), "Mine")
		other.Set("profile.heading", "Rain") // the profile was not changed
		b.PostForm(profilePath, other).LeadsTo(profilePath)
		b.PostForm(generalPath, p.Form(generalPath)).LeadsTo(generalPath)
		if w, err := s.Workspace(t.Context(), operator, "ada"); err != nil || w.Account.Name.Firstname != "Mine" {
			t.Errorf("%+v, %v", w, err)
		}
	})
}
