package pages

import (
	"net/http"
	"net/url"
	"time"

	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/frame"
)

func (p *Pages) pauseWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Pause " + lowerWebhook(one), Crumbs: webhookCrumbs(one),
		Consequence: "No events are sent to " + one.URL + " until you resume it. They are held for up to 30 days.",
		Path:        webhookPath(one, "/pause"), Label: "Pause", Cancel: webhookPath(one, ""), Safe: true,
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Events.Pause(r.Context(), r.Actor, one.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, webhookPath(one, ""), webhookName(one)+" is paused. Its events are held.")
		}},
	})
}

func (p *Pages) resumeWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Resume " + lowerWebhook(one), Crumbs: webhookCrumbs(one),
		Consequence: "Events that were held are sent to " + one.URL + " at once, and later ones as they happen.",
		Path:        webhookPath(one, "/resume"), Label: "Resume", Cancel: webhookPath(one, ""), Safe: true,
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Events.Resume(r.Context(), r.Actor, one.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, webhookPath(one, ""), webhookName(one)+" is active. Held events are sent now.")
		}},
	})
}

func (p *Pages) pingWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Send a test event", Crumbs: webhookCrumbs(one),
		Consequence: "An event of the type test.ping is sent to " + one.URL + ".",
		Path:        webhookPath(one, "/ping"), Label: "Send a test event", Cancel: webhookPath(one, ""), Safe: true, Failed: "Nothing was sent.",
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Events.Ping(r.Context(), r.Actor, one.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, webhookPath(one, ""), "A test event is on its way. Load this page again to see the response in the list of deliveries.")
		}},
	})
}

func (p *Pages) revealWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	field := frame.PasswordField(nil)
	field.Focus = true
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Reveal the webhook secret", Crumbs: webhookCrumbs(one),
		Consequence: "The secret of " + lowerWebhook(one) + " is shown on the next page. This is recorded in the audit log.",
		Path:        webhookPath(one, "/reveal"), Label: "Reveal", Cancel: webhookPath(one, ""), Safe: true, Fields: []frame.Field{field},
		Form: frame.WithPassword(func(password string) error {
			if err := p.addon.Instance.People.CheckPassword(r.Context(), r.Actor, password); err != nil {
				return err
			}
			secret, err := p.addon.Events.RevealSecret(r.Context(), r.Actor, one.ID)
			if err != nil {
				return err
			}
			return p.showWebhookSecret(w, r, one, secret, "Secret of "+lowerWebhook(one), "Close this page after you have copied it.")
		}),
	})
}

// overlapChoices are how long an old secret is still used beside the new one.
var overlapChoices = []frame.Choice{
	{Value: "24h", Label: "For 24 hours"}, {Value: "168h", Label: "For 7 days"}, {Value: "1h", Label: "For 1 hour"}, {Value: "0s", Label: "It ends at once"},
}

// rotateWebhook rotates a secret and answers with the new one. The form names the rotation
// before it, so that loading the page again rotates nothing.
func (p *Pages) rotateWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	after := one.RotatedAt.UTC().Format(time.RFC3339Nano)
	if r.Method == http.MethodPost && in.Get("ends") != after {
		return p.frame.Redirect(w, r, webhookPath(one, ""), "Nothing was changed: this secret was rotated already. To see it, press Reveal the secret.")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Rotate the webhook secret", Crumbs: webhookCrumbs(one),
		Consequence: "Webhook " + one.URL + " gets a new secret. Until the old one ends, events are signed with both, so that you can change your site meanwhile.",
		Path:        webhookPath(one, "/rotate"), Label: "Rotate", Cancel: webhookPath(one, ""),
		Fields: []frame.Field{
			{Name: "ends", Kind: frame.Hidden, Value: after},
			{Name: "overlap", Label: "The old secret is still used", Kind: frame.Select, Value: overlapChoices[0].Value, Choices: overlapChoices}, frame.PasswordField(nil),
		},
		Form: frame.Form{
			Fields: []string{"overlap", "password"},
			Check:  needPassword,
			Rules:  []frame.Rule{p.frame.PasswordRule(r)},
			Do: func(in url.Values) error {
				overlap, err := time.ParseDuration(in.Get("overlap"))
				if err != nil {
					overlap = -1 // refused as one that is not valid
				}
				changed, secret, err := p.addon.Events.RotateSecret(r.Context(), r.Actor, one.ID, overlap)
				if err != nil {
					return err
				}
				return p.showWebhookSecret(w, r, changed, secret, "New secret of "+lowerWebhook(one), "Enter it on your site.")
			},
		},
	})
}

func (p *Pages) removeWebhook(w http.ResponseWriter, r *frame.Request, one events.Webhook) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove " + lowerWebhook(one), Crumbs: webhookCrumbs(one),
		Consequence: "The webhook " + one.URL + " is removed with the log of its deliveries. Events that were not delivered are not sent to it any more.",
		Path:        webhookPath(one, "/remove"), Label: "Remove the webhook", Cancel: webhookPath(one, ""), Failed: "Nothing was removed.",
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Events.RemoveWebhook(r.Context(), r.Actor, one.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, pathWebhooks, webhookName(one)+" was removed.")
		}},
	})
}
