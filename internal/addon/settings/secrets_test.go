package settings_test

import (
	"encoding/json"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/must"
)

// accessKey has the format of a cloud's access key.
const accessKey = "AKIAIOSFODNN7EXAMPLE"

// What looks like a secret is refused at every way into public settings, unless the
// caller says that it is not one.
func TestSecretsStayOutOfPublicSettings(t *testing.T) {
	ways := map[string]func(f *addontest.Fixture, edit settings.Edit) (settings.Draft, error){
		"a defined setting": func(f *addontest.Fixture, edit settings.Edit) (settings.Draft, error) {
			return f.Settings.Set(t.Context(), operator, edit, map[string]string{"appName": "Tuneful", "pushAppId": accessKey})
		},
		"a name": func(f *addontest.Fixture, edit settings.Edit) (settings.Draft, error) {
			return f.Settings.Set(t.Context(), operator, edit, map[string]string{"appName": "-----BEGIN PRIVATE KEY----- MIIE"})
		},
		"JSON": func(f *addontest.Fixture, edit settings.Edit) (settings.Draft, error) {
			return f.Settings.SetJSON(t.Context(), program, edit, map[string]json.RawMessage{"streamAppId": json.RawMessage(`"` + accessKey + `"`)})
		},
		"a new key": func(f *addontest.Fixture, edit settings.Edit) (settings.Draft, error) {
			return f.Settings.AddKey(t.Context(), operator, edit, "apiSecret", settings.TypeText, "q7Xw2mPz9RtLk4Vb")
		},
	}
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for name, act := range ways {
			before := f.Draft(t)
			_, err := act(f, settings.Edit{})
			addontest.WantError(t, err, settings.CodeSecretLooking)
			if now := f.Draft(t); now.Revision != before.Revision {
				t.Errorf("%s: something was written", name)
			}
			if now, err := act(f, settings.Edit{AllowSecretLooking: true}); err != nil || now.Revision != before.Revision+1 {
				t.Errorf("%s, allowed: revision %d after %d, %v", name, now.Revision, before.Revision, err)
			}
		}
	})
}

// A false alarm was answered once. Other changes in the same form do not ask again.
func TestAValueThatWasAllowedIsNotQuestionedAgain(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		must.Get(f.Settings.AddKey(t.Context(), operator, settings.Edit{AllowSecretLooking: true}, "cloud", settings.TypeText, accessKey))(t)
		if _, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{"cloud": accessKey, "appName": "Tuneful"}); err != nil {
			t.Errorf("the same value: %v", err)
		}
		_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{"cloud": "AKIAI44QH8DHBEXAMPLE"})
		addontest.WantError(t, err, settings.CodeSecretLooking)
		addontest.WantFields(t, err, "cloud")
	})
}
