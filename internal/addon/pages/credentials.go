package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

var credentialsCrumb = frame.Link{Label: "API access", Path: PathCredentials}

func credentialPath(c credential.Credential) string {
	return PathCredentials + "/" + strconv.FormatInt(c.ID, 10)
}

// credentialCrumbs lead to a page about these credentials.
func credentialCrumbs(c credential.Credential) []frame.Link {
	return crumbs(credentialsCrumb, frame.Link{Label: c.Label, Path: credentialPath(c)})
}

// credentialsBanner says on every page that API credentials do not work, until it is dismissed.
func credentialsBanner(r *frame.Request, a *addon.Addon) frame.Banner {
	warning, err := a.Credentials.Warning(r.Context(), r.Actor)
	if err != nil || warning.Dismissed { // of an error, the page itself says what is wrong
		return frame.Banner{}
	}
	return frame.Banner{
		Kind: frame.Warning, Title: warning.Text(), Text: "Both must be active before you go live.",
		Action: frame.Link{Label: "API access", Path: PathCredentials}, Dismiss: pathDismiss,
	}
}

// dismissCredentialWarning is where the banner's button leads. The button asks nothing first.
func (p *Pages) dismissCredentialWarning(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Dismiss the warning", Crumbs: crumbs(credentialsCrumb),
		Consequence: "Pages no longer show the warning about API credentials. It comes back when API credentials change their state.",
		Path:        pathDismiss, Label: "Dismiss", Cancel: PathCredentials, Safe: true,
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Credentials.DismissWarning(r.Context(), r.Actor); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, PathCredentials, "The warning is dismissed. It comes back when API credentials change their state.")
		}},
	})
}

func (p *Pages) showCredentials(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.addon.Credentials.List(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "API access", Crumbs: crumbs(), Body: credentialsView(all),
		Lead:   "Your own servers sign their calls with an API key and an API secret. Never put the API secret into an app.",
		Action: frame.LinkButton{Link: frame.Link{Label: "New credentials", Path: PathCredentials + "/new", Icon: "plus"}, Kind: frame.Primary},
	})
}

// credentialRows is the table of API credentials.
func credentialRows(all []credential.Credential) (rows []frame.Row) {
	for _, c := range all {
		rows = append(rows, frame.Row{
			frame.Link{Label: c.Label, Path: credentialPath(c)}, maskedState(c.Key, c.KeyActive), maskedState(c.Secret, c.SecretActive), lastUse(c), frame.Time(c.CreatedAt),
			frame.LinkButton{Link: frame.Link{Label: "Manage", Path: credentialPath(c)}, Context: c.Label},
		})
	}
	return rows
}

// maskedState is a key or secret in the table: masked, with its state.
func maskedState(masked string, active bool) templ.Component {
	return frame.Stack(frame.Mono(masked), stateBadge(active))
}

func stateBadge(active bool) frame.Badge {
	if active {
		return frame.Badge{Text: "Active", Kind: frame.Good}
	}
	return frame.Badge{Text: "Inactive", Kind: frame.Warning}
}

func lastUse(c credential.Credential) templ.Component {
	if c.LastUsedAt.IsZero() {
		return frame.Muted("never")
	}
	return frame.Stack(frame.Time(c.LastUsedAt), frame.Muted("from "+c.LastUsedFrom))
}

func (p *Pages) newCredentialPage(label string, errs frame.Errors) frame.Page {
	return frame.Page{
		Title: "New credentials", Crumbs: crumbs(credentialsCrumb), Body: newCredentialView(label, errs),
		Lead: "A new API key and API secret, active at once.",
	}
}

func (p *Pages) showNewCredential(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Show(w, r, p.newCredentialPage("", nil))
}

// createCredential shows the new values in its response: they are in no session and at
// no address. Reloading the page creates nothing, because the label is used.
func (p *Pages) createCredential(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Submit(w, r, frame.Form{
		Check: frame.Required("label", "Type a label, to tell these credentials from others.", "password", "Type your password."),
		Rules: []frame.Rule{
			func(in url.Values) error { return credential.CheckLabel(in.Get("label")) }, p.frame.PasswordRule(r),
		},
		Fields: []string{"label", "password"},
		About:  map[string]string{"label_exists": "label"},
		Do: func(in url.Values) error {
			c, credentials, err := p.addon.Credentials.Create(r.Context(), r.Actor, in.Get("label"))
			if fault.HasCode(err, "label_exists") { // as after loading the page again
				return fault.WithMessage(fault.Of(err), frame.Sentence(fault.Message(err))+" If you have just created them, you can reveal them in the list.")
			}
			if err != nil {
				return err
			}
			return p.showSecrets(w, r, c, credentials, "Your new credentials", "Both are active.")
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.newCredentialPage(in.Get("label"), wrong), nil
		},
	})
}

// showSecrets is the page with the API key and the API secret themselves.
func (p *Pages) showSecrets(w http.ResponseWriter, r *frame.Request, c credential.Credential, credentials credential.Values, title, lead string) error {
	return p.frame.Show(w, r, frame.Page{
		Title: title, Lead: lead, Crumbs: credentialCrumbs(c),
		Body: secretsView(c, credentials, p.address(w, r, PathAppSettings)),
	})
}

// oneCredential finds the API credentials that the address names.
func (p *Pages) oneCredential(r *frame.Request) (credential.Credential, error) {
	id, err := number(r, "id")
	if err != nil {
		return credential.Credential{}, err
	}
	return p.addon.Credentials.Find(r.Context(), r.Actor, id)
}

func (p *Pages) showCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	return p.frame.Show(w, r, frame.Page{Title: c.Label, Crumbs: crumbs(credentialsCrumb), Body: credentialView(c)})
}

// switchCredential sets the two switches of API credentials.
func (p *Pages) switchCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	for _, one := range []struct {
		half    credential.Half
		now, on bool
	}{{credential.HalfKey, c.KeyActive, in.Get("key") == "1"}, {credential.HalfSecret, c.SecretActive, in.Get("secret") == "1"}} {
		if one.now == one.on {
			continue
		}
		if c, err = p.addon.Credentials.SetActive(r.Context(), r.Actor, c.ID, one.half, one.on); err != nil {
			return err
		}
	}
	text := "“" + c.Label + "” is active: calls with it are accepted."
	if !c.Active() {
		text = "“" + c.Label + "” is inactive: calls with it are refused from now on."
	}
	return p.frame.Redirect(w, r, credentialPath(c), text)
}

func (p *Pages) revealCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	field := frame.PasswordField(nil)
	field.Focus = true
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Reveal API credentials", Crumbs: credentialCrumbs(c),
		Consequence: "The API key and the API secret of “" + c.Label + "” are shown on the next page. This is recorded in the audit log.",
		Path:        credentialPath(c) + "/reveal", Label: "Reveal", Cancel: credentialPath(c), Safe: true, Fields: []frame.Field{field},
		Form: frame.WithPassword(func(password string) error {
			if err := p.addon.Instance.People.CheckPassword(r.Context(), r.Actor, password); err != nil {
				return err
			}
			_, credentials, err := p.addon.Credentials.Reveal(r.Context(), r.Actor, c.ID)
			if err != nil {
				return err
			}
			return p.showSecrets(w, r, c, credentials, "API credentials “"+c.Label+"”", "Close this page after you have copied them.")
		}),
	})
}

// rotateCredential rotates API credentials and answers with the new ones. The form
// names those that it ends, so that loading the page again ends no newer ones.
func (p *Pages) rotateCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost && in.Get("ends") != c.Key {
		return p.frame.Warn(w, r, credentialPath(c), "Nothing was changed: these credentials were rotated already. To see them, press Reveal.")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Rotate “" + c.Label + "”", Crumbs: credentialCrumbs(c),
		Consequence: "The current API key and API secret stop working at once. Calls are refused until your servers have the new ones. " + uses(c),
		Path:        credentialPath(c) + "/rotate", Label: "Rotate", Cancel: credentialPath(c),
		Fields: []frame.Field{{Name: "ends", Kind: frame.Hidden, Value: c.Key}, frame.PasswordField(nil)},
		Form: frame.WithPassword(func(password string) error {
			if err := p.addon.Instance.People.CheckPassword(r.Context(), r.Actor, password); err != nil {
				return err
			}
			c, credentials, err := p.addon.Credentials.Rotate(r.Context(), r.Actor, c.ID)
			if err != nil {
				return err
			}
			return p.showSecrets(w, r, c, credentials, "New API credentials for “"+c.Label+"”", "The old values have expired.")
		}),
	})
}

func (p *Pages) renameCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Rename “" + c.Label + "”", Crumbs: credentialCrumbs(c),
		Consequence: "The API key and the API secret stay the same. Earlier entries of the audit log keep the old label.",
		Path:        credentialPath(c) + "/rename", Label: "Rename", Cancel: credentialPath(c), Safe: true,
		Fields: []frame.Field{{Name: "label", Label: "Label", Value: c.Label, Help: "Where you will use it.", Required: true, Focus: true}},
		Form: frame.Form{
			Check:  frame.Required("label", "Type a label, to tell these credentials from others."),
			Fields: []string{"label"},
			About:  map[string]string{"label_exists": "label"},
			Do: func(in url.Values) error {
				renamed, err := p.addon.Credentials.Rename(r.Context(), r.Actor, c.ID, in.Get("label"))
				if err != nil {
					return err
				}
				return p.frame.Redirect(w, r, credentialPath(c), "The label is now “"+renamed.Label+"”.")
			},
		},
	})
}

// deleteCredential asks before deactivated API credentials are deleted.
func (p *Pages) deleteCredential(w http.ResponseWriter, r *frame.Request, c credential.Credential) error {
	if r.Method != http.MethodPost && (c.KeyActive || c.SecretActive) {
		return p.showCredential(w, r, c) // it says what to do first
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Delete “" + c.Label + "”", Crumbs: credentialCrumbs(c),
		Consequence: "The API key " + c.Key + " and its API secret are deleted. You can't activate or reveal them again. " + uses(c),
		Path:        credentialPath(c) + "/delete", Label: "Delete", Cancel: credentialPath(c), Failed: "Nothing was deleted.",
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.addon.Credentials.Delete(r.Context(), r.Actor, c.ID); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, PathCredentials, "“"+c.Label+"” was deleted.")
		}},
	})
}

// uses returns how much API credentials are used.
func uses(c credential.Credential) string {
	if c.LastUsedAt.IsZero() {
		return "They have never been used."
	}
	return fmt.Sprintf("They were used in %s, last on %s from %s.", frame.Count(int(c.UsedCount), "call"), frame.Moment(c.LastUsedAt), c.LastUsedFrom)
}
