package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

var stateChoices = []frame.Choice{
	{Label: "All"}, {Value: string(events.Pending), Label: "Pending"}, {Value: string(events.Held), Label: "Held"},
	{Value: string(events.Delivered), Label: "Delivered"}, {Value: string(events.Failed), Label: "Failed"},
}

// delivery is one delivery, with what was sent.
type delivery struct {
	events.Delivery
	webhook  events.Webhook
	attempts []events.Attempt
	body     []byte
}

func deliveryPath(d events.Delivery, below string) string {
	return pathWebhooks + "/" + strconv.FormatInt(d.Webhook, 10) + "/deliveries/" + strconv.FormatInt(d.ID, 10) + below
}

func deliveryName(d events.Delivery) string { return "Delivery " + strconv.FormatInt(d.ID, 10) }

// deliveryRows is the table of deliveries.
func deliveryRows(list []events.Delivery) (rows []frame.Row) {
	for _, d := range list {
		rows = append(rows, frame.Row{
			frame.LinkOf(deliveryPath(d, ""), frame.Time(d.CreatedAt)), frame.Mono(string(d.Type)), deliveryBadge(d.State),
			frame.Words(strconv.FormatInt(d.Attempts, 10)), frame.Time(d.NextAt), lastAnswer(d.LastStatus, d.LastText),
		})
	}
	return rows
}

func deliveryBadge(s events.State) frame.Badge {
	switch s {
	case events.Delivered:
		return frame.Badge{Text: "Delivered", Kind: frame.Good}
	case events.Failed:
		return frame.Badge{Text: "Failed", Kind: frame.Danger}
	case events.Held:
		return frame.Badge{Text: "Held", Kind: frame.Note}
	}
	return frame.Badge{Text: "Pending"}
}

// lastAnswer is the response to an attempt, or why there was none.
func lastAnswer(status int, text string) templ.Component {
	switch {
	case status == 0 && text == "":
		return frame.Muted("–")
	case status == 0:
		return frame.Words(text)
	case text == "":
		return frame.Words(strconv.Itoa(status))
	}
	return frame.Stack(frame.Words(strconv.Itoa(status)), frame.Muted(text))
}

// findDelivery finds the delivery that the address names, among those of its webhook.
func (p *Pages) findDelivery(r *frame.Request) (d delivery, err error) {
	if d.webhook, err = p.findWebhook(r); err != nil {
		return d, err
	}
	id, err := number(r, "delivery")
	if err != nil {
		return d, err
	}
	if d.Delivery, d.attempts, err = p.addon.Events.Delivery(r.Context(), r.Actor, id); err != nil {
		return d, err
	}
	if d.Webhook != d.webhook.ID {
		return d, fault.NotFound(countersign.CodeNotFound, "")
	}
	d.body, err = p.addon.Events.DeliveryBody(r.Context(), r.Actor, id)
	return d, err
}

func (p *Pages) showDelivery(w http.ResponseWriter, r *frame.Request, d delivery) error {
	page := frame.Page{Title: deliveryName(d.Delivery), Crumbs: webhookCrumbs(d.webhook), Body: deliveryView(d)}
	if d.webhook.PausedFor == "" && d.State != events.Pending {
		page.Action = frame.Button{Label: "Send again", Path: deliveryPath(d.Delivery, "/replay"), Kind: frame.Primary}
	}
	return p.frame.Show(w, r, page)
}

// headers are those of every attempt, without what proves the sender.
func (d delivery) headers() string {
	return "POST\nContent-Type: application/json\nWebhook-Id: " + d.Event +
		"\nWebhook-Timestamp: (Unix time of the attempt)\nWebhook-Signature: (computed with the secret at each attempt)"
}

// attemptRows is the table of attempts, the newest first.
func (d delivery) attemptRows() []frame.Row {
	rows := make([]frame.Row, len(d.attempts))
	for i, a := range d.attempts {
		rows[len(rows)-1-i] = frame.Row{frame.Time(a.At), lastAnswer(a.Status, a.Text), frame.Amount(strconv.FormatInt(a.Took.Milliseconds(), 10) + " ms")}
	}
	return rows
}

func (p *Pages) replayDelivery(w http.ResponseWriter, r *frame.Request, d delivery) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Send the event again", Crumbs: webhookCrumbs(d.webhook),
		Consequence: "The event " + d.Event + " (" + string(d.Type) + ") is sent to " + webhookName(d.webhook) + " again, with the same id. Your site may have processed it before.",
		Path:        deliveryPath(d.Delivery, "/replay"), Label: "Send again", Cancel: deliveryPath(d.Delivery, ""), Safe: true, Failed: "Nothing was sent.",
		Form: frame.Form{Do: func(url.Values) error {
			if err := p.addon.Events.Replay(r.Context(), r.Actor, d.webhook.ID, d.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, deliveryPath(d.Delivery, ""), "The event is sent again. Load this page again to see the response.")
		}},
	})
}

// replaySince sends all events since a day again.
func (p *Pages) replaySince(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Send events again", Crumbs: webhookCrumbs(one),
		Consequence: "All events since the start of a day (UTC) that " + webhookName(one) + " receives are sent again, with the same ids. Your site may have processed them before. Events are kept for 30 days.",
		Path:        webhookPath(one, "/replay"), Label: "Send again", Cancel: webhookPath(one, ""), Safe: true, Failed: "Nothing was sent.",
		Fields: []frame.Field{{Name: "since", Label: "Since", Kind: frame.Date, Value: p.frame.Now().UTC().Format(time.DateOnly), Required: true}},
		Form: frame.Form{
			Fields: []string{"since"},
			About:  map[string]string{"replay": "since"},
			Check: func(in url.Values) frame.Errors {
				if _, err := time.Parse(time.DateOnly, in.Get("since")); err != nil {
					return frame.Errors{{Name: "since", Text: "Choose a day, like 2026-11-01."}}
				}
				return nil
			},
			Do: func(in url.Values) error {
				since, err := time.Parse(time.DateOnly, in.Get("since"))
				if err != nil {
					return err
				}
				sent, err := p.addon.Events.ReplaySince(r.Context(), r.Actor, one.ID, since)
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, webhookPath(one, ""), "To be sent again: "+frame.Count(sent, "event")+".")
			},
		},
	})
}
