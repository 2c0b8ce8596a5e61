package frame

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/people"
)

// AuditLog is a page of an audit log, and its files.
type AuditLog struct {
	Log *people.AuditLog
	// Path is that of the page. The files are beside it, at Path.csv and Path.jsonl.
	Path string
	// Lead and Crumbs are those of the page.
	Lead   string
	Crumbs []Link
	// Nouns are what the log can be narrowed to, and Words what its actions are called, as [AuditNouns] and [AuditWords]
	// return them.
	Nouns []Choice
	Words map[people.Action]string
	// Links returns the path of the page about the subject of an entry, "" for none. It may be nil.
	Links func(people.AuditLine) string
	// Workspaces reports that the page names the workspace of each entry, and can be narrowed to one.
	Workspaces bool
}

// AuditNouns are what the log of a service can be narrowed to: its own nouns, and those of users.
func AuditNouns(own ...Choice) []Choice {
	return append(append([]Choice{{Label: "Everything"}}, own...),
		Choice{Value: "user", Label: "Sign-in and users"},
		Choice{Value: "session", Label: "Sessions"},
		Choice{Value: "password", Label: "Passwords"},
		Choice{Value: "totp", Label: "Two-step sign-in"},
		Choice{Value: "recovery_codes", Label: "Recovery codes"},
		Choice{Value: "audit", Label: "The audit log itself"},
		Choice{Value: "setup_link", Label: "Set-up links"},
		Choice{Value: "sign_in_link", Label: "Sign-in links"},
	)
}

// AuditWords are what the actions of a service are called: its own, and those of users.
func AuditWords(own map[people.Action]string) map[people.Action]string {
	all := map[people.Action]string{
		"user.create": "Created a user", "user.invite": "Invited a user", "user.rename": "Changed a user's e-mail",
		"user.deactivate": "Deactivated a user", "user.activate": "Activated a user", "user.remove": "Removed a user",
		"user.promote": "Promoted a user to administrator", "user.demote": "Took administrator rights from a user",
		"user.sign_in": "Signed in", "user.refuse_code": "Wrong code at sign-in", "user.refuse_sign_in": "Failed sign-ins",
		"session.end": "Ended a session", "session.end_others": "Ended all other sessions", "password.change": "Changed the password", "password.reset": "Reset a password",
		"totp.enable": "Turned on two-step sign-in", "totp.disable": "Turned off two-step sign-in", "recovery_codes.replace": "Created new recovery codes",
		"audit.prune": "Pruned the audit log", "setup_link.create": "Created a set-up link", "sign_in_link.create": "Created a sign-in link",
	}
	maps.Copy(all, own)
	return all
}

// auditPage is what the page of the log shows.
type auditPage struct {
	AuditLog
	lines  []people.AuditLine
	filter people.AuditFilter
	pager  Pager
}

// narrowed reports whether the log is filtered.
func (a auditPage) narrowed() bool {
	return a.filter.Action != "" || a.filter.Actor != "" || a.filter.Workspace != ""
}

// History is the table of what the log has about a subject, the newest first.
type History struct {
	AuditLog
	Lines []people.AuditLine
}

// HistoryLimit is how many entries a history has.
const HistoryLimit = 20

// History reads the newest entries of a log about an action or a noun and its subject.
func (l AuditLog) History(r *Request, about, subject string) (History, error) {
	lines, err := l.Log.Audit(r.Context(), r.Actor, people.AuditFilter{Action: about, Subject: subject, Limit: HistoryLimit})
	l.Workspaces = false
	return History{l, lines}, err
}

// Table is the history as a table.
func (h History) Table() Table {
	page := auditPage{AuditLog: h.AuditLog, lines: h.Lines}
	return Table{Caption: "History", Columns: page.columns(), Rows: page.rows(), Empty: Empty{Icon: "scroll-text", Title: "No entries"}}
}

// ShowAudit shows the page of an audit log.
func (f *Frame) ShowAudit(w http.ResponseWriter, r *Request, log AuditLog) error {
	a := auditPage{AuditLog: log, filter: log.filter(r)}
	a.filter.Before, a.filter.Limit = Before(r), PerPage
	var err error
	if a.lines, err = a.Log.Audit(r.Context(), r.Actor, a.filter); err != nil {
		return err
	}
	place, err := a.Log.AuditPlace(r.Context(), r.Actor, a.filter)
	if err != nil {
		return err
	}
	if place.Newer > 0 {
		a.pager.Newer = a.path("", place.Before)
	}
	last := place.Newer + int64(len(a.lines))
	if last < place.All && len(a.lines) > 0 {
		a.pager.Older = a.path("", a.lines[len(a.lines)-1].ID)
	}
	a.pager.Text = Span("Entries", place.Newer+1, last, place.All)
	return f.Show(w, r, Page{Title: "Audit log", Crumbs: a.Crumbs, Body: auditView(a), Lead: a.Lead})
}

// ExportAudit sends the entries that the page of an audit log would show, all of them.
func (f *Frame) ExportAudit(w http.ResponseWriter, r *Request, log AuditLog, format people.AuditFormat) error {
	return f.Send(w, r, auditKinds[format], "audit."+string(format), func(out io.Writer) error {
		return log.Log.ExportAudit(r.Context(), r.Actor, log.filter(r), format, out)
	})
}

var auditKinds = map[people.AuditFormat]string{
	people.AuditCSV: "text/csv; charset=utf-8", people.AuditJSONL: "application/jsonl; charset=utf-8",
}

// filter reads what the log is to be narrowed to.
func (l AuditLog) filter(r *Request) people.AuditFilter {
	q := r.URL.Query()
	f := people.AuditFilter{Action: strings.TrimSpace(q.Get("about")), Actor: strings.TrimSpace(q.Get("who"))}
	if l.Workspaces {
		f.Workspace = strings.TrimSpace(q.Get("workspace"))
	}
	return f
}

// path is the page from an entry on, or with an ending a file, with the same filter.
func (a auditPage) path(ending string, before int64) string {
	q := url.Values{}
	for name, value := range map[string]string{"about": a.filter.Action, "who": a.filter.Actor, "workspace": a.filter.Workspace} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if before > 0 {
		q.Set("before", strconv.FormatInt(before, 10))
	}
	if len(q) == 0 {
		return a.Path + ending
	}
	return a.Path + ending + "?" + q.Encode()
}

func (a auditPage) columns() []Column {
	all := []Column{{Label: "What"}, {Label: "Before and after"}, {Label: "Who"}, {Label: "When"}}
	if a.Workspaces {
		all = append(all[:1:1], append([]Column{{Label: "Workspace"}}, all[1:]...)...)
	}
	return all
}

// rows is the table of the log.
func (a auditPage) rows() (rows []Row) {
	for _, l := range a.lines {
		from := Through(l.FrontEnd)
		if l.Address != "" {
			from += ", " + l.Address
		}
		row := Row{a.Act(l)}
		if a.Workspaces {
			row = append(row, workspaceOf(l))
		}
		rows = append(rows, append(row, changeView(l.Before, l.After), Stack(Words(Who(l.Kind, l.Actor)), Muted(from)), Time(l.At)))
	}
	return rows
}

func workspaceOf(l people.AuditLine) templ.Component {
	if l.Workspace == "" {
		return Muted("–")
	}
	return Mono(l.Workspace)
}

// Act returns what was done, and to what.
func (l AuditLog) Act(line people.AuditLine) templ.Component {
	words := l.Words[line.Action]
	if words == "" {
		words = string(line.Action)
	}
	parts := []templ.Component{Words(words)}
	if line.Subject != "" && line.Subject != line.Actor {
		parts = append(parts, l.subject(line))
	}
	if line.Detail != "" {
		parts = append(parts, Muted(line.Detail))
	}
	return Stack(parts...)
}

// subject names what an entry is about, as a link where that has a page.
func (l AuditLog) subject(line people.AuditLine) templ.Component {
	if l.Links != nil {
		if path := l.Links(line); path != "" {
			return Link{Label: line.Subject, Path: path}
		}
	}
	return Mono(line.Subject)
}

// empty stands in place of the table.
func (a auditPage) empty() Empty {
	if !a.narrowed() && a.filter.Before == 0 {
		return Empty{Icon: "scroll-text", Title: "No changes yet"}
	}
	return Empty{Icon: "scroll-text", Title: "No matching entries", Action: Link{Label: "Show everything", Path: a.Path}}
}

// LastAct says who did the newest of a log's entries about an action or a noun, and when; "" when that is not known.
func LastAct(r *Request, log *people.AuditLog, about string) string {
	return LastActOn(r, log, about, "")
}

// LastActOn is [LastAct] for one subject of the log, "" for any.
func LastActOn(r *Request, log *people.AuditLog, about, subject string) string {
	lines, err := log.Audit(r.Context(), r.Actor, people.AuditFilter{Action: about, Subject: subject, Limit: 1})
	if err != nil || len(lines) == 0 {
		return ""
	}
	l := lines[0]
	return "Last changed by " + Who(l.Kind, l.Actor) + ", " + Moment(l.At) + ", by " + Through(l.FrontEnd) + "."
}

// Through names the front end that an actor used.
func Through(f people.FrontEnd) string {
	switch f {
	case people.FrontEndCommand:
		return "command line"
	case people.FrontEndAPI:
		return "API"
	}
	return "page"
}

// Who names an actor for people.
func Who(kind people.Kind, id string) string {
	switch kind {
	case people.KindKey:
		return "API credentials " + id
	case people.KindVisitor:
		return "Not signed in"
	case people.KindBuyer:
		return "Buyer"
	}
	return id
}
