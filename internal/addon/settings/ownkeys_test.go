package settings_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/token"
)

func TestOwnKeys(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		for _, c := range []struct {
			key   string
			kind  settings.Type
			value string
			want  string // in JSON
		}{
			{"supportUrl", settings.TypeText, "https://help.example/?a=1&b=<2>", `"https://help.example/?a=1&b=<2>"`},
			{"darkMode", settings.TypeBool, "1", "true"},
			{"maxItems", settings.TypeNumber, "12.50", "12.50"},
			{"emptyText", settings.TypeText, "", `""`},
		} {
			s := must.Get(f.Settings.AddKey(ctx, operator, settings.Edit{}, c.key, c.kind, c.value))(t)
			one, there := s.Get(c.key)
			if !there || !one.Own || !one.Public || string(one.JSON()) != c.want || !one.Changed {
				t.Errorf("%s: %+v, JSON %s", c.key, one, one.JSON())
			}
		}
		f.MustSet(t, map[string]string{"maxItems": "-3"})
		_, err := f.Settings.Set(ctx, operator, settings.Edit{}, map[string]string{"maxItems": "many"})
		addontest.WantFields(t, err, "maxItems")
		f.MustPublish(t, "")
		want := `"messengerDomain":"","darkMode":true,"emptyText":"","maxItems":-3,"supportUrl":"https://help.example/?a=1&b=<2>"}`
		if got := string(f.Served(t).JSON); !strings.HasSuffix(got, want) {
			t.Errorf("served %s, want its end to be %s", got, want)
		}
		must.Get(f.Settings.RemoveKey(ctx, operator, settings.Edit{}, "darkMode", nil))(t)
		if list := f.Draft(t).Changes; len(list) != 1 || !list[0].Removed || list[0].Key != "darkMode" {
			t.Errorf("changes %+v", list)
		}
		f.MustPublish(t, "")
		if strings.Contains(string(f.Served(t).JSON), "darkMode") {
			t.Error("a removed key is served")
		}
	})
}

func TestOwnKeysThatAreRefused(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		ctx := t.Context()
		cases := []struct {
			name, key string
			kind      settings.Type
			value     string
			code      string
			field     string
		}{
			{"no name", "", settings.TypeText, "x", "settings_invalid", "key"},
			{"a name with a dash", "a-b", settings.TypeText, "x", "settings_invalid", "key"},
			{"a name that begins with underscores", "__proto__", settings.TypeText, "x", "settings_invalid", "key"},
			{"a name that is too long", strings.Repeat("a", 65), settings.TypeText, "x", "settings_invalid", "key"},
			{"a type that is not for owners", "x", settings.TypeServiceAccount, "x", "settings_invalid", "type"},
			{"an unknown type", "x", "list", "x", "settings_invalid", "type"},
			{"a number that is not valid", "x", settings.TypeNumber, "NaN", "settings_invalid", "value"},
			{"a number with a leading zero", "x", settings.TypeNumber, "007", "settings_invalid", "value"},
			{"a switch that is not valid", "x", settings.TypeBool, "maybe", "settings_invalid", "value"},
			{"a text that is too long", "x", settings.TypeText, strings.Repeat("é", 10_001), "settings_invalid", "value"},
			{"a text with NUL", "x", settings.TypeText, "a\x00", "settings_invalid", "value"},
			{"a private key", "x", settings.TypeText, "k: -----BEGIN RSA PRIVATE KEY-----", "secret_looking", "value"},
			{"a service account", "x", settings.TypeText, `{"private_key":"…"}`, "secret_looking", "value"},
			{"an API secret", "x", settings.TypeText, token.New("cas_"), "secret_looking", "value"},
			{"a key of the addon", settings.KeyAppName, settings.TypeText, "x", "setting_exists", ""},
			{"a secret key of the addon", iap.KeyServiceAccount, settings.TypeText, "x", "setting_exists", ""},
			{"a key of the addon in other letters", "APPNAME", settings.TypeText, "x", "setting_exists", ""},
		}
		for _, c := range cases {
			before := f.Draft(t).Revision
			_, err := f.Settings.AddKey(ctx, operator, settings.Edit{}, c.key, c.kind, c.value)
			addontest.WantError(t, err, c.code)
			if c.field != "" {
				addontest.WantFields(t, err, c.field)
			}
			expect.Equalf(t, f.Draft(t).Revision, before, "%s: something was written", c.name)
		}
		_, err := f.Settings.RemoveKey(ctx, operator, settings.Edit{}, settings.KeyAppName, nil)
		addontest.WantError(t, err, "key_defined")
		_, err = f.Settings.RemoveKey(ctx, operator, settings.Edit{}, "nothing", nil)
		addontest.WantError(t, err, "setting_not_found")
	})
}
