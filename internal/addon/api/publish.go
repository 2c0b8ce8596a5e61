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
	// Nothing reports that the draft was what is served already.
	Nothing  bool               `json:"nothing"`
	Version  version            `json:"version"`
	Changes  []settings.Change  `json:"changes"`
	Warnings []settings.Problem `json:"warnings"`
}

// publishDraft answers POST /api-addons/admin/app/settings/publish.
func (f *frontEnd) publishDraft(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Revision *int64 `json:"revision"`
		Note     string `json:"note"`
	}
	actor, err := f.authenticate(w, r, &in)
	if err != nil {
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
		Nothing: p.Nothing, Version: versionOf(p.Version), Changes: append([]settings.Change{}, p.Changes...), Warnings: append([]settings.Problem{}, p.Warnings...),
	})
}
