package api

import (
	"net/http"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/web"
)

// publication is the result of a publish.
type publication struct {
	// Nothing tells that the draft was what is served already.
	Nothing  bool      `json:"nothing"`
	Version  version   `json:"version"`
	Changes  []change  `json:"changes"`
	Warnings []problem `json:"warnings"`
}

// change is a setting that differs; of a secret, Before and After are sentences.
type change struct {
	Key     string `json:"key"`
	Label   string `json:"label"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Added   bool   `json:"added"`
	Removed bool   `json:"removed"`
}

// publishDraft answers POST /api-addons/admin/app/settings/publish.
func (f *face) publishDraft(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	actor, err := f.authenticated(w, r, body)
	if err != nil {
		return err
	}
	var in struct {
		Revision *int64 `json:"revision"`
		Note     string `json:"note"`
	}
	if err := decode(r, body, &in); err != nil {
		return err
	}
	revision, err := seen(r, in.Revision)
	if err != nil {
		return err
	}
	p, err := f.addon.Settings.Publish(r.Context(), actor, revision, in.Note)
	if fault.HasKind(err, countersign.KindPrecondition) {
		now, readErr := f.addon.Settings.Draft(r.Context(), actor)
		if readErr != nil {
			return readErr
		}
		return withBoth(err, now, nil)
	}
	if err != nil {
		return err
	}
	return web.OK(w, r, "data", publication{
		Nothing: p.Nothing, Version: versionOf(p.Version), Changes: changesOf(p.Changes), Warnings: problemsOf(p.Warnings),
	})
}

func changesOf(list []settings.Change) []change {
	out := make([]change, len(list))
	for i, c := range list {
		out[i] = change{c.Key, c.Label, c.Before, c.After, c.Added, c.Removed}
	}
	return out
}
