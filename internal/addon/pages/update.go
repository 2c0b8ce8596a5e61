package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/people"
)

// visitor is somebody who may see and run the update.
type visitor struct {
	setup.TokenHolder
	// token is the set-up link or the update token that was shown, "" for
	// somebody who is signed in.
	token string
}

func (v visitor) signedIn() bool { return v.Actor.Kind == people.KindUser }

// visitorOf finds out who asks: a session, the header X-Update-Token, or a token
// that was pasted.
func (p *Pages) visitorOf(r *frame.Request, pasted string) (visitor, error) {
	if r.User.ID != 0 {
		return visitor{TokenHolder: setup.TokenHolder{Actor: r.Actor}}, nil
	}
	v := visitor{token: cmp.Or(frame.TokenOf(pasted), r.Header.Get("X-Update-Token"))}
	if v.token == "" {
		return v, errNobody
	}
	var err error
	v.TokenHolder, err = p.addon.Setup.TokenHolder(r.Context(), v.token, people.FrontEndPage, r.From.Addr)
	return v, err
}

var errNobody = fault.Forbidden("update_token", "Sign-in needed for the update")

// updatePage is the page's frame: with the menu for somebody who is signed in.
func updatePage(v visitor, title, lead string) frame.Page {
	return frame.Page{Title: title, Lead: lead, Bare: !v.signedIn(), Wide: true}
}

// askForToken answers somebody who may not see the update. It says nothing about
// the installation.
func (p *Pages) askForToken(w http.ResponseWriter, r *frame.Request, refused error) error {
	apiErr := fault.Of(p.frame.WithNextStep(refused))
	if apiErr == nil || apiErr.Kind.Status() >= http.StatusInternalServerError {
		return refused
	}
	var errs frame.Errors
	if refused != error(errNobody) {
		errs = frame.Errors{{Name: "token", Text: frame.Sentence(apiErr.Message)}}
	}
	page := updatePage(visitor{}, "Update", "Prove that you own this server.")
	page.Status, page.Body, page.Scripts = http.StatusForbidden, askView(errs), []string{"link.js"}
	w.Header().Set("X-Error-Code", apiErr.Code)
	return p.frame.Show(w, r, page)
}

// showUpdate shows what an update would do. It changes nothing.
func (p *Pages) showUpdate(w http.ResponseWriter, r *frame.Request) error {
	v, err := p.visitorOf(r, "")
	if err != nil {
		return p.askForToken(w, r, err)
	}
	return p.showPlan(w, r, v)
}

// planned is what the page of the plan shows.
type planned struct {
	visitor
	plan         setup.Plan
	requirements []health.Finding
}

func (p *Pages) showPlan(w http.ResponseWriter, r *frame.Request, v visitor) error {
	plan, err := p.addon.Setup.Plan(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	page := updatePage(v, "Update", "Registers the settings of this version. You can run it at any time.")
	page.Body = planView(planned{v, plan, requirements(p.addon.Health(r.Context()))})
	return p.frame.Show(w, r, page)
}

// requirements are the findings that an update depends on.
func requirements(all []health.Finding) (list []health.Finding) {
	for _, f := range all {
		switch f.Name {
		case "data folder", "disk", "database":
			list = append(list, f)
		}
	}
	return list
}

// ran is what an update did.
type ran struct {
	visitor
	setup.Report
	done []setup.Step
	// failed explains why it stopped, "" when it did not.
	failed string
}

// runUpdate runs the update; with do=plan it shows the plan after a token was entered.
// The response is the report: reloading it finds nothing to do. The update continues if
// the browser disconnects.
func (p *Pages) runUpdate(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	v, err := p.visitorOf(r, in.Get("token"))
	if err != nil {
		return p.askForToken(w, r, err)
	}
	if in.Get("do") == "plan" {
		return p.showPlan(w, r, v)
	}
	if v.Once {
		if err := p.addon.Setup.UseWebToken(r.Context(), v.token); err != nil {
			return p.askForToken(w, r, err)
		}
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // without it, a slow update loses its answer at worst
	result := ran{visitor: v}
	result.Report, err = p.addon.Setup.Update(context.WithoutCancel(r.Context()), v.Actor, func(s setup.Step) { result.done = append(result.done, s) })
	page := updatePage(v, "Update", "")
	if err != nil {
		if page.Status, result.failed, err = p.whyFailed(err); err != nil {
			return err
		}
	}
	page.Body = ranView(result)
	return p.frame.Show(w, r, page)
}

// whyFailed is the status and the words for an update that stopped. The cause goes
// to the log, and the words name the log when they don't have the cause themselves.
func (p *Pages) whyFailed(failed error) (status int, text string, err error) {
	apiErr := fault.Of(failed)
	if apiErr == nil {
		return 0, "", failed
	}
	if cause := errors.Unwrap(apiErr); cause != nil {
		p.frame.Log.Error("the update stopped", slog.String("code", apiErr.Code), slog.Any("cause", cause))
	}
	return apiErr.Kind.Status(), frame.Sentence(fault.Message(failedSteps.Add(apiErr))), nil
}

// failedSteps is what to do about an update that stopped. This page has just written the log.
var failedSteps = fault.NextSteps{setup.CodeUpdateFailed: "the server's log has the cause"}

// stepRows lists steps, with those that are done ticked.
func stepRows(steps []setup.Step, done []setup.Step, failed bool) (list frame.Checklist) {
	ticked := map[string]bool{}
	for _, s := range done {
		ticked[s.ID] = true
	}
	for _, s := range steps {
		c := frame.Check{Title: s.Text}
		switch {
		case ticked[s.ID]:
			c.Kind = frame.Good
		case failed:
			c.Kind, failed = frame.Danger, false
		}
		list = append(list, c)
	}
	return list
}

// report is the run as text, to be sent to somebody who helps.
func (v ran) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "countersign addon update, version %s\n", v.Version)
	for _, s := range v.done {
		fmt.Fprintf(&b, "done: %s\n", s.Text)
	}
	if v.Backup != "" {
		fmt.Fprintf(&b, "backup: %s\n", v.Backup)
	}
	fmt.Fprintf(&b, "stopped: %s\n", v.failed)
	return b.String()
}
