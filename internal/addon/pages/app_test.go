package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

const appPath = "/api-addons/admin/app/settings"

func TestAppSettingsFormShowsEverySetting(t *testing.T) {
	s := one(t)
	p := s.signedIn(t).Get(appPath).Status(http.StatusOK)
	for _, d := range settings.Definitions() {
		n := len(p.Having("id", "field-"+d.Key))
		if want := map[bool]int{true: 1}[d.Area == settings.AreaApp]; n != want {
			t.Errorf("%d fields %s, want %d", n, d.Key, want)
		}
	}
	for _, key := range []string{"appName", "pushEnabled"} {
		if label := p.Having("for", "field-"+key); len(label) != 1 || !strings.Contains(webtest.TextOf(label[0].Parent), "default") {
			t.Errorf("%s is not marked as the default", key)
		}
	}
	p.Says("Where do I find this?", "App name", "The name that people see in the app.")
}

func TestAppSettingsAreSavedAsADraft(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Fill(appPath, appPath, "appName", "Rain", "pushEnabled", "1", "pushAppId", "b2f7f966-d8cc", "messengerUrlScheme", " rainchat ", "do", "draft").LeadsTo(appPath)
		p := b.Get(appPath).Says("The draft is saved. Apps receive it when you publish: 4 changes not published.", "not published")
		expect.Equalf(t, p.Value("appName"), "Rain", "the field says")
		s.wantValue(t, "pushEnabled", "true")
		s.wantValue(t, "messengerUrlScheme", "rainchat")
		b.Fill(appPath, appPath, "appName", "Rain", "pushEnabled", "-", "pushAppId", "", "messengerUrlScheme", "").LeadsTo(appPath)
		s.wantValue(t, "pushEnabled", "false")
		b.Fill(appPath, appPath, "appName", "My app").LeadsTo(appPath)
		b.Get(appPath).Says("These values are already published.")
	})
}

func TestAppSettingsButtonsLeadOn(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Fill(appPath, appPath, "appName", "Rain", "do", "preview").LeadsTo("/api-addons/admin/preview")
	b.Fill(appPath, appPath, "appName", "Hail", "do", "publish").LeadsTo(appPath + "/publish")
	s.wantValue(t, "appName", "Hail")
}

func TestAppSettingsThatAreWrongAreShownAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		p := b.Fill(appPath, appPath, "appName", "Rain", "messengerUrlScheme", "rain://", "messengerDomain", "https://chat.example.com", "messengerAndroidPackageId", "chat", "idpIosClientId", "a b").
			Status(http.StatusUnprocessableEntity).Says("Nothing was saved.")
		p.Wrong("messengerUrlScheme", "Write only the scheme, without ://, like myapp.")
		p.Wrong("messengerDomain", "without https://")
		p.Wrong("messengerAndroidPackageId", "com.example.app")
		p.Wrong("idpIosClientId", "A client ID is")
		if p.Value("appName") != "Rain" || p.Value("messengerUrlScheme") != "rain://" {
			t.Error("what was typed is lost")
		}
		s.wantValue(t, "appName", "My app")
		// Repaired in the form that came back, it is saved.
		form := p.Form(appPath)
		for name, value := range map[string]string{"messengerUrlScheme": "rain", "messengerDomain": "chat.example.com", "messengerAndroidPackageId": "com.example.chat", "idpIosClientId": ""} {
			form.Set(name, value)
		}
		b.PostForm(appPath, form).LeadsTo(appPath)
		s.wantValue(t, "appName", "Rain")
	})
}

func TestAnEmptyOrBrokenFormChangesNothing(t *testing.T) {
	s := one(t)
	s.mustSet(t, "pushEnabled", "1", "pushAppId", "x")
	b := s.signedIn(t)
	before := s.audits(t)
	for _, path := range []string{appPath, "/api-addons/admin/iap/settings", "/api-addons/admin/iap/settings/products", appPath + "/publish"} {
		b.Post(path).Status(http.StatusUnprocessableEntity).Says("arrived incomplete")
		b.Post(path, "revision", "-1").Status(http.StatusUnprocessableEntity)
		b.Post(path, "revision", "one", "appName", "x", "note", "x").Status(http.StatusUnprocessableEntity)
	}
	s.wantAudits(t, before)
}

func TestPublishWithPushOnAndNoAppIDStopsAtTheField(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	p := b.Fill(appPath, appPath, "pushEnabled", "1", "do", "publish").Status(http.StatusUnprocessableEntity)
	p.Says("Saved as a draft. Correct these problems before you publish.").Wrong("pushAppId", "devices would fail to start push")
	s.wantValue(t, "pushEnabled", "true")
	form := p.Form(appPath)
	form.Set("pushAppId", "b2f7f966")
	form.Set("do", "publish")
	b.PostForm(appPath, form).LeadsTo(appPath + "/publish")
}

func TestTwoWhoEditAtOnceSeeBothVersions(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		mine := b.Get(appPath).Form(appPath)
		b.Fill(appPath, appPath, "appName", "Hers", "streamAppId", "970ca35d").LeadsTo(appPath)
		mine.Set("appName", "Mine")
		p := b.PostForm(appPath, mine).Status(http.StatusPreconditionFailed)
		p.Says("Nothing was saved: somebody else saved first", "Last changed by ada@site.example", "Hers", "Mine", "970ca35d", "Discard my input")
		expect.Equalf(t, p.Value("appName"), "Mine", "the field says")
		s.wantValue(t, "appName", "Hers")
		again := p.Form(appPath)
		b.PostForm(appPath, again).LeadsTo(appPath)
		s.wantValue(t, "appName", "Mine")
	})
}

func TestOwnKeys(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		anchor := appPath + "#g-extra-keys"
		b.Fill(appPath, appPath, "do", "add", "newKey", "betaBanner", "newType", "bool", "newValue", "true", "appName", "Rain").LeadsTo(anchor)
		b.Fill(appPath, appPath, "do", "add", "newKey", "supportUrl", "newType", "text", "newValue", "https://site.example/help").LeadsTo(anchor)
		// A row that was filled in is not lost when another button is pressed.
		b.Fill(appPath, appPath, "do", "draft", "newKey", "limit", "newType", "number", "newValue", "12").LeadsTo(appPath)
		s.wantValue(t, "appName", "Rain")
		s.wantValue(t, "betaBanner", "true")
		s.wantValue(t, "limit", "12")

		b.Fill(appPath, appPath, "own.betaBanner", "-", "own.supportUrl", "https://site.example/support").LeadsTo(appPath)
		s.wantValue(t, "betaBanner", "false")
		s.wantValue(t, "supportUrl", "https://site.example/support")
		b.Fill(appPath, appPath, "own.limit", "twelve").Status(http.StatusUnprocessableEntity).Wrong("own.limit", "Invalid number: use up to 15 digits")

		b.Fill(appPath, appPath, "do", "remove:limit", "appName", "Hail").LeadsTo(anchor)
		s.wantValue(t, "limit", "(no setting limit)")
		s.wantValue(t, "appName", "Hail")
	})
}

func TestARefusedRemovalOfAnOwnKeyShowsTheFormAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		must.Get(s.Settings.AddKey(t.Context(), operator, settings.Edit{}, "limit", settings.TypeNumber, "12"))(t)
		before := s.audits(t)
		refuse := func(status int, button, says string) {
			t.Helper()
			p := b.Fill(appPath, appPath, "do", button, "streamAppId", "Mine").Status(status).Says("Nothing was saved", says)
			expect.Equalf(t, p.Value("streamAppId"), "Mine", "%s: the field says", button)
		}
		refuse(http.StatusConflict, "remove:appName", "is built in")
		refuse(http.StatusNotFound, "remove:nothing", "No setting with the key")
		s.wantAudits(t, before)

		mine := b.Get(appPath).Form(appPath)
		s.mustSet(t, "appName", "Hers")
		mine.Set("do", "remove:limit")
		p := b.PostForm(appPath, mine).Status(http.StatusPreconditionFailed).Says("Nothing was saved: somebody else saved first", "Hers")
		s.wantValue(t, "limit", "12")
		again := p.Form(appPath)
		again.Set("do", "remove:limit")
		b.PostForm(appPath, again).LeadsTo(appPath + "#g-extra-keys")
		s.wantValue(t, "limit", "(no setting limit)")
	})
}

func TestAnOwnKeyIsRemovedWithWhateverStandsInItsField(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	must.Get(s.Settings.AddKey(t.Context(), operator, settings.Edit{}, "limit", settings.TypeNumber, "12"))(t)
	b.Fill(appPath, appPath, "do", "remove:limit", "own.limit", "twelve").LeadsTo(appPath + "#g-extra-keys")
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
		{"APPNAME", "text", "x", "newKey", "A setting already has the key appName.", http.StatusConflict},
		{"limit", "number", "many", "newValue", "Invalid number: use up to 15 digits", http.StatusUnprocessableEntity},
		{"banner", "bool", "", "newValue", "Invalid value: use 1, 0, true or false", http.StatusUnprocessableEntity},
		{"banner", "", "x", "newType", "A key of your own is", http.StatusUnprocessableEntity},
		{"token", "text", "cas_" + strings.Repeat("a", 43), "newValue", "looks like a secret key of Countersign", http.StatusUnprocessableEntity},
	} {
		p := b.Fill(appPath, appPath, "do", "add", "newKey", tt.key, "newType", tt.kind, "newValue", tt.value, "appName", "Kept").Status(tt.status)
		p.Says("The new key was not added. Everything else is saved as a draft.").Wrong(tt.field, tt.says)
		expect.Equalf(t, p.Value("newKey"), tt.key, "the field says")
		s.wantValue(t, "appName", "Kept")
	}
}

func TestAValueThatLooksLikeASecretIsSavedOnASecondWord(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		const value = "AKIAIOSFODNN7EXAMPLE"
		p := b.Fill(appPath, appPath, "do", "draft", "pushAppId", value).Status(http.StatusUnprocessableEntity)
		p.Wrong("pushAppId", "This looks like an AWS access key").Says("These are not secrets")
		s.wantValue(t, "pushAppId", "")
		if plain := b.Get(appPath); strings.Contains(plain.Text(), "These are not secrets") {
			t.Error("the question is asked without a reason")
		}
		b.Fill(appPath, appPath, "do", "draft", "pushAppId", value, "allowSecretLooking", "1").LeadsTo(appPath)
		s.wantValue(t, "pushAppId", value)
		b.Fill(appPath, appPath, "do", "draft", "appName", "Tuneful").LeadsTo(appPath)
	})
}

func TestOwnKeysNamedLikeFieldsOfTheForm(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	for _, key := range []string{"revision", "do", "newKey", "note"} {
		b.Fill(appPath, appPath, "do", "add", "newKey", key, "newType", "text", "newValue", "first").LeadsTo(appPath + "#g-extra-keys")
	}
	b.Fill(appPath, appPath, "own.revision", "second", "own.do", "publish").LeadsTo(appPath)
	s.wantValue(t, "revision", "second")
	s.wantValue(t, "do", "publish")
}
