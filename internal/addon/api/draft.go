package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// draft is the settings as programs see them: what is being prepared, what apps
// are served, and what is known about each key.
type draft struct {
	// Revision must be sent with a change, so that a concurrent change is not
	// overwritten.
	Revision int64              `json:"revision"`
	Version  version            `json:"version"`
	Changed  int                `json:"changed"`
	Draft    flat               `json:"draft"`
	Served   flat               `json:"published"`
	Settings []description      `json:"settings"`
	Problems []settings.Problem `json:"problems"`
}

// description is what is known about a setting, apart from its values.
type description struct {
	settings.Setting
	// About says of a secret what may be known of it; "" when it is not set.
	About string `json:"about,omitempty"`
}

// version is a state of the settings that was published.
type version struct {
	Number   int64  `json:"number"`
	At       string `json:"published_at"`
	By       string `json:"published_by"`
	Note     string `json:"note"`
	Restored int64  `json:"restored,omitempty"`
}

// flat is a flat JSON object whose members keep their order.
type flat []member

type member struct {
	key   string
	value json.RawMessage
}

// MarshalJSON prints the members in their order.
func (f flat) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range f {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = countersign.AppendJSON(b, m.key); err != nil {
			return nil, err
		}
		b = append(append(b, ':'), m.value...)
	}
	return append(b, '}'), nil
}

// getDraft answers GET /api-addons/admin/app/settings.
func (f *frontEnd) getDraft(w http.ResponseWriter, r *http.Request) error {
	actor, err := f.authenticate(w, r, nil)
	if err != nil {
		return err
	}
	settings, err := f.addon.Settings.Draft(r.Context(), actor)
	if err != nil {
		return err
	}
	h := w.Header()
	h["Etag"], h["Cache-Control"] = []string{tagOf(settings.Revision)}, notKept
	return web.OK(w, r, "data", draftOf(settings, settings.Problems))
}

// notKept is for an answer whose ETag stands for a part of it: it is for If-Match
// alone.
var notKept = []string{"private, no-cache"}

// changeDraft answers POST /api-addons/admin/app/settings: all changes or none.
func (f *frontEnd) changeDraft(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Revision           *int64                    `json:"revision"`
		Settings           map[string]jsontext.Value `json:"settings"`
		AllowSecretLooking bool                      `json:"allow_secret_looking"`
	}
	actor, err := f.authenticate(w, r, &in)
	if err != nil {
		return err
	}
	revision, err := seen(r, in.Revision)
	if err != nil {
		return err
	}
	if len(in.Settings) == 0 {
		return badBody(`Nothing to change. Send {"settings":{"appName":"…"}}`, nil)
	}
	changes := make(map[string]json.RawMessage, len(in.Settings))
	for key, value := range in.Settings {
		changes[key] = json.RawMessage(value)
	}
	edit := settings.Edit{Revision: revision, AllowSecretLooking: in.AllowSecretLooking}
	settings, err := f.addon.Settings.SetJSON(r.Context(), actor, edit, changes)
	if err != nil {
		return withBoth(err, settings, changes)
	}
	return web.OK(w, r, "data", draftOf(settings, settings.Problems))
}

// withBoth adds to the error of a change to an earlier draft what it is now
// and what was to be changed.
func withBoth(err error, now settings.Draft, changes map[string]json.RawMessage) error {
	apiErr := fault.Of(err)
	if apiErr == nil || apiErr.Kind != countersign.KindPrecondition || now.Revision == 0 {
		return err
	}
	changes = maps.Clone(changes)
	for _, s := range now.List {
		if _, sent := changes[s.Key]; sent && s.Secret {
			changes[s.Key] = json.RawMessage("null")
		}
	}
	refused := *apiErr
	refused.Data = struct {
		Current draft                      `json:"current"`
		Yours   map[string]json.RawMessage `json:"yours"`
	}{draftOf(now, nil), changes}
	return &refused
}

func draftOf(s settings.Draft, problems []settings.Problem) draft {
	d := draft{Revision: s.Revision, Version: versionOf(s.Published), Changed: len(s.Changes), Problems: append([]settings.Problem{}, problems...)}
	for _, one := range s.List {
		d.Draft = append(d.Draft, member{one.Key, one.JSON()})
		d.Served = append(d.Served, member{one.Key, servedJSON(one)})
		about := ""
		if one.Secret {
			about = one.Value
		}
		d.Settings = append(d.Settings, description{one, about})
	}
	return d
}

// servedJSON is the published value; null for a key that is not published yet.
func servedJSON(s settings.Setting) json.RawMessage {
	if s.Value = s.Published; s.Published == "" && s.Type != settings.TypeText {
		return json.RawMessage("null")
	}
	return s.JSON()
}

func versionOf(v settings.Version) version {
	return version{Number: v.Number, At: v.At.UTC().Format(time.RFC3339), By: v.Actor, Note: v.Note, Restored: v.Restored}
}
