package addon

import (
	"context"
	"encoding/json"

	"github.com/countersign/countersign/internal/people"
)

// Settings is the draft beside what is published.
type Settings struct {
	// Revision counts the changes of the draft. Give it back to
	// [Addon.SetSettings] so that nobody's change is overwritten unseen.
	Revision int64
	// Published is the version that is served.
	Published Version
	// List holds every setting: the definitions in their order, then the owner's
	// own keys by name.
	List []Setting
	// Changed is how many settings differ between draft and published version.
	Changed int
}

// Get finds a setting by its key.
func (s Settings) Get(key string) (Setting, bool) {
	for _, one := range s.List {
		if one.Key == key {
			return one, true
		}
	}
	return Setting{}, false
}

// Setting is one setting with its two values. Of a secret one, both values are a
// sentence about it, "" when it is not set.
type Setting struct {
	Definition
	// Own tells a key that the owner added.
	Own bool
	// Value is the draft's.
	Value string
	// Published is the value that is served, "" when it is not published yet.
	Published string
	// Changed tells that the next publish changes it.
	Changed bool
	// AtDefault tells that the draft has the value that the update registered.
	AtDefault bool
}

// JSON is the draft's value as JSON prints it; null for a secret.
func (s Setting) JSON() json.RawMessage { return nil }

// Settings reads the draft and what is published.
func (a *Addon) Settings(ctx context.Context, actor people.Actor) (Settings, error) {
	return Settings{}, errNotBuilt
}

// SetSettings changes values of the draft, all or none. Values are text, as forms
// and commands give them; switches accept 1, 0, true and false. revision is the
// one that the caller has seen, 0 for "whatever it is". Errors:
//
//   - kind Invalid, code settings_invalid: Fields says what is wrong with which key;
//   - kind Precondition, code settings_changed: somebody changed the draft; the
//     Settings returned beside the error are what it is now.
//
// A secret that is "" is left as it is; [Addon.RemoveServiceAccount] removes it.
func (a *Addon) SetSettings(ctx context.Context, actor people.Actor, revision int64, changes map[string]string) (Settings, error) {
	return Settings{}, errNotBuilt
}

// SetSettingsJSON is SetSettings with JSON values: a string where a setting is
// text, a boolean, a string or a number where it is a switch, an object or its
// text for the product map and the service account. null is left as it is.
func (a *Addon) SetSettingsJSON(ctx context.Context, actor people.Actor, revision int64, changes map[string]json.RawMessage) (Settings, error) {
	return Settings{}, errNotBuilt
}
