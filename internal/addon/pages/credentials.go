package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

var credentialsCrumb = frame.Link{Label: "API access", Path: PathCredentials}

func credentialPath(c addon.Credential) string {
	return PathCredentials + "/" + strconv.FormatInt(c.ID, 10)
}

// pairBanner says on every page that a pair of API key and secret does not work. A
// pair that is off as a whole, beside one that works, is left alone.
func pairBanner(r *frame.Request, a *addon.Addon) []frame.Banner {
	all, err := a.Credentials(r.Context(), r.Actor)
	if err != nil {
		return nil // the page itself says what is wrong
	}
	banner := frame.Banner{Kind: frame.Warning, Text: "Both must be active before you go live.", Action: frame.Link{Label: "API access", Path: PathCredentials}}
	active := false
	for _, c := range all {
		active = active || c.Active()
		switch {
		case c.KeyActive && !c.SecretActive:
			banner.Title = "The API secret of “" + c.Label + "” is inactive"
		case !c.KeyActive && c.SecretActive:
			banner.Title = "The API key of “" + c.Label + "” is inactive"
		}
	}
	if !active && banner.Title == "" {
		banner.Title = "No API key and secret are active"
	}
	if banner.Title == "" {
		return nil
	}
	return []frame.Banner{banner}
}

func (p *Pages) showCredentials(w http.ResponseWriter, r *frame.Request) error {
	all, err := p.addon.Credentials(r.Context(), r.Actor)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "API access", Crumbs: crumbs(), Body: credentialsView(all),
		Lead:   "Pairs of API key and API secret, with which your own servers sign their calls. They never belong in an app.",
		Action: frame.LinkButton{Link: frame.Link{Label: "New credentials", Path: PathCredentials + "/new", Icon: "plus"}, Kind: frame.Primary},
	})
}

// credentialRows is the table of pairs.
func credentialRows(all []addon.Credential) (rows []frame.Row) {
	for _, c := range all {
		rows = append(rows, frame.Row{
			frame.Link{Label: c.Label, Path: credentialPath(c)}, half(c.Key, c.KeyActive), half(c.Secret, c.SecretActive), lastUse(c), frame.Time(c.CreatedAt),
			frame.LinkButton{Link: frame.Link{Label: "Manage", Path: credentialPath(c)}, Context: c.Label},
		})
	}
	return rows
}

// half is one half of a pair in the table: masked, with its state.
func half(masked string, active bool) templ.Component {
	return frame.Stack(frame.Mono(masked), stateBadge(active))
}

func stateBadge(active bool) frame.Badge {
	if active {
		return frame.Badge{Text: "Active", Kind: frame.Good}
	}
	return frame.Badge{Text: "Inactive", Kind: frame.Warning}
}

func lastUse(c addon.Credential) templ.Component {
	if c.LastUsedAt.IsZero() {
		return frame.Muted("never")
	}
	return frame.Stack(frame.Time(c.LastUsedAt), frame.Muted("from "+c.LastUsedFrom))
}

func (p *Pages) newCredentialPage(label string, errs frame.Errors) frame.Page {
	return frame.Page{
		Title: "New credentials", Crumbs: crumbs(credentialsCrumb), Body: newCredentialView(label, errs),
		Lead: "A new pair of API key and API secret, active at once.",
	}
}

func (p *Pages) showNewCredential(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Show(w, r, p.newCredentialPage("", nil))
}

// createCredential answers with the values themselves and leads nowhere: they are
// in no session and in no address. Loading the page again makes no second pair,
// because the label is taken.
func (p *Pages) createCredential(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	label := in.Get("label")
	errs, err := p.passwordErrors(r, in.Get("password"))
	if strings.TrimSpace(label) == "" {
		errs = slices.Insert(errs, 0, frame.FieldError{Name: "label", Text: "Type a label, to tell this pair from others."})
	}
	if errs != nil {
		return p.refuse(w, r, p.newCredentialPage(label, errs), err)
	}
	if err != nil {
		return err
	}
	c, pair, err := p.addon.CreateCredential(r.Context(), r.Actor, label)
	if errs, ok := frame.FormErrors(err, "label"); ok {
		if fault.HasCode(err, "label_exists") {
			errs[0].Name = "label"
			errs[0].Text += " If you have just made it, it is in the list: its values can be shown there."
		}
		return p.refuse(w, r, p.newCredentialPage(label, errs), err)
	}
	if err != nil {
		return err
	}
	return p.showPair(w, r, c, pair, "Your new credentials", "Both are active.")
}

// showPair is the page with the values of a pair.
func (p *Pages) showPair(w http.ResponseWriter, r *frame.Request, c addon.Credential, pair addon.Pair, title, lead string) error {
	return p.frame.Show(w, r, frame.Page{
		Title: title, Lead: lead, Crumbs: crumbs(credentialsCrumb, frame.Link{Label: c.Label, Path: credentialPath(c)}),
		Body: pairView(c, pair, p.address(w, r, PathAppSettings)),
	})
}

// oneCredential finds the pair that the address names.
func (p *Pages) oneCredential(r *frame.Request) (addon.Credential, error) {
	id, err := number(r, "id")
	if err != nil {
		return addon.Credential{}, err
	}
	return p.addon.Credential(r.Context(), r.Actor, id)
}

func (p *Pages) showCredential(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{Title: c.Label, Crumbs: crumbs(credentialsCrumb), Body: credentialView(c)})
}

// switchCredential sets the two switches of a pair.
func (p *Pages) switchCredential(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	for _, one := range []struct {
		half    addon.Half
		now, on bool
	}{{addon.HalfKey, c.KeyActive, in.Get("key") == "1"}, {addon.HalfSecret, c.SecretActive, in.Get("secret") == "1"}} {
		if one.now == one.on {
			continue
		}
		if c, err = p.addon.SetCredentialActive(r.Context(), r.Actor, c.ID, one.half, one.on); err != nil {
			return err
		}
	}
	text := "“" + c.Label + "” is active: calls with it are answered."
	if !c.Active() {
		text = "“" + c.Label + "” is inactive: calls with it are refused from now on."
	}
	return p.frame.Redirect(w, r, credentialPath(c), text)
}

func (p *Pages) revealPage(c addon.Credential, errs frame.Errors) frame.Page {
	field := passwordField(errs)
	field.Focus = len(errs) == 0
	return frame.Page{Title: "Show the values", Crumbs: crumbs(credentialsCrumb, frame.Link{Label: c.Label, Path: credentialPath(c)}), Body: frame.Confirm{
		Consequence: "The API key and the API secret of “" + c.Label + "” are shown on the next page. That you looked is written to the audit log.",
		Path:        credentialPath(c) + "/reveal", Label: "Show them", Cancel: credentialPath(c), Safe: true, Errors: errs,
		Fields: []frame.Field{field},
	}}
}

// passwordField asks for the password again, before values are shown: whoever has
// them needs no session any more.
func passwordField(errs frame.Errors) frame.Field {
	return frame.Field{Name: "password", Label: "Your password", Kind: frame.Password, Autocomplete: "current-password", Required: true, Error: errs.Of("password")}
}

// passwordErrors says for the form what is wrong with the password in it, and why
// it was refused. Both are nil for the right one.
func (p *Pages) passwordErrors(r *frame.Request, password string) (frame.Errors, error) {
	if password == "" {
		return frame.Errors{{Name: "password", Text: "Type your password."}}, nil
	}
	err := p.addon.People().CheckPassword(r.Context(), r.Actor, password)
	errs, ok := frame.FormErrors(err)
	if ok && fault.HasCode(err, "password_wrong") {
		errs[0].Name = "password"
	}
	return errs, err
}

func (p *Pages) showReveal(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.revealPage(c, nil))
}

func (p *Pages) revealCredential(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	if errs, err := p.passwordErrors(r, in.Get("password")); errs != nil {
		return p.refuse(w, r, p.revealPage(c, errs), err)
	} else if err != nil {
		return err
	}
	_, pair, err := p.addon.RevealCredential(r.Context(), r.Actor, c.ID)
	if errs, ok := frame.FormErrors(err); ok {
		return p.refuse(w, r, p.revealPage(c, errs), err)
	}
	if err != nil {
		return err
	}
	return p.showPair(w, r, c, pair, "The values of “"+c.Label+"”", "Close this page when you have copied them.")
}

func (p *Pages) rotatePage(c addon.Credential, errs frame.Errors) frame.Page {
	return frame.Page{
		Title: "New values for “" + c.Label + "”", Crumbs: crumbs(credentialsCrumb, frame.Link{Label: c.Label, Path: credentialPath(c)}), Body: rotateView(c, errs),
	}
}

// uses says how much a pair is used.
func uses(c addon.Credential) string {
	if c.LastUsedAt.IsZero() {
		return "They have never been used."
	}
	return fmt.Sprintf("They were used in %s, last on %s from %s.", count(int(c.UsedCount), "call"), moment(c.LastUsedAt), c.LastUsedFrom)
}

func (p *Pages) showRotate(w http.ResponseWriter, r *frame.Request) error {
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.rotatePage(c, nil))
}

// rotateCredential gives a pair new values and answers with them. The form names
// the values that it ends, so that loading the page again ends no newer ones.
func (p *Pages) rotateCredential(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	c, err := p.oneCredential(r)
	if err != nil {
		return err
	}
	if in.Get("ends") != c.Key {
		return p.frame.Redirect(w, r, credentialPath(c), "Nothing was changed: this pair has new values already. “Show the values” shows them.")
	}
	if errs, err := p.passwordErrors(r, in.Get("password")); errs != nil {
		return p.refuse(w, r, p.rotatePage(c, errs), err)
	} else if err != nil {
		return err
	}
	c, pair, err := p.addon.RotateCredential(r.Context(), r.Actor, c.ID)
	if err != nil {
		return err
	}
	return p.showPair(w, r, c, pair, "New values for “"+c.Label+"”", "The old ones have ended.")
}
