package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// review is what the page before a publish shows.
type review struct {
	form
	saved    settings.Draft
	errors   []settings.Problem
	warnings []settings.Problem
	note     string
	errs     frame.Errors
	// stale reports that the draft changed since the page was shown.
	stale bool
}

func (p *Pages) readReview(r *frame.Request, f form) (review, error) {
	v := review{form: f}
	var err error
	if v.saved, err = p.addon.Settings.Draft(r.Context(), r.Actor); err != nil {
		return v, err
	}
	for _, one := range v.saved.Problems {
		if one.Severity == settings.SeverityError {
			v.errors = append(v.errors, one)
		} else {
			v.warnings = append(v.warnings, one)
		}
	}
	return v, nil
}

func (p *Pages) publishPage(v review) frame.Page {
	page := frame.Page{Title: "Review and publish", Crumbs: crumbs(v.crumb()), Body: reviewView(v)}
	if len(v.saved.Changes) > 0 {
		page.Lead = fmt.Sprintf("%s to version %d, which apps receive now. App settings and in-app purchases are published together.",
			frame.Count(len(v.saved.Changes), "change"), v.saved.Published.Number)
	}
	return page
}

func (p *Pages) showPublish(f form) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		v, err := p.readReview(r, f)
		if err != nil {
			return err
		}
		return p.frame.Show(w, r, p.publishPage(v))
	}
}

func (p *Pages) publish(f form) frame.Handler {
	return func(w http.ResponseWriter, r *frame.Request) error {
		stale := false
		return p.frame.Submit(w, r, frame.Form{
			Do: func(in url.Values) error { return p.publishDraft(w, r, f, in) },
			Explain: func(refused error) (frame.Errors, bool) {
				stale = fault.HasKind(refused, countersign.KindPrecondition)
				return frame.FormErrors(refused, "note", confirmName)
			},
			Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
				v, err := p.readReview(r, f)
				v.note, v.stale, v.errs = in.Get("note"), stale, wrong
				if wrong.Of("note") == "" && wrong.Of(confirmName) == "" && len(v.errors) > 0 { // the page lists them, each with the way to its field
					v.errs = frame.Errors{{Text: "The draft has errors that block publishing. They are listed above."}}
				}
				return p.publishPage(v), err
			},
		})
	}
}

func (p *Pages) publishDraft(w http.ResponseWriter, r *frame.Request, f form, in url.Values) error {
	seen, err := revision(in)
	if err != nil {
		return err
	}
	draft, err := p.addon.Settings.Draft(r.Context(), r.Actor)
	if err == nil {
		err = confirmed(in, draft.Problems)
	}
	if err != nil {
		return err
	}
	done, err := p.addon.Settings.Publish(r.Context(), r.Actor, seen, in.Get("note"))
	if err != nil {
		return err
	}
	if done.Nothing {
		return p.frame.Warn(w, r, f.path, "Nothing to publish: these values are already published.")
	}
	return p.frame.Redirect(w, r, versionPath(done.Version.Number), fmt.Sprintf("Version %d is published. Apps receive it from now on.", done.Version.Number))
}

// confirmName is the name of the switch that confirms what a publish changes for members.
const confirmName = "confirm"

// asks reports whether the switch has to be on.
func asks(problems []settings.Problem) bool {
	return slices.ContainsFunc(problems, settings.Problem.Asks)
}

// confirmed returns an error for a form whose switch has to be on and is not.
func confirmed(in url.Values, problems []settings.Problem) error {
	if !asks(problems) || in.Get(confirmName) == "1" {
		return nil
	}
	return fault.WithFields(fault.Invalid("confirmation_missing", "Confirm what changes for members"), map[string]string{confirmName: "Confirm it."})
}

// problemRows lists problems with the way to where they are repaired.
func problemRows(problems []settings.Problem, kind frame.Kind) (list frame.Checklist) {
	for _, one := range problems {
		list = append(list, frame.Check{Kind: kind, Title: frame.Sentence(one.Text), Action: repairLink(one.Command())})
	}
	return list
}

func versionPath(n int64) string { return pathHistory + "/" + strconv.FormatInt(n, 10) }
