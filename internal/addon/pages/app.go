package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// newKey is the row in which an owner adds a key.
type newKey struct{ key, kind, value string }

func newKeyOf(in url.Values) newKey {
	return newKey{key: in.Get("newKey"), kind: in.Get("newType"), value: strings.ReplaceAll(in.Get("newValue"), "\r\n", "\n")}
}

func (k newKey) empty() bool {
	return strings.TrimSpace(k.key) == "" && strings.TrimSpace(k.value) == ""
}

var keyTypes = []frame.Choice{
	{Value: string(settings.TypeText), Label: "Text"},
	{Value: string(settings.TypeBool), Label: "On or off"},
	{Value: string(settings.TypeNumber), Label: "Number"},
}

// groupLeads describes what the groups are for.
var groupLeads = map[string]string{
	"Name":               "What people see.",
	"Sign-in":            "Sign-in with an account at another service.",
	"Push notifications": "Messages to phones while the app is closed.",
	"Live streaming":     "Leave it empty if the app does not stream.",
	"Messenger":          "The separate messenger app, if you have one.",
}

func (p *Pages) appPage(d draft, row newKey) frame.Page {
	return frame.Page{
		Title: "App settings", Crumbs: crumbs(), Body: appView(d, row),
		Lead: "The app reads these when it starts. Nothing changes for your users until you publish.",
	}
}

func (p *Pages) showApp(w http.ResponseWriter, r *frame.Request) error {
	d, err := p.readDraft(r, appForm)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.appPage(d, newKey{}))
}

func (p *Pages) saveApp(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	d, row, button := draft{form: appForm}, newKeyOf(in), in.Get("do")
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error {
			if key, there := strings.CutPrefix(button, "remove:"); there {
				return p.removeKey(w, r, &d, in, key)
			}
			if err := p.set(r, &d, in, func() { d.take(in) }); err != nil {
				return fault.All(err, d.wrongKey(in, row))
			}
			if button == "add" || !row.empty() {
				if err := p.addKey(r, &d, in, row); err != nil {
					return err
				}
			}
			if button == "add" {
				return p.frame.Redirect(w, r, d.path+"#"+groupID("Extra keys"), "The key "+strings.TrimSpace(row.key)+" is in the draft. Apps receive it when you publish.")
			}
			if button == "publish" && d.blockingErrors() {
				return p.frame.Refuse(w, r, p.appPage(d, newKey{}), nil)
			}
			return p.saved(w, r, d, button)
		},
		Explain: p.explainDraft(r, &d),
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			d.errs = wrong
			return p.appPage(d, row), nil
		},
	})
}

// addKey adds a key of the owner's own to a draft that was just saved.
func (p *Pages) addKey(r *frame.Request, d *draft, in url.Values, row newKey) error {
	now, err := p.addon.Settings.AddKey(r.Context(), r.Actor, editOf(in, d.saved.Revision), row.key, settings.Type(row.kind), row.value)
	if err == nil {
		d.saved = now
		return nil
	}
	d.order, d.failed = newKeyFields, "The new key was not added. Everything else is saved as a draft."
	return atNewKey(err)
}

// newKeyFields are the fields of a new key.
var newKeyFields = []string{"newKey", "newType", "newValue"}

// wrongKey is what is wrong with a new key of a form whose settings were refused, nil for nothing.
func (d *draft) wrongKey(in url.Values, row newKey) error {
	if row.empty() {
		return nil
	}
	d.order = append(d.order, newKeyFields...)
	return atNewKey(editOf(in, 0).CheckKey(row.key, settings.Type(row.kind), row.value))
}

// atNewKey says of a refusal at which fields of a new key it is.
func atNewKey(err error) error {
	apiErr := fault.Of(err)
	if apiErr == nil {
		return err
	}
	fields := map[string]string{}
	for i, name := range []string{"key", "type", "value"} {
		if text := apiErr.Fields[name]; text != "" {
			fields[newKeyFields[i]] = text
		}
	}
	if len(fields) == 0 {
		fields["newKey"] = apiErr.Message
	}
	return fault.WithFields(apiErr, fields)
}

// removeKey saves the form without one of the owner's own keys.
func (p *Pages) removeKey(w http.ResponseWriter, r *frame.Request, d *draft, in url.Values, key string) error {
	take := func() {
		d.take(in)
		delete(d.entered, key)
	}
	err := p.change(r, d, in, take, func(edit settings.Edit) (settings.Draft, error) {
		return p.addon.Settings.RemoveKey(r.Context(), r.Actor, edit, key, d.entered)
	})
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, d.path+"#"+groupID("Extra keys"), "The key "+key+" was removed from the draft. Apps no longer receive it after you publish.")
}
