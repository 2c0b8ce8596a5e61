package pages

import (
	"net/http"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
)

// accountForm is what the page of the service account shows.
type accountForm struct {
	facts, served iap.ServiceAccountFacts
	// checks is what was found in the file that was sent, or in the one that is
	// kept; about says which.
	checks []iap.FileCheck
	about  string
	// unsaved tells that a right file was looked at and not kept.
	unsaved bool
	errs    frame.Errors
	// revision is the state of the draft that the page shows.
	revision int64
	// clash is what to say when somebody else changed the draft first. Unlike with
	// other settings the two versions can't be shown.
	clash *accountClash
}

// accountClash says what the change was that came too late.
type accountClash struct {
	// title is what did not happen, again what to do about it.
	title, again string
	// who names the one that was first, "" when that is not known.
	who string
}

func (p *Pages) readAccount(r *frame.Request) (accountForm, error) {
	// In this order the revision is never newer than what is shown beside it.
	settings, err := p.addon.Settings.Draft(r.Context(), r.Actor)
	if err != nil {
		return accountForm{}, err
	}
	draft, published, err := p.addon.IAP.ServiceAccount(r.Context(), r.Actor)
	return accountForm{facts: draft, served: published, revision: settings.Revision}, err
}

func (p *Pages) accountPage(f accountForm) frame.Page {
	return frame.Page{
		Title: "Service account", Crumbs: crumbs(iapForm.crumb()), Body: accountView(f),
		Lead: "The store's proof that this server may ask about purchases of your app.",
	}
}

func (p *Pages) showAccount(w http.ResponseWriter, r *frame.Request) error {
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.accountPage(f))
}

// saveAccount keeps the file that was pasted or chosen, or only looks at it.
func (p *Pages) saveAccount(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	file, err := r.PostedFile("file")
	if err != nil {
		return err
	}
	if len(file) == 0 {
		file = []byte(in.Get("json"))
	}
	if len(file) == 0 || in.Get("do") == "check" {
		return p.checkAccount(w, r, file)
	}
	seen, err := revision(in)
	var facts iap.ServiceAccountFacts
	if err == nil {
		facts, err = p.addon.Settings.SetServiceAccount(r.Context(), r.Actor, seen, file)
	}
	if fault.HasCode(err, "settings_changed") {
		return p.refuseAccount(w, r, accountClash{title: "Nothing was saved: somebody else saved first", again: "If yours is still the one to keep, choose or paste it once more."}, err)
	}
	if errs, refused := frame.FormErrors(err, iap.KeyServiceAccount); refused {
		return p.refuseFile(w, r, file, errs, err)
	}
	if err != nil {
		return err
	}
	return p.frame.Redirect(w, r, pathAccount, "The service account "+facts.ClientEmail+" is in the draft, encrypted. It is used when you publish.")
}

// sentFile is how the page calls a file that was just sent.
const sentFile = "the file that you sent"

// checkAccount looks at a file without keeping it.
func (p *Pages) checkAccount(w http.ResponseWriter, r *frame.Request, file []byte) error {
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	if len(file) == 0 {
		f.errs = frame.Errors{{Name: "json", Text: "Paste the content of the file, or choose the file."}}
		return p.refuse(w, r, p.accountPage(f), nil)
	}
	f.about = sentFile
	f.checks, f.unsaved = iap.CheckServiceAccount(file)
	return p.frame.Show(w, r, p.accountPage(f))
}

// refuseFile shows the page again with what is wrong with a file.
func (p *Pages) refuseFile(w http.ResponseWriter, r *frame.Request, file []byte, errs frame.Errors, refused error) error {
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	for i := range errs {
		errs[i].Name = "json"
	}
	f.about, f.errs = sentFile, errs
	if checks, ok := iap.CheckServiceAccount(file); !ok {
		f.checks = checks
	}
	return p.refuse(w, r, p.accountPage(f), refused)
}

// testAccount looks at the file that is kept, without asking the store.
func (p *Pages) testAccount(w http.ResponseWriter, r *frame.Request) error {
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	f.about = "the service account that is kept"
	if f.checks, _, err = p.addon.IAP.TestServiceAccount(r.Context(), r.Actor); err != nil {
		return p.refuseAccount(w, r, accountClash{}, err)
	}
	return p.frame.Show(w, r, p.accountPage(f))
}

func (p *Pages) showRemoveAccount(w http.ResponseWriter, r *frame.Request) error {
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	if !f.facts.Set {
		return p.frame.Redirect(w, r, pathAccount, "No service account in the draft.")
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Remove the service account", Crumbs: crumbs(iapForm.crumb(), frame.Link{Label: "Service account", Path: pathAccount}), Body: removeAccountView(f),
	})
}

func (p *Pages) removeAccount(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	seen, err := revision(in)
	if err == nil {
		err = p.addon.Settings.RemoveServiceAccount(r.Context(), r.Actor, seen)
	}
	if err != nil {
		return p.refuseAccount(w, r, accountClash{title: "Nothing was removed: somebody else saved first", again: "If it is still to go, remove it again."}, err)
	}
	return p.frame.Redirect(w, r, pathAccount, "The service account was taken out of the draft. What is published stays until you publish.")
}

// refuseAccount shows the page with what is kept now, and why nothing was changed.
func (p *Pages) refuseAccount(w http.ResponseWriter, r *frame.Request, c accountClash, refused error) error {
	errs, ours := frame.FormErrors(refused)
	if !ours {
		return refused
	}
	f, err := p.readAccount(r)
	if err != nil {
		return err
	}
	if fault.HasCode(refused, "settings_changed") {
		c.who = p.lastChange(r)
		f.clash = &c
	} else {
		f.errs = errs
	}
	return p.refuse(w, r, p.accountPage(f), refused)
}

// checkRows shows what was found in a file.
func checkRows(checks []iap.FileCheck) (list frame.Checklist) {
	for _, c := range checks {
		kind := frame.Good
		if !c.OK {
			kind = frame.Danger
		}
		list = append(list, frame.Check{Kind: kind, Title: c.Text})
	}
	return list
}
