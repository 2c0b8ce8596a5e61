package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// webhookForm is what the form of a webhook shows, as it was typed.
type webhookForm struct {
	url   string
	types []events.Type
	// id is that of a webhook that exists, 0 for a new one.
	id int64
	// last is the id of the newest webhook when the form was opened: a form that is sent twice
	// adds one webhook.
	last string
	errs frame.Errors
}

// eventField is the name of the switch of a type of events.
func eventField(t events.Type) string { return "event-" + string(t) }

// eventLabel is what people call a type of events.
func eventLabel(t events.Type) string {
	words := strings.NewReplacer(".", " ", "_", " ").Replace(string(t))
	return strings.ToUpper(words[:1]) + words[1:]
}

// offered are the types that the form lists. A test event is sent whatever was chosen.
func (f webhookForm) offered() []events.Type {
	return slices.DeleteFunc(events.Types(), func(t events.Type) bool { return t == events.TestPing && !slices.Contains(f.types, t) })
}

func (f webhookForm) path() string {
	if f.id == 0 {
		return pathWebhooks
	}
	return pathWebhooks + "/" + strconv.FormatInt(f.id, 10) + "/edit"
}

func (f webhookForm) cancel() string {
	if f.id == 0 {
		return pathWebhooks
	}
	return pathWebhooks + "/" + strconv.FormatInt(f.id, 10)
}

func (f webhookForm) button() string {
	if f.id == 0 {
		return "Add the webhook"
	}
	return "Save the webhook"
}

// webhookOf reads the form.
func webhookOf(in url.Values, id int64) webhookForm {
	f := webhookForm{url: in.Get("url"), id: id, last: in.Get("last")}
	for _, t := range events.Types() {
		if in.Get(eventField(t)) == "1" {
			f.types = append(f.types, t)
		}
	}
	return f
}

func (p *Pages) newWebhookPage(f webhookForm) frame.Page {
	return frame.Page{
		Title: "Add a webhook", Crumbs: crumbs(webhooksCrumb), Body: webhookFormView(f),
		Lead: "Each event is sent to the address by POST, as JSON, and signed with a secret.",
	}
}

// lastWebhook is the highest id of all webhooks, as the form carries it.
func (p *Pages) lastWebhook(r *frame.Request) (string, error) {
	all, err := p.addon.Events.Webhooks(r.Context(), r.Actor)
	if err != nil || len(all) == 0 {
		return "0", err
	}
	return strconv.FormatInt(all[len(all)-1].ID, 10), nil
}

func (p *Pages) showNewWebhook(w http.ResponseWriter, r *frame.Request) error {
	last, err := p.lastWebhook(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.newWebhookPage(webhookForm{last: last}))
}

// webhookSteps is what to do about refusals of webhooks.
var webhookSteps = fault.NextSteps{"webhook_private": "start it with --allow-private and the network, for example 10.0.0.0/8, or name a public address"}

var needPassword = frame.Required("password", "Type your password.")

// addWebhook shows the secret in its response: it is in no session and at no address.
func (p *Pages) addWebhook(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"url", "types", "password"},
		About:  map[string]string{"webhook_private": "url"}, NextSteps: webhookSteps,
		Check: needPassword,
		Rules: []frame.Rule{func(in url.Values) error {
			f := webhookOf(in, 0)
			return p.addon.Events.CheckNew(r.Context(), f.url, f.types)
		}, p.frame.PasswordRule(r)},
		Do: func(in url.Values) error {
			f := webhookOf(in, 0)
			last, err := p.lastWebhook(r)
			if err != nil {
				return err
			}
			if last != f.last {
				return p.frame.Warn(w, r, pathWebhooks, "Nothing was added: another webhook was added after the form was opened. Check the list, and add yours again if it is missing.")
			}
			one, secret, err := p.addon.Events.AddWebhook(r.Context(), r.Actor, f.url, f.types)
			if err != nil {
				return err
			}
			return p.showWebhookSecret(w, r, one, secret, "Added "+webhookName(one), "Events are sent to it from now on.")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			f := webhookOf(in, 0)
			f.errs = wrong
			return p.newWebhookPage(f), nil
		},
	})
}

func (p *Pages) showWebhookSecret(w http.ResponseWriter, r *frame.Request, one events.Webhook, secret events.SecretText, title, lead string) error {
	return p.frame.Show(w, r, frame.Page{Title: title, Lead: lead, Crumbs: webhookCrumbs(one), Body: webhookSecretView(one, string(secret))})
}

func (p *Pages) editWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	page := func(f webhookForm) frame.Page {
		return frame.Page{Title: "Edit " + lowerWebhook(one), Crumbs: webhookCrumbs(one), Body: webhookFormView(f)}
	}
	if r.Method != http.MethodPost {
		return p.frame.Show(w, r, page(webhookForm{url: one.URL, types: one.Types, id: one.ID}))
	}
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"url", "types"}, About: map[string]string{"webhook_private": "url"}, NextSteps: webhookSteps,
		Do: func(in url.Values) error {
			f := webhookOf(in, one.ID)
			if f.types == nil {
				f.types = []events.Type{}
			}
			if _, err := p.addon.Events.EditWebhook(r.Context(), r.Actor, one.ID, events.WebhookChange{URL: &f.url, Types: &f.types}); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, webhookPath(one, ""), webhookName(one)+" was saved.")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			f := webhookOf(in, one.ID)
			f.errs = wrong
			return page(f), nil
		},
	})
}

func lowerWebhook(w events.Webhook) string { return "webhook " + strconv.FormatInt(w.ID, 10) }
