package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// customerList is what the list of customers shows.
type customerList struct {
	membership.CustomerPage
	status string
	search customerSearch
}

// customerSearch is the form that finds a customer or a purchase. Its text may be a purchase
// token, so it is sent in a body, and shown again only when it is too short for one.
type customerSearch struct {
	text string
	errs frame.Errors
	// user is who may be granted a membership although nothing was found, "" for nobody.
	user string
}

// shownText is the longest text that is shown again.
const shownText = 64

func (p *Pages) showCustomers(w http.ResponseWriter, r *frame.Request) error {
	page, err := p.customersPage(r, customerSearch{})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) customersPage(r *frame.Request, search customerSearch) (page frame.Page, err error) {
	q := r.URL.Query()
	l := customerList{status: q.Get("status"), search: search}
	if _, known := statusWords[l.status]; !known {
		l.status = ""
	}
	l.CustomerPage, err = p.addon.Members.Customers(r.Context(), r.Actor, membership.CustomerFilter{
		Status: l.status, Older: q.Get("older"), Newer: q.Get("newer"), Limit: frame.PerPage,
	})
	return frame.Page{
		Title: "Customers", Crumbs: crumbs(), Body: customersView(l),
		Lead: "The users of your site with a membership or a purchase. The newest change is first.",
	}, err
}

// path is the list with its filter, and from a cursor on.
func (l customerList) path(name, cursor string) string {
	q := url.Values{}
	if l.status != "" {
		q.Set("status", l.status)
	}
	if cursor != "" {
		q.Set(name, cursor)
	}
	if len(q) == 0 {
		return pathCustomers
	}
	return pathCustomers + "?" + q.Encode()
}

func (l customerList) pager() (p frame.Pager) {
	if l.Newer != "" {
		p.Newer = l.path("newer", l.Newer)
	}
	if l.Older != "" {
		p.Older = l.path("older", l.Older)
	}
	p.Text = frame.Count(int(l.Count), "customer")
	return p
}

func (l customerList) rows() []frame.Row {
	rows := make([]frame.Row, len(l.Customers))
	for i, c := range l.Customers {
		rows[i] = frame.Row{
			frame.LinkOf(customerPath(c.User, ""), frame.Mono(c.User)), membershipBadges(c), frame.Words(packageWords(c.Membership.Package)),
			frame.Words(sourceWords(c.Membership.Source)), untilCell(c.Membership), frame.Time(c.ChangedAt),
		}
	}
	return rows
}

// membershipBadges are the status, and what else people have to know of it.
func membershipBadges(c membership.Customer) templ.Component {
	badges := []templ.Component{statusBadge(c.Membership.Status)}
	if badge, ok := environmentBadge(c.Environment); ok {
		badges = append(badges, badge)
	}
	if c.Unverified {
		badges = append(badges, frame.Badge{Text: "Not confirmed", Kind: frame.Warning})
	}
	return frame.Group(badges...)
}

func untilCell(m countersign.IAPMembership) templ.Component {
	switch {
	case m.Package == nil:
		return frame.Muted("–")
	case m.Until == nil:
		return frame.Words("No end")
	}
	return frame.Time(m.Until.Time)
}

func (l customerList) empty() frame.Empty {
	if l.status != "" {
		return frame.Empty{Icon: "users", Title: "No customers of this status", Action: frame.Link{Label: "Show everything", Path: pathCustomers}}
	}
	return frame.Empty{Icon: "users", Title: "No customers yet", Text: "They appear when the app verifies a purchase, or when you grant a membership. To grant one, type the user's ID above."}
}

// findCustomer leads to the customer or the purchase that a text names.
func (p *Pages) findCustomer(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: frame.Required("text", "Type a user ID, an order ID, a purchase ID or a purchase token."),
		Do: func(in url.Values) error {
			path, err := p.findText(r, strings.TrimSpace(in.Get("text")))
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, path, "")
		},
		About: map[string]string{codeNothingFound: "text"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			search := customerSearch{errs: wrong}
			if text := strings.TrimSpace(in.Get("text")); len(text) <= shownText {
				search.text = text
				search.user = p.mayBeUser(r, text)
			}
			return p.customersPage(r, search)
		},
	})
}

const codeNothingFound = "nothing_found"

// findText returns the page of what a text names. A user goes before a purchase; of several
// purchases with one order, the page is that of their owner.
func (p *Pages) findText(r *frame.Request, text string) (path string, err error) {
	c, err := p.addon.Members.Customer(r.Context(), r.Actor, text)
	switch {
	case err == nil && !c.ChangedAt.IsZero():
		return customerPath(text, ""), nil
	case err != nil && !fault.HasKind(err, countersign.KindInvalid): // a token is too long for a user
		return "", err
	}
	found, err := p.addon.Members.Find(r.Context(), r.Actor, text)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", fault.Invalid(codeNothingFound, "Type the whole ID or token, in the same letter case")
	case len(found) > 1 && found[0].User != "":
		return customerPath(found[0].User, ""), nil
	}
	return purchasePath(found[0].Purchase.ID, ""), nil
}

// mayBeUser returns a text that a user of the site may have as id, "" for another one.
func (p *Pages) mayBeUser(r *frame.Request, text string) string {
	if strings.HasPrefix(text, "GPA.") || strings.HasPrefix(text, "pur_") {
		return ""
	}
	if _, err := p.addon.Members.Customer(r.Context(), r.Actor, text); err != nil {
		return ""
	}
	return text
}
