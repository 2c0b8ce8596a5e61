package pages

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// dashboard is what the start page shows.
type dashboard struct {
	alerts   []shownAlert
	tasks    []setup.Task
	plan     setup.Plan
	settings settings.Draft
	requests addon.Requests
	license  licensePage
	view     *iap.Published
	recent   []people.AuditLine
	// app and iap are the public addresses.
	app, iap string
}

func (p *Pages) showDashboard(w http.ResponseWriter, r *frame.Request) error {
	ctx := r.Context()
	d := dashboard{app: p.address(w, r, addressSettings), iap: p.address(w, r, addressIAP), license: licensePage{host: p.host(w, r)}}
	var err error
	if d.tasks, err = p.addon.Setup.Checklist(ctx, r.Actor); err != nil {
		return err
	}
	if d.alerts, err = p.alerts(r); err != nil {
		return err
	}
	if d.plan, err = p.addon.Setup.Plan(ctx, r.Actor); err != nil {
		return err
	}
	if d.settings, err = p.addon.Settings.Draft(ctx, r.Actor); err != nil {
		return err
	}
	if d.requests, err = p.addon.Requests(ctx, r.Actor); err != nil {
		return err
	}
	if d.license.known, err = p.addon.Licenses.List(ctx, r.Actor); err != nil {
		return err
	}
	if d.view, err = p.addon.IAP.Published(ctx); err != nil {
		return err
	}
	if d.recent, err = p.addon.Instance.People.Audit(ctx, r.Actor, people.AuditFilter{Limit: 5}); err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{Title: "Dashboard", Action: d.main(), Body: dashboardView(d), Lead: d.lead()})
}

// next is the first task that is not done, nil when all are.
func (d dashboard) next() *setup.Task {
	for i := range d.tasks {
		if !d.tasks[i].Done {
			return &d.tasks[i]
		}
	}
	return nil
}

func (d dashboard) lead() string {
	if d.next() == nil {
		return "All steps are complete. Your app reads its settings from this addon."
	}
	return "Complete these steps so that your app works."
}

// main is the button that leads to the first step that is not done.
func (d dashboard) main() frame.LinkButton {
	link := frame.Link{Label: "Change app settings", Path: PathAppSettings}
	if next := d.next(); next != nil {
		link = taskLink(next.ID)
	} else if len(d.settings.Changes) > 0 {
		link = frame.Link{Label: "Review and publish", Path: PathAppSettings + "/publish"}
	}
	return frame.LinkButton{Link: link, Kind: frame.Primary}
}

// taskLink leads to where a task is done.
func taskLink(id string) frame.Link {
	switch id {
	case "credentials":
		return frame.Link{Label: "Activate API credentials", Path: PathCredentials}
	case "settings":
		return frame.Link{Label: "Fill in app settings", Path: PathAppSettings}
	case "iap":
		return frame.Link{Label: "Set up purchases", Path: pathIAP}
	case "license":
		return frame.Link{Label: "Create the license file", Path: pathLicense}
	}
	return frame.Link{Label: "Run the update", Path: PathUpdate}
}

// taskRows is the checklist.
func (d dashboard) taskRows() (list frame.Checklist) {
	for _, t := range d.tasks {
		c := frame.Check{Kind: frame.Good, Title: t.Text, Text: t.Hint}
		if !t.Done {
			c.Kind, c.Action = frame.Plain, taskLink(t.ID)
			if t.ID == "update" || t.ID == "credentials" {
				c.Kind = frame.Danger // without it nothing works
			}
		}
		if t.Declined {
			c.Title, c.Text = "You don't sell in the app", "You can change this on the page “In-app purchases”."
		}
		list = append(list, c)
	}
	return list
}

// asksIAP reports whether the checklist asks for in-app purchases.
func (d dashboard) asksIAP() bool {
	return slices.ContainsFunc(d.tasks, func(t setup.Task) bool { return t.ID == "iap" && !t.Done })
}

// recentRows is the last lines of the audit log.
func recentRows(lines []people.AuditLine) (rows []frame.Row) {
	for _, l := range lines {
		rows = append(rows, frame.Row{frame.AuditLog{Words: acts}.Act(l), frame.Words(frame.Who(l.Kind, l.Actor)), frame.Time(l.At)})
	}
	return rows
}

// figures are the facts that the dashboard leads with.
func (d dashboard) figures() frame.Figures {
	return frame.Figures{d.receiving(), d.waiting(), d.requestsFigure(), d.selling(), d.licensed(), d.updated()}
}

func (d dashboard) receiving() frame.Figure {
	v := d.settings.Published
	return frame.Figure{Label: "Your app receives", Value: "Version " + strconv.FormatInt(v.Number, 10), Note: "Published " + frame.Moment(v.At) + " by " + frame.Who(v.ActorKind, v.Actor)}
}

func (d dashboard) waiting() frame.Figure {
	if n := len(d.settings.Changes); n > 0 {
		return frame.Figure{Label: "Not published", Value: frame.Count(n, "change"), Note: "Apps receive them when you publish."}
	}
	return frame.Figure{Label: "Not published", Value: "Nothing", Note: "The draft is published."}
}

func (d dashboard) requestsFigure() frame.Figure {
	f := frame.Figure{Label: "Requests from apps in 24\u00a0h", Value: frame.Thousands(d.requests.Total())}
	if d.requests.Total() == 0 {
		f.Note = "No requests yet. Build your app with the settings URL below."
		return f
	}
	f.Note = frame.Thousands(d.requests.Settings) + " for the app settings, " + frame.Thousands(d.requests.IAP) + " for in-app purchases."
	return f
}

func (d dashboard) selling() frame.Figure {
	f := frame.Figure{Label: "In-app purchases", Value: "Off", Note: "The app offers no memberships."}
	switch {
	case !d.view.Config.Enabled:
	case d.view.Config.SandboxEnabled:
		f.Value, f.Note = "Test mode", "The simulated store answers. Apps receive the configuration marked as test mode."
	case d.view.Config.Platforms.Store.Enabled:
		f.Value, f.Note = "On", frame.Count(packagesOnSale(d.view.Config), "package")+" on sale."
	default:
		f.Value, f.Note = "Not complete", "Turned on, but settings are missing."
	}
	return f
}

// licensed is how the license file stands, as far as the addon knows.
func (d dashboard) licensed() frame.Figure {
	f := frame.Figure{Label: "License file", Value: "Not created", Note: "An app does not start without one."}
	if len(d.license.known.Files) == 0 {
		return f
	}
	if domains := d.license.misfits(); len(domains) > 0 {
		f.Value, f.Note = "Another domain", "For "+strings.Join(domains, ", ")+"; this addon is reached at "+d.license.host+"."
		return f
	}
	for _, l := range d.license.known.Files {
		if l.Good() && l.Opens(d.license.host) {
			f.Value, f.Note = licenseBadge(l).Text, "For "+l.Domain+". "+answered(l)
			return f
		}
	}
	f.Value, f.Note = "No longer valid", answered(d.license.known.Files[0])
	return f
}

// answered is what the store said last of a license.
func answered(l license.License) string {
	switch {
	case !l.MovedAt.IsZero():
		return "Moved to another domain on " + frame.Moment(l.MovedAt) + "."
	case l.CheckedAt.IsZero():
		return "Created on " + frame.Moment(l.MadeAt) + "."
	}
	return "On " + frame.Moment(l.CheckedAt) + " the store said: " + answerWords(l.Answer) + "."
}

// updated returns which version runs and whether its update does.
func (d dashboard) updated() frame.Figure {
	f := frame.Figure{Label: "Addon", Value: "Up to date", Note: "Version " + d.plan.Version + "."}
	if !d.plan.Nothing {
		f.Value, f.Note = "Update available", "Version "+d.plan.Version+" has "+frame.Count(len(d.plan.Steps), "step")+" to run."
	}
	return f
}

// packagesOnSale counts the packages that a product activates.
func packagesOnSale(c countersign.IAPConfig) int {
	sold := map[int64]bool{}
	for _, p := range c.Products {
		sold[p.Package.ID] = true
	}
	for _, p := range c.OneTimeProducts {
		sold[p.Package.ID] = true
	}
	return len(sold)
}
