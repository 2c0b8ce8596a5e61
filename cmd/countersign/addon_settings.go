package main

import (
	"encoding/json"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newAddonSettings(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "settings", Short: "Settings of the app: list, get, set, add, remove, diff, publish, history, rollback", SuggestionsMinimumDistance: 2,
		Long: `Settings of the app. What is set waits in the draft; apps receive it once it is published:

  countersign addon settings set appName Tuneful
  countersign addon settings publish -m "the app has a name"`,
	},
		newSettingsList(a), newSettingsGet(a), newSettingsSet(a), newSettingsAdd(a), newSettingsRemove(a),
		newSettingsDiff(a), newSettingsPublish(a), newSettingsHistory(a), newSettingsRollback(a))
}

// settingJSON is a setting as --json prints it.
type settingJSON struct {
	Key       string          `json:"key"`
	Area      settings.Area   `json:"area"`
	Type      settings.Type   `json:"type"`
	Public    bool            `json:"public"`
	Own       bool            `json:"own"`
	Value     json.RawMessage `json:"value"`     // the draft's; null for a secret
	Published json.RawMessage `json:"published"` // what apps receive
	Changed   bool            `json:"changed"`
	Default   bool            `json:"default"`
	// About is what may be said of a secret.
	About string `json:"about,omitempty"`
}

func jsonOfSetting(s settings.Setting) settingJSON {
	published := s
	published.Value = s.Published
	out := settingJSON{
		Key: s.Key, Area: s.Area, Type: s.Type, Public: s.Public, Own: s.Own, Value: s.JSON(), Published: published.JSON(),
		Changed: s.Changed, Default: s.AtDefault,
	}
	if s.Secret {
		out.About = s.Value
	}
	if len(out.Published) == 0 { // a number that is not published yet
		out.Published = json.RawMessage("null")
	}
	return out
}

// settingState says in a word what is to know of a setting's value.
func settingState(s settings.Setting) string {
	switch {
	case s.Changed:
		return "changed"
	case s.AtDefault:
		return "default"
	}
	return "published"
}

// printSetting prints a setting as it is in the draft, after a change.
func (a *app) printSetting(s settings.Draft, key string) error {
	one, _ := s.Get(key)
	err := a.printCard(jsonOfSetting(one), pair{"Key", one.Key}, pair{"Value", one.Value}, pair{"Published", one.Published}, pair{"State", settingState(one)})
	if err == nil {
		a.sayWaiting(s)
	}
	return err
}

// sayWaiting tells that the draft waits to be published.
func (a *app) sayWaiting(s settings.Draft) {
	switch {
	case a.json:
	case len(s.Changes) == 0:
		a.say("Apps receive this already.")
	default:
		a.say("Apps receive it after: countersign addon settings publish -m NOTE (%s waiting)", count(len(s.Changes), "change", "changes"))
	}
}
