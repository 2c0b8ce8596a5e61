package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
)

// auditNouns are what the log can be narrowed to.
var auditNouns = []frame.Choice{
	{Label: "Everything"},
	{Value: "settings", Label: "Settings and publishing"},
	{Value: "iap", Label: "In-app purchases"},
	{Value: "package", Label: "Packages"},
	{Value: "credential", Label: "API credentials"},
	{Value: "license", Label: "License files"},
	{Value: "store", Label: "Store of the licenses"},
	{Value: "addon", Label: "Updates"},
	{Value: "update_token", Label: "Tokens for the update"},
	{Value: "user", Label: "Sign-in and users"},
	{Value: "session", Label: "Sessions"},
	{Value: "password", Label: "Passwords"},
	{Value: "totp", Label: "Two-step sign-in"},
	{Value: "recovery_codes", Label: "Recovery codes"},
	{Value: "audit", Label: "The audit log itself"},
	{Value: "setup_link", Label: "Set-up links"},
	{Value: "sign_in_link", Label: "Sign-in links"},
}

// acts says in words what the actions of the log are.
var acts = map[people.Action]string{
	"settings.set": "Changed a setting in the draft", "settings.add": "Added a key to the draft", "settings.remove": "Removed a key from the draft",
	"settings.discard": "Discarded a change of the draft", "settings.publish": "Published the settings", "settings.rollback": "Restored a version",
	"iap.decline": "Turned in-app purchases off in the checklist", "iap.accept": "Turned in-app purchases on in the checklist",
	"package.add": "Added a package", "package.update": "Changed a package", "package.remove": "Removed a package",
	"credential.create": "Created API credentials", "credential.reveal": "Revealed API credentials", "credential.rotate": "Rotated API credentials",
	"credential.activate": "Activated API credentials", "credential.deactivate": "Deactivated API credentials",
	"credential.rename": "Renamed API credentials", "credential.delete": "Deleted API credentials", "credential.dismiss": "Dismissed the warning about API credentials",
	"store.set": "Changed the license store's address", "license.make": "Created a license file", "license.move": "Moved a license to another domain", "license.check": "Verified a license with the store",
	"license.revoke": "Revoked a license", "license.forget": "Removed a license file from the list", "license.forget_code": "Deleted a purchase code",
	"addon.update": "Ran the update", "addon.accept_loss": "Accepted missing commits", "addon.rekey": "Created a new key file", "update_token.create": "Created a token for the update page", "user.create": "Created an administrator", "user.invite": "Invited an administrator", "user.rename": "Changed an administrator's e-mail",
	"user.deactivate": "Deactivated an administrator", "user.activate": "Activated an administrator", "user.remove": "Removed an administrator",
	"user.sign_in": "Signed in", "user.refuse_code": "Wrong code at sign-in",
	"user.refuse_sign_in": "Failed sign-ins",
	"session.end":         "Ended a session", "session.end_others": "Ended all other sessions", "password.change": "Changed the password", "password.reset": "Reset a password",
	"totp.enable": "Turned on two-step sign-in", "totp.disable": "Turned off two-step sign-in", "recovery_codes.replace": "Created new recovery codes",
	"audit.prune": "Pruned the audit log", "setup_link.create": "Created a set-up link", "sign_in_link.create": "Created a sign-in link",
}

// auditPage is what the page of the log shows.
type auditPage struct {
	lines  []people.AuditLine
	filter people.AuditFilter
	pager  frame.Pager
}

// narrowed reports whether the log is filtered.
func (a auditPage) narrowed() bool { return a.filter.Action != "" || a.filter.Actor != "" }

func (p *Pages) showAudit(w http.ResponseWriter, r *frame.Request) error {
	a := auditPage{filter: auditFilter(r)}
	a.filter.Before, a.filter.Limit = before(r), perPage
	var err error
	if a.lines, err = p.addon.People().Audit(r.Context(), r.Actor, a.filter); err != nil {
		return err
	}
	place, err := p.addon.People().AuditPlace(r.Context(), r.Actor, a.filter)
	if err != nil {
		return err
	}
	if place.Newer > 0 {
		a.pager.Newer = a.path(pathAudit, place.Before)
	}
	last := place.Newer + int64(len(a.lines))
	if last < place.All && len(a.lines) > 0 {
		a.pager.Older = a.path(pathAudit, a.lines[len(a.lines)-1].ID)
	}
	a.pager.Text = span("Entries", place.Newer+1, last, place.All)
	return p.frame.Show(w, r, frame.Page{
		Title: "Audit log", Crumbs: crumbs(), Body: auditView(a), Lead: "All changes by pages, command line and API: who, what, when and from where.",
	})
}

// auditFilter reads what the log is to be narrowed to.
func auditFilter(r *frame.Request) people.AuditFilter {
	q := r.URL.Query()
	return people.AuditFilter{Action: strings.TrimSpace(q.Get("about")), Actor: strings.TrimSpace(q.Get("who"))}
}

// path is the log at an address from a line on, with the same filter.
func (a auditPage) path(address string, before int64) string {
	q := url.Values{}
	if a.filter.Action != "" {
		q.Set("about", a.filter.Action)
	}
	if a.filter.Actor != "" {
		q.Set("who", a.filter.Actor)
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if len(q) == 0 {
		return address
	}
	return address + "?" + q.Encode()
}

// auditRows is the table of the log.
func auditRows(lines []people.AuditLine) (rows []frame.Row) {
	for _, l := range lines {
		from := through(l.Face)
		if l.Address != "" {
			from += ", " + l.Address
		}
		rows = append(rows, frame.Row{
			act(l), changeView(l.Before, l.After), frame.Stack(frame.Words(who(l.Kind, l.Actor)), frame.Muted(from)), frame.Time(l.At),
		})
	}
	return rows
}

// act returns what was done, and to what.
func act(l people.AuditLine) templ.Component {
	words := acts[l.Action]
	if words == "" {
		words = string(l.Action)
	}
	parts := []templ.Component{frame.Words(words)}
	if l.Subject != "" && l.Subject != l.Actor {
		parts = append(parts, frame.Mono(l.Subject))
	}
	if l.Detail != "" {
		parts = append(parts, frame.Muted(l.Detail))
	}
	return frame.Stack(parts...)
}
