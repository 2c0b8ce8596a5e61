package pages

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/frame"
)

var webhooksCrumb = frame.Link{Label: "Webhooks", Path: pathWebhooks}

func webhookPath(w events.Webhook, below string) string {
	return pathWebhooks + "/" + strconv.FormatInt(w.ID, 10) + below
}

func webhookName(w events.Webhook) string { return "Webhook " + strconv.FormatInt(w.ID, 10) }

// webhookCrumbs lead to a page about this webhook.
func webhookCrumbs(w events.Webhook) []frame.Link {
	return crumbs(webhooksCrumb, frame.Link{Label: webhookName(w), Path: webhookPath(w, "")})
}

func (p *Pages) showWebhooks(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.addon.Events.Webhooks(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	page := frame.Page{
		Title: "Webhooks", Crumbs: crumbs(), Body: webhooksView(all),
		Lead: "Addresses of your site that receive events about memberships and purchases.",
	}
	if len(all) > 0 {
		page.Action = frame.LinkButton{Link: frame.Link{Label: "Add a webhook", Path: pathWebhooks + "/new", Icon: "plus"}, Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// webhookRows is the table of webhooks.
func webhookRows(all []events.Webhook) (rows []frame.Row) {
	for _, one := range all {
		rows = append(rows, frame.Row{
			frame.Stack(frame.Link{Label: webhookName(one), Path: webhookPath(one, "")}, frame.Mono(one.URL)), webhookBadge(one), frame.Words(wantedEvents(one)), frame.Time(one.CreatedAt),
			frame.LinkButton{Link: frame.Link{Label: "Manage", Path: webhookPath(one, "")}, Context: webhookName(one)},
		})
	}
	return rows
}

func webhookBadge(w events.Webhook) templ.Component {
	switch {
	case w.PausedFor == events.PausedByHand:
		return frame.Badge{Text: "Paused", Kind: frame.Note}
	case w.PausedFor != "":
		return frame.Badge{Text: "Paused", Kind: frame.Danger}
	case !w.FailingSince.IsZero():
		return frame.Badge{Text: "Failing", Kind: frame.Warning}
	}
	return frame.Badge{Text: "Active", Kind: frame.Good}
}

// wantedEvents says in a table which events a webhook receives.
func wantedEvents(w events.Webhook) string {
	switch len(w.Types) {
	case 0:
		return "All events"
	case 1:
		return string(w.Types[0])
	}
	return strconv.Itoa(len(w.Types)) + " types of events"
}

// findWebhook finds the webhook that the address names.
func (p *Pages) findWebhook(r *frame.Request) (events.Webhook, error) {
	id, err := number(r, "id")
	if err != nil {
		return events.Webhook{}, err
	}
	return p.addon.Events.Webhook(r.Context(), r.Actor, id)
}

// oneWebhook is what the page of a webhook shows.
type oneWebhook struct {
	events.Webhook
	state      events.State // what the deliveries are narrowed to, "" for all
	deliveries []events.Delivery
	pager      frame.Pager
}

func (p *Pages) showWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	view := oneWebhook{Webhook: one, state: events.State(r.URL.Query().Get("state"))}
	if !slices.ContainsFunc(stateChoices, func(c frame.Choice) bool { return c.Value == string(view.state) }) {
		view.state = ""
	}
	before := frame.Before(r)
	list, err := p.addon.Events.Deliveries(r.Context(), r.Actor, one.ID, events.DeliveryFilter{State: view.state, Before: before, Limit: frame.PerPage + 1})
	if err != nil {
		return err
	}
	view.fill(list, before)
	page := frame.Page{Title: webhookName(one), Crumbs: crumbs(webhooksCrumb), Body: webhookView(view)}
	if one.PausedFor == "" {
		page.Action = frame.Button{Label: "Send a test event", Path: webhookPath(one, "/ping"), Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// fill takes a page of deliveries, and one more where the list goes on.
func (v *oneWebhook) fill(list []events.Delivery, before int64) {
	v.deliveries = list[:min(len(list), frame.PerPage)]
	if before != 0 {
		v.pager.Newer = v.listPath(0)
	}
	if len(list) > frame.PerPage {
		v.pager.Older = v.listPath(v.deliveries[frame.PerPage-1].ID)
	}
}

// listPath is the list of deliveries from one on, with the same filter.
func (v *oneWebhook) listPath(before int64) string {
	path := webhookPath(v.Webhook, "?state="+string(v.state))
	if before != 0 {
		path += "&before=" + strconv.FormatInt(before, 10)
	}
	return path
}

// facts are what the page of a webhook says of it.
func (v *oneWebhook) facts() frame.Facts {
	facts := frame.Facts{
		{Label: "Address", Value: frame.Mono(v.URL)},
		{Label: "State", Value: webhookBadge(v.Webhook)},
		{Label: "Events", Value: typeList(v.Types)},
		{Label: "Added", Value: frame.Time(v.CreatedAt)},
	}
	if !v.RotatedAt.IsZero() {
		facts = append(facts, frame.Fact{Label: "Secret rotated", Value: frame.Time(v.RotatedAt)})
	}
	if !v.OldSecretUntil.IsZero() {
		facts = append(facts, frame.Fact{Label: "Old secret also signs until", Value: frame.Time(v.OldSecretUntil)})
	}
	return facts
}

func typeList(types []events.Type) templ.Component {
	if len(types) == 0 {
		return frame.Words("All events")
	}
	parts := make([]templ.Component, len(types))
	for i, t := range types {
		parts[i] = frame.Mono(string(t))
	}
	return frame.Stack(parts...)
}

// pausedText says why a webhook is paused, and what to do.
func pausedText(w events.Webhook) string {
	text := "Paused since " + frame.Moment(w.PausedAt) + ", " + w.PausedFor.Text() + ". "
	if w.PausedFor == events.PausedSecretLost {
		return text + "Rotate its secret, enter the new one on your site, and then resume it."
	}
	if w.PausedFor != events.PausedByHand {
		text += "Repair the receiver on your site first. "
	}
	return text + "Events are held for up to 30 days. Resuming sends them."
}
