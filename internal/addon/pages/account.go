package pages

import (
	"net/http"
	"net/url"

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
	// unsaved reports that a valid file was checked and not saved.
	unsaved bool
	errs    frame.Errors
	// revision is the state of the draft that the page shows.
	revision int64
	// conflict is what to say when somebody else changed the draft first. Unlike with
	// other settings the two versions can't be shown.
	conflict *accountConflict
}

// accountConflict describes the change that was not saved.
type accountConflict struct {
	// title is what did not happen, again what to do about it.
	title, again string
	// first says who saved and when; "" when that is not known.
	first string
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
		Lead: "The account with which this server may ask the store about purchases of your app.",
	}
}

func (p *Pages) showAccount(w http.ResponseWriter, r *frame.Request, f accountForm) error {
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
	late := accountConflict{title: "Nothing was saved: somebody else saved first", again: "To use your file, choose or paste it again."}
	return p.submitAccount(w, r, late, func() error {
		seen, err := revision(in)
		if err != nil {
			return err
		}
		facts, err := p.addon.Settings.SetServiceAccount(r.Context(), r.Actor, seen, file)
		if err != nil {
			return err
		}
		return p.frame.Redirect(w, r, pathAccount, "The service account "+facts.ClientEmail+" is in the draft, encrypted. It is used when you publish.")
	}, func(f *accountForm) {
		f.about, f.errs = sentFile, f.errs.At("json")
		if checks, ok := iap.CheckServiceAccount(file); !ok {
			f.checks = checks
		}
	})
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
		return p.frame.Refuse(w, r, p.accountPage(f), nil)
	}
	f.about = sentFile
	f.checks, f.unsaved = iap.CheckServiceAccount(file)
	return p.frame.Show(w, r, p.accountPage(f))
}

// testAccount looks at the file that is kept, without asking the store.
func (p *Pages) testAccount(w http.ResponseWriter, r *frame.Request, f accountForm) error {
	return p.submitAccount(w, r, accountConflict{}, func() (err error) {
		f.about = "the current service account"
		if f.checks, _, err = p.addon.IAP.TestServiceAccount(r.Context(), r.Actor); err != nil {
			return err
		}
		return p.frame.Show(w, r, p.accountPage(f))
	}, nil)
}

func (p *Pages) showRemoveAccount(w http.ResponseWriter, r *frame.Request, f accountForm) error {
	if !f.facts.Set {
		return p.frame.Redirect(w, r, pathAccount, "The draft has no service account.")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Remove the service account", Crumbs: crumbs(iapForm.crumb(), frame.Link{Label: "Service account", Path: pathAccount}),
		Consequence: "The service account " + f.facts.ClientEmail + " is removed from the draft. After the next publish, in-app purchases are off for apps.",
		Path:        pathAccount + "/remove", Label: "Remove it", Cancel: pathAccount, Fields: []frame.Field{revisionField(f.revision)},
	})
}

func (p *Pages) removeAccount(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	late := accountConflict{title: "Nothing was removed: somebody else saved first", again: "To remove it, confirm again."}
	return p.submitAccount(w, r, late, func() error {
		seen, err := revision(in)
		if err != nil {
			return err
		}
		if err := p.addon.Settings.RemoveServiceAccount(r.Context(), r.Actor, seen); err != nil {
			return err
		}
		return p.frame.Redirect(w, r, pathAccount, "The service account was removed from the draft. The published one stays until you publish.")
	}, nil)
}

// submitAccount answers a form of the page of the service account. The page is shown
// again with what is kept now: late is what to say when somebody else changed the
// draft first, and again adds to the page otherwise, unless it is nil.
func (p *Pages) submitAccount(w http.ResponseWriter, r *frame.Request, late accountConflict, do func() error, again func(*accountForm)) error {
	tooLate := false
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error { return do() },
		Explain: func(refused error) (frame.Errors, bool) {
			tooLate = fault.HasCode(refused, "settings_changed")
			return frame.FormErrors(refused, iap.KeyServiceAccount)
		},
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			f, err := p.readAccount(r)
			if err != nil {
				return frame.Page{}, err
			}
			if tooLate {
				late.first = p.lastChange(r)
				f.conflict = &late
				return p.accountPage(f), nil
			}
			if f.errs = wrong; again != nil {
				again(&f)
			}
			return p.accountPage(f), nil
		},
	})
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
