package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/settings"
)

const appPath = "/api-addons/admin/app/settings"

func TestAppSettingsFormShowsEverySetting(t *testing.T) {
	s := one(t)
	p := s.signedIn(t).get(appPath).status(http.StatusOK)
	for _, d := range settings.Definitions() {
		n := len(p.having("id", "field-"+d.Key))
		if want := map[bool]int{true: 1}[d.Area == settings.AreaApp]; n != want {
			t.Errorf("%d fields %s, want %d", n, d.Key, want)
		}
	}
	for _, key := range []string{"appName", "pushEnabled"} {
		if label := p.having("for", "field-"+key); len(label) != 1 || !strings.Contains(textOf(label[0].Parent), "default") {
			t.Errorf("%s is not marked as the default", key)
		}
	}
	p.says("Where do I find this?", "App name", "The name that people see in the app.")
}

func TestAppSettingsAreSavedAsADraft(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.fill(appPath, appPath, "appName", "Rain", "pushEnabled", "1", "pushAppId", "b2f7f966-d8cc", "messengerUrlScheme", " rainchat ", "do", "draft").leadsTo(appPath)
		p := b.get(appPath).says("The draft is saved. Apps receive it when you publish: 4 changes waiting.", "not published")
		if got := p.value("appName"); got != "Rain" {
			t.Errorf("the field says %q", got)
		}
		s.wantValue(t, "pushEnabled", "true")
		s.wantValue(t, "messengerUrlScheme", "rainchat")
		b.fill(appPath, appPath, "appName", "Rain", "pushEnabled", "-", "pushAppId", "", "messengerUrlScheme", "").leadsTo(appPath)
		s.wantValue(t, "pushEnabled", "false")
		b.fill(appPath, appPath, "appName", "My app").leadsTo(appPath)
		b.get(appPath).says("there is nothing to publish")
	})
}

func TestAppSettingsButtonsLeadOn(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.fill(appPath, appPath, "appName", "Rain", "do", "preview").leadsTo("/api-addons/admin/preview")
	b.fill(appPath, appPath, "appName", "Hail", "do", "publish").leadsTo(appPath + "/publish")
	s.wantValue(t, "appName", "Hail")
}

func TestAppSettingsThatAreWrongAreShownAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		p := b.fill(appPath, appPath, "appName", "Rain", "messengerUrlScheme", "rain://", "messengerDomain", "https://chat.example.com", "messengerAndroidPackageId", "chat", "idpIosClientId", "a b").
			status(http.StatusUnprocessableEntity).says("Nothing was saved.")
		p.wrong("messengerUrlScheme", "not myapp:// but myapp.")
		p.wrong("messengerDomain", "without https://")
		p.wrong("messengerAndroidPackageId", "com.example.app")
		p.wrong("idpIosClientId", "A client ID is")
		if p.value("appName") != "Rain" || p.value("messengerUrlScheme") != "rain://" {
			t.Error("what was typed is lost")
		}
		s.wantValue(t, "appName", "My app")
		// Repaired in the form that came back, it is saved.
		form := p.form(appPath)
		for name, value := range map[string]string{"messengerUrlScheme": "rain", "messengerDomain": "chat.example.com", "messengerAndroidPackageId": "com.example.chat", "idpIosClientId": ""} {
			form.Set(name, value)
		}
		b.postForm(appPath, form).leadsTo(appPath)
		s.wantValue(t, "appName", "Rain")
	})
}

func TestAnEmptyOrBrokenFormChangesNothing(t *testing.T) {
	s := one(t)
	s.mustSet(t, "pushEnabled", "1", "pushAppId", "x")
	b := s.signedIn(t)
	before := s.audits(t)
	for _, path := range []string{appPath, "/api-addons/admin/iap/settings", "/api-addons/admin/iap/settings/products", appPath + "/publish"} {
		b.post(path).status(http.StatusUnprocessableEntity).says("did not arrive whole")
		b.post(path, "revision", "-1").status(http.StatusUnprocessableEntity)
		b.post(path, "revision", "one", "appName", "x", "note", "x").status(http.StatusUnprocessableEntity)
	}
	s.wantAudits(t, before)
}

func TestPublishWithPushOnAndNoAppIDStopsAtTheField(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	p := b.fill(appPath, appPath, "pushEnabled", "1", "do", "publish").status(http.StatusUnprocessableEntity)
	p.says("Saved as a draft, but it can't be published like this.").wrong("pushAppId", "devices would fail to start push")
	s.wantValue(t, "pushEnabled", "true")
	form := p.form(appPath)
	form.Set("pushAppId", "b2f7f966")
	form.Set("do", "publish")
	b.postForm(appPath, form).leadsTo(appPath + "/publish")
}

func TestTwoWhoEditAtOnceSeeBothVersions(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		mine := b.get(appPath).form(appPath)
		b.fill(appPath, appPath, "appName", "Hers", "streamAppId", "970ca35d").leadsTo(appPath)
		mine.Set("appName", "Mine")
		p := b.postForm(appPath, mine).status(http.StatusPreconditionFailed)
		p.says("Nothing was saved: somebody else saved first", "Last changed by ada@site.example", "Hers", "Mine", "970ca35d", "Take what is saved instead")
		if p.value("appName") != "Mine" {
			t.Errorf("the field says %q", p.value("appName"))
		}
		s.wantValue(t, "appName", "Hers")
		again := p.form(appPath)
		b.postForm(appPath, again).leadsTo(appPath)
		s.wantValue(t, "appName", "Mine")
	})
}

func TestOwnKeys(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		anchor := appPath + "#g-extra-keys"
		b.fill(appPath, appPath, "do", "add", "newKey", "betaBanner", "newType", "bool", "newValue", "true", "appName", "Rain").leadsTo(anchor)
		b.fill(appPath, appPath, "do", "add", "newKey", "supportUrl", "newType", "text", "newValue", "https://site.example/help").leadsTo(anchor)
		// A row that was filled in is not lost when another button is pressed.
		b.fill(appPath, appPath, "do", "draft", "newKey", "limit", "newType", "number", "newValue", "12").leadsTo(appPath)
		s.wantValue(t, "appName", "Rain")
		s.wantValue(t, "betaBanner", "true")
		s.wantValue(t, "limit", "12")

		b.fill(appPath, appPath, "own.betaBanner", "-", "own.supportUrl", "https://site.example/support").leadsTo(appPath)
		s.wantValue(t, "betaBanner", "false")
		s.wantValue(t, "supportUrl", "https://site.example/support")
		b.fill(appPath, appPath, "own.limit", "twelve").status(http.StatusUnprocessableEntity).wrong("own.limit", "A number has up to 15 digits")

		b.fill(appPath, appPath, "do", "remove:limit", "appName", "Hail").leadsTo(anchor)
		s.wantValue(t, "limit", "(no setting limit)")
		s.wantValue(t, "appName", "Hail")
	})
}

func TestARefusedRemovalOfAnOwnKeyShowsTheFormAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		if _, err := s.Settings.AddKey(t.Context(), operator, 0, "limit", settings.TypeNumber, "12"); err != nil {
			t.Fatal(err)
		}
		before := s.audits(t)
		refuse := func(status int, button, says string) {
			t.Helper()
			p := b.fill(appPath, appPath, "do", button, "streamAppId", "Mine").status(status).says("Nothing was saved", says)
			if got := p.value("streamAppId"); got != "Mine" {
				t.Errorf("%s: the field says %q", button, got)
			}
		}
		refuse(http.StatusConflict, "remove:appName", "belongs to the addon")
		refuse(http.StatusNotFound, "remove:nothing", "No setting with the key")
		s.wantAudits(t, before)

		mine := b.get(appPath).form(appPath)
		s.mustSet(t, "appName", "Hers")
		mine.Set("do", "remove:limit")
		p := b.postForm(appPath, mine).status(http.StatusPreconditionFailed).says("Nothing was saved: somebody else saved first", "Hers")
		s.wantValue(t, "limit", "12")
		again := p.form(appPath)
		again.Set("do", "remove:limit")
		b.postForm(appPath, again).leadsTo(appPath + "#g-extra-keys")
		s.wantValue(t, "limit", "(no setting limit)")
	})
}

func TestAnOwnKeyIsRemovedWithWhateverStandsInItsField(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	if _, err := s.Settings.AddKey(t.Context(), operator, 0, "limit", settings.TypeNumber, "12"); err != nil {
		t.Fatal(err)
	}
	b.fill(appPath, appPath, "do", "remove:limit", "own.limit", "twelve").leadsTo(appPath + "#g-extra-keys")
	s.wantValue(t, "limit", "(no setting limit)")
}

func TestOwnKeysThatAreWrong(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for _, tt := range []struct {
		key, kind, value, field, says string
		status                        int
	}{
		{"", "text", "", "newKey", "A key is 1 to 64 letters", http.StatusUnprocessableEntity},
		{"two words", "text", "x", "newKey", "A key is 1 to 64 letters", http.StatusUnprocessableEntity},
		{"APPNAME", "text", "x", "newKey", "There is a setting with the key appName already", http.StatusConflict},
		{"limit", "number", "many", "newValue", "A number has up to 15 digits", http.StatusUnprocessableEntity},
		{"banner", "bool", "", "newValue", "It is on or off", http.StatusUnprocessableEntity},
		{"banner", "", "x", "newType", "A key of your own is", http.StatusUnprocessableEntity},
		{"token", "text", "cas_" + strings.Repeat("a", 43), "newValue", "looks like a secret", http.StatusUnprocessableEntity},
	} {
		p := b.fill(appPath, appPath, "do", "add", "newKey", tt.key, "newType", tt.kind, "newValue", tt.value, "appName", "Kept").status(tt.status)
		p.says("The new key was not added. Everything else is saved as a draft.").wrong(tt.field, tt.says)
		if got := p.value("newKey"); got != tt.key {
			t.Errorf("the field says %q, want %q", got, tt.key)
		}
		s.wantValue(t, "appName", "Kept")
	}
}

func TestOwnKeysNamedLikeFieldsOfTheForm(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for _, key := range []string{"revision", "do", "newKey", "note"} {
		b.fill(appPath, appPath, "do", "add", "newKey", key, "newType", "text", "newValue", "first").leadsTo(appPath + "#g-extra-keys")
	}
	b.fill(appPath, appPath, "own.revision", "second", "own.do", "publish").leadsTo(appPath)
	s.wantValue(t, "revision", "second")
	s.wantValue(t, "do", "publish")
}
