package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// grantID is the number of a grant as the address has it.
func grantID(g membership.Grant) string { return strconv.FormatInt(g.ID, 10) }

// nameOf is a package's name, or its id when it was removed.
func nameOf(all []iap.Package, id int64) string {
	i := slices.IndexFunc(all, func(k iap.Package) bool { return k.ID == id })
	if i < 0 {
		return "Package " + strconv.FormatInt(id, 10) + " (removed)"
	}
	return all[i].Name
}

func grantEnded(g membership.Grant, now time.Time) bool {
	return !g.EndedAt.IsZero() || !g.EndsAt.IsZero() && !now.Before(g.EndsAt)
}

func grantBadge(g membership.Grant, now time.Time) frame.Badge {
	switch {
	case !g.EndedAt.IsZero():
		return frame.Badge{Text: "Ended early"}
	case grantEnded(g, now):
		return frame.Badge{Text: "Expired"}
	}
	return frame.Badge{Text: "Active", Kind: frame.Good}
}

// grantEnd is when a grant ends, or was ended, and by whom.
func grantEnd(g membership.Grant) templ.Component {
	switch {
	case !g.EndedAt.IsZero():
		return frame.Stack(frame.Time(g.EndedAt), frame.Muted(g.EndedBy))
	case g.EndsAt.IsZero():
		return frame.Words("No end")
	}
	return frame.Time(g.EndsAt)
}

// addGrant asks for what a user is to be granted.
func (p *Pages) addGrant(w http.ResponseWriter, r *frame.Request, c membership.Customer) error {
	packages, err := p.addon.IAP.Packages(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	if len(packages) == 0 && r.Method != http.MethodPost {
		return p.frame.Redirect(w, r, pathPackages, "Add a package first. A grant activates one.")
	}
	var choices []frame.Choice
	for _, one := range packages {
		choices = append(choices, frame.Choice{Value: strconv.FormatInt(one.ID, 10), Label: one.Name})
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Grant a membership to " + c.User, Crumbs: customerCrumbs(c.User), Safe: true, Failed: "Nothing was granted.",
		Consequence: "The user " + c.User + " gets the package at once and pays nothing. A purchase of this user continues: the package with the higher rank counts. If the membership changes, the site gets an event.",
		Path:        customerPath(c.User, "/grant"), Label: "Grant the membership", Cancel: customerPath(c.User, ""),
		Fields: []frame.Field{
			{Name: "package", Label: "Package", Kind: frame.Select, Choices: choices},
			{Name: "until", Label: "Last day", Kind: frame.Date, Help: "The membership ends after this day, in UTC. Leave it empty for no end."},
			{Name: "reason", Label: "Reason", Required: true, Help: "For the audit log and for other administrators. The user does not see it.", Example: "Prize of the summer contest"},
		},
		Form: frame.Form{
			Fields: []string{"package", "until", "reason"},
			Check:  checkGrant,
			Rules: []frame.Rule{func(in url.Values) error {
				_, until, _ := grantOf(in)
				return p.addon.Members.CheckGrant(until, in.Get("reason"))
			}},
			Do: func(in url.Values) error {
				id, until, _ := grantOf(in)
				if _, err := p.addon.Members.AddGrant(r.Context(), r.Actor, c.User, id, until, in.Get("reason")); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, customerPath(c.User, ""), "The package “"+nameOf(packages, id)+"” was granted to "+c.User+".")
			},
			About: map[string]string{"package_not_found": "package"},
		},
	})
}

// grantOf reads the form of a grant. The end is that of the last day.
func grantOf(in url.Values) (id int64, until time.Time, wrong frame.Errors) {
	id, err := strconv.ParseInt(in.Get("package"), 10, 64)
	if err != nil {
		wrong = append(wrong, frame.FieldError{Name: "package", Text: "Choose a package from the list."})
	}
	text := strings.TrimSpace(in.Get("until"))
	if text == "" {
		return id, until, wrong
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return id, until, append(wrong, frame.FieldError{Name: "until", Text: "Choose a day, or write it as 2027-01-31."})
	}
	return id, day.AddDate(0, 0, 1), wrong
}

func checkGrant(in url.Values) frame.Errors {
	_, _, wrong := grantOf(in)
	return append(wrong, frame.Required("reason", "Type a reason.")(in)...)
}

// userGrant is a grant and its user.
type userGrant struct {
	membership.Grant
	name string // of its package
}

// findGrant finds the grant that the address names.
func (p *Pages) findGrant(r *frame.Request) (g userGrant, err error) {
	id, err := number(r, "id")
	if err != nil {
		return g, err
	}
	all, err := p.addon.Members.Grants(r.Context(), r.Actor, r.PathValue("user"))
	if err != nil {
		return g, err
	}
	i := slices.IndexFunc(all, func(one membership.Grant) bool { return one.ID == id })
	if i < 0 {
		return g, fault.NotFound("not_found", "No such grant")
	}
	packages, err := p.addon.IAP.Packages(r.Context(), r.Actor)
	return userGrant{all[i], nameOf(packages, all[i].Package)}, err
}

// endGrant asks before a grant is revoked.
func (p *Pages) endGrant(w http.ResponseWriter, r *frame.Request, g userGrant) error {
	path := customerPath(g.User, "")
	if grantEnded(g.Grant, p.frame.Now()) {
		return p.frame.Redirect(w, r, path, "This grant has ended.")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Revoke the grant of " + g.name, Crumbs: customerCrumbs(g.User),
		Consequence: "The package “" + g.name + "” that was granted to " + g.User + " ends now. What the user bought continues. If the membership changes, the site gets an event.",
		Path:        path + "/grants/" + grantID(g.Grant) + "/end", Label: "Revoke the grant", Cancel: path,
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Members.EndGrant(r.Context(), r.Actor, g.User, g.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, path, "The grant of “"+g.name+"” was revoked.")
		}},
	})
}
