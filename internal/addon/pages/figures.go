package pages

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/frame"
)

// figures are the facts that the dashboard leads with.
func (d dashboard) figures() frame.Figures {
	return frame.Figures{d.receiving(), d.waiting(), d.asking(), d.selling(), d.licensed(), d.updated()}
}

func (d dashboard) receiving() frame.Figure {
	v := d.settings.Published
	return frame.Figure{Label: "Your app receives", Value: "Version " + strconv.FormatInt(v.Number, 10), Note: "Published " + moment(v.At) + " by " + who(v.ActorKind, v.Actor)}
}

func (d dashboard) waiting() frame.Figure {
	if n := len(d.settings.Changes); n > 0 {
		return frame.Figure{Label: "Waiting to be published", Value: count(n, "change"), Note: "Apps receive them when you publish."}
	}
	return frame.Figure{Label: "Waiting to be published", Value: "Nothing", Note: "The draft is what apps receive."}
}

func (d dashboard) asking() frame.Figure {
	f := frame.Figure{Label: "Requests from apps in 24\u00a0h", Value: thousands(d.requests.Total())}
	if d.requests.Total() == 0 {
		f.Note = "No app has asked. It does when it is built with the first address below and starts."
		return f
	}
	f.Note = thousands(d.requests.Settings) + " for the app settings, " + thousands(d.requests.IAP) + " for in-app purchases."
	return f
}

func (d dashboard) selling() frame.Figure {
	f := frame.Figure{Label: "In-app purchases", Value: "Off", Note: "Apps sell nothing."}
	switch {
	case !d.view.Config.Enabled:
	case d.view.Config.SandboxEnabled:
		f.Value, f.Note = "Test mode", "The simulated store answers; nobody pays."
	case d.view.Config.Platforms.Store.Enabled:
		f.Value, f.Note = "On", count(len(d.view.Config.Products), "package")+" on sale."
	default:
		f.Value, f.Note = "Not complete", "Switched on, but something is missing."
	}
	return f
}

// licensed is how the license file stands, as far as the addon knows.
func (d dashboard) licensed() frame.Figure {
	f := frame.Figure{Label: "License file", Value: "Not made", Note: "An app does not start without one."}
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
	f.Value, f.Note = "Not good any more", answered(d.license.known.Files[0])
	return f
}

// answered is what the store said last of a license.
func answered(l addon.License) string {
	switch {
	case !l.MovedAt.IsZero():
		return "Moved to another domain on " + day(l.MovedAt) + "."
	case l.CheckedAt.IsZero():
		return "Made on " + day(l.MadeAt) + "."
	}
	return "On " + day(l.CheckedAt) + " the store said: " + answerWords(l.Answer) + "."
}

// updated says which version runs and whether its update does.
func (d dashboard) updated() frame.Figure {
	f := frame.Figure{Label: "Addon", Value: "Up to date", Note: "Version " + d.plan.Version + "."}
	if !d.plan.Nothing {
		f.Value, f.Note = "Update waiting", "Version "+d.plan.Version+" has "+count(len(d.plan.Steps), "step")+" to run."
	}
	return f
}
