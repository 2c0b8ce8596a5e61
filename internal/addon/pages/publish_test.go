package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/play/playfake"
	"github.com/countersign/countersign/internal/webtest"
)

func TestPublishShowsTheDiffAndServesTheNewVersion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain", "pushEnabled", "1", "pushAppId", "b2f7")
		p := b.Get(appPath+"/publish").Says("What changes for your users", "My app", "Rain", "3 changes to version 1", "Warnings", "the timeline sends no notifications")
		if len(p.All("del")) != 3 || len(p.All("ins")) != 3 {
			t.Errorf("%d before, %d after", len(p.All("del")), len(p.All("ins")))
		}
		b.Fill(appPath+"/publish", appPath+"/publish", "note", "New name").LeadsTo("/api-addons/admin/history/2")
		b.Get("/api-addons/admin/history/2").Says("Version 2 is published.", "Live", "New name", "ada@site.example, by page")
		now, err := s.Settings.Published(t.Context())
		if err != nil || !strings.Contains(string(now.JSON), `"appName":"Rain"`) {
			t.Errorf("served: %s, %v", now.JSON, err)
		}
		b.Get(appPath + "/publish").Says("Nothing to publish")
	})
}

func TestPublishWithoutChangesSaysSo(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	form := b.Get(iapPath + "/publish").Form(iapPath + "/publish")
	s.mustPublish(t, "by somebody else")
	b.PostForm(iapPath+"/publish", form).LeadsTo(iapPath)
	b.Get(iapPath).Says("Nothing to publish: these values are already published.")
}

func TestPublishOfADraftThatChangedMeanwhileIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain")
		form := b.Get(appPath + "/publish").Form(appPath + "/publish")
		s.mustSet(t, "appName", "Hail")
		form.Set("note", "My note")
		p := b.PostForm(appPath+"/publish", form).Status(http.StatusPreconditionFailed).Says("The draft has changed", "Hail")
		expect.Equalf(t, p.Value("note"), "My note", "the note is lost")
		b.PostForm(appPath+"/publish", p.Form(appPath+"/publish")).LeadsTo("/api-addons/admin/history/2")
	})
}

func TestPublishStopsAtMistakesAndLeadsToThem(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	form := b.Get(appPath + "/publish").Form(appPath + "/publish")
	s.mustSet(t, "pushEnabled", "1")
	p := b.Get(appPath+"/publish").Says("Publishing is blocked", "devices would fail to start push")
	expect.Equalf(t, len(p.Having("href", appPath+"#field-pushAppId")), 1, "nothing leads to the field")
	expect.Equalf(t, len(p.Having("action", appPath+"/publish")), 0, "the button to publish is there")
	form.Set("revision", b.Get(appPath).Form(appPath).Get("revision"))
	b.PostForm(appPath+"/publish", form).Status(http.StatusUnprocessableEntity).Says("Nothing was published.", "errors that block publishing")
	now, err := s.Settings.Published(t.Context())
	if err != nil || now.Version != 1 {
		t.Errorf("version %d is served, %v", now.Version, err)
	}
}

func TestPublishWithANoteThatIsTooLong(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	b.Fill(appPath+"/publish", appPath+"/publish", "note", strings.Repeat("x", 501)).Status(http.StatusUnprocessableEntity).Wrong("note", "A note is up to 500 characters")
}

func TestEarlierVersionsAreBroughtBack(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain")
		s.mustPublish(t, "First name")
		s.mustSet(t, "streamAppId", "970ca35d") // waits in the draft
		b.Get("/api-addons/admin/history").Says("Version 2", "live", "First name", "Version 1", "Restore")
		b.Get("/api-addons/admin/history/1").Says("Restore", "Differences now")
		b.Get("/api-addons/admin/history/1/restore").Says("Rain", "My app")
		path := "/api-addons/admin/history/1/restore"
		b.Fill(path, path, "note", strings.Repeat("x", 501)).Status(http.StatusUnprocessableEntity).Wrong("note", "A note is up to 500 characters")
		b.Fill(path, path, "note", "The old name was better").LeadsTo("/api-addons/admin/history/3")
		b.Get("/api-addons/admin/history/3").Says("Version 3 is published, with the values of version 1.", "The old name was better (restores version 1)")
		s.wantValue(t, "appName", "My app")
		s.wantValue(t, "streamAppId", "970ca35d")
		b.Post(path).LeadsTo("/api-addons/admin/history/1")
		b.Get("/api-addons/admin/history/1").Says("Nothing was changed")
		b.Get(path).Says("Nothing to restore")
	})
}

func TestLongListsArePaged(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for i := range 51 {
		s.mustSet(t, "appName", "Rain "+strings.Repeat("x", i+1))
		s.mustPublish(t, "")
	}
	p := b.Get("/api-addons/admin/history").Says("Version 52", "Version 3")
	if links := p.Having("rel", "next"); len(links) != 1 || webtest.Attr(links[0], "href") != "/api-addons/admin/history?before=3" {
		t.Fatal("nothing leads to older versions")
	}
	p = b.Get("/api-addons/admin/history?before=3").Says("Version 2", "Version 1")
	if len(p.Having("rel", "prev")) != 1 || len(p.Having("rel", "next")) != 0 {
		t.Error("the end of the list is wrong")
	}
	p = b.Get("/api-addons/admin/audit?about=settings")
	if links := p.Having("rel", "next"); len(links) != 1 || !strings.HasPrefix(webtest.Attr(links[0], "href"), "/api-addons/admin/audit?about=settings&before=") {
		t.Fatal("nothing leads to older lines, or the filter is lost")
	}
	for _, odd := range []string{"?before=x", "?before=-1", "?before=99999999999999999999", "?before=1"} {
		b.Get("/api-addons/admin/history" + odd).Status(http.StatusOK)
		b.Get("/api-addons/admin/audit" + odd).Status(http.StatusOK)
	}
}

func TestTestModeWithMembersIsConfirmed(t *testing.T) {
	sellers(t, func(t *testing.T, s *seller) {
		s.buy(t, "ana", playfake.BuyOptions{ProductID: "gold_monthly"})
		b := s.signedIn(t)
		s.mustSet(t, "iapSandboxEnabled", "1")
		path := iapPath + "/publish"
		b.Get(path).Says("1 member has purchases in the real store")
		b.Fill(path, path).Status(http.StatusUnprocessableEntity).Says("Confirm it.")
		b.Fill(path, path, "confirm", "1").LeadsTo("/api-addons/admin/history/3")
		s.mustSet(t, "iapSandboxEnabled", "0")
		s.mustPublish(t, "Live")
		restore := "/api-addons/admin/history/3/restore"
		b.Get(restore).Says("1 member has purchases in the real store")
		b.Fill(restore, restore).Status(http.StatusUnprocessableEntity).Says("Confirm it.")
		b.Fill(restore, restore, "confirm", "1").LeadsTo("/api-addons/admin/history/5")
	})
}
