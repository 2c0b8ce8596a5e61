package pages_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestPublishShowsTheDiffAndServesTheNewVersion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain", "pushEnabled", "1", "pushAppId", "b2f7")
		p := b.get(appPath+"/publish").says("What changes for your users", "My app", "Rain", "3 changes to version 1", "Worth a look", "the timeline sends none")
		if len(p.all("del")) != 3 || len(p.all("ins")) != 3 {
			t.Errorf("%d before, %d after", len(p.all("del")), len(p.all("ins")))
		}
		b.fill(appPath+"/publish", appPath+"/publish", "note", "New name").leadsTo("/api-addons/admin/history/2")
		b.get("/api-addons/admin/history/2").says("Version 2 is published.", "Apps receive it now", "New name", "ada@site.example, by page")
		now, err := s.Settings.Published(t.Context())
		if err != nil || !strings.Contains(string(now.JSON), `"appName":"Rain"`) {
			t.Errorf("served: %s, %v", now.JSON, err)
		}
		b.get(appPath + "/publish").says("Nothing to publish")
	})
}

func TestPublishWithoutChangesSaysSo(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	form := b.get(iapPath + "/publish").form(iapPath + "/publish")
	s.mustPublish(t, "by somebody else")
	b.postForm(iapPath+"/publish", form).leadsTo(iapPath)
	b.get(iapPath).says("There was nothing to publish")
}

func TestPublishOfADraftThatChangedMeanwhileIsRefused(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain")
		form := b.get(appPath + "/publish").form(appPath + "/publish")
		s.mustSet(t, "appName", "Hail")
		form.Set("note", "My note")
		p := b.postForm(appPath+"/publish", form).status(http.StatusPreconditionFailed).says("The draft changed since you looked at it", "Hail")
		if p.value("note") != "My note" {
			t.Error("the note is lost")
		}
		b.postForm(appPath+"/publish", p.form(appPath+"/publish")).leadsTo("/api-addons/admin/history/2")
	})
}

func TestPublishStopsAtMistakesAndLeadsToThem(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	form := b.get(appPath + "/publish").form(appPath + "/publish")
	s.mustSet(t, "pushEnabled", "1")
	p := b.get(appPath+"/publish").says("This stops a publish", "devices would fail to start push")
	if len(p.having("href", appPath+"#field-pushAppId")) != 1 {
		t.Error("nothing leads to the field")
	}
	if len(p.having("action", appPath+"/publish")) != 0 {
		t.Error("the button to publish is there")
	}
	form.Set("revision", b.get(appPath).form(appPath).Get("revision"))
	b.postForm(appPath+"/publish", form).status(http.StatusUnprocessableEntity).says("Nothing was published.", "mistakes that stop a publish")
	now, err := s.Settings.Published(t.Context())
	if err != nil || now.Version != 1 {
		t.Errorf("version %d is served, %v", now.Version, err)
	}
}

func TestPublishWithANoteThatIsTooLong(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustSet(t, "appName", "Rain")
	b.fill(appPath+"/publish", appPath+"/publish", "note", strings.Repeat("x", 501)).status(http.StatusUnprocessableEntity).wrong("note", "A note is up to 500 characters")
}

func TestEarlierVersionsAreBroughtBack(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.mustSet(t, "appName", "Rain")
		s.mustPublish(t, "First name")
		s.mustSet(t, "streamAppId", "970ca35d") // waits in the draft
		b.get("/api-addons/admin/history").says("Version 2", "now", "First name", "Version 1", "Bring back")
		b.get("/api-addons/admin/history/1").says("Bring it back", "What is different now")
		b.get("/api-addons/admin/history/1/restore").says("Rain", "My app")
		path := "/api-addons/admin/history/1/restore"
		b.fill(path, path, "note", strings.Repeat("x", 501)).status(http.StatusUnprocessableEntity).wrong("note", "A note is up to 500 characters")
		b.fill(path, path, "note", "The old name was better").leadsTo("/api-addons/admin/history/3")
		b.get("/api-addons/admin/history/3").says("Version 3 is published, with the values of version 1.", "The old name was better (brings back version 1)")
		s.wantValue(t, "appName", "My app")
		s.wantValue(t, "streamAppId", "970ca35d")
		b.post(path).leadsTo("/api-addons/admin/history/1")
		b.get("/api-addons/admin/history/1").says("Nothing was changed")
		b.get(path).says("Nothing to bring back")
	})
}

func TestLongListsArePaged(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for i := range 51 {
		s.mustSet(t, "appName", "Rain "+strings.Repeat("x", i+1))
		s.mustPublish(t, "")
	}
	p := b.get("/api-addons/admin/history").says("Version 52", "Version 3")
	if links := p.having("rel", "next"); len(links) != 1 || attr(links[0], "href") != "/api-addons/admin/history?before=3" {
		t.Fatal("nothing leads to older versions")
	}
	p = b.get("/api-addons/admin/history?before=3").says("Version 2", "Version 1")
	if len(p.having("rel", "prev")) != 1 || len(p.having("rel", "next")) != 0 {
		t.Error("the end of the list is wrong")
	}
	p = b.get("/api-addons/admin/audit?about=settings")
	if links := p.having("rel", "next"); len(links) != 1 || !strings.HasPrefix(attr(links[0], "href"), "/api-addons/admin/audit?about=settings&before=") {
		t.Fatal("nothing leads to older lines, or the filter is lost")
	}
	for _, odd := range []string{"?before=x", "?before=-1", "?before=99999999999999999999", "?before=1"} {
		b.get("/api-addons/admin/history" + odd).status(http.StatusOK)
		b.get("/api-addons/admin/audit" + odd).status(http.StatusOK)
	}
}
