package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/frame"
)

// The keys of the form of in-app purchases, by the heading that they stand under.
var (
	sellingKeys      = []string{iap.KeyEnabled, iap.KeySandboxEnabled, iap.KeyPackageName}
	notificationKeys = []string{iap.KeyPushServiceAccount, iap.KeyPushAudience, iap.KeyPullSubscription}
	onceKeys         = []string{iap.KeyOneTime}
	testKeys         = []string{iap.KeyTestPurchases, iap.KeyTestUsers}
	ownerKeys        = []string{iap.KeyClaimPolicy, iap.KeyTransferPolicy, iap.KeyUnknownPolicy}
	outageKeys       = []string{iap.KeyLeewayHours}
)

// iapPageData is what the form of in-app purchases shows besides the draft.
type iapPageData struct {
	draft
	rows     []productRow
	packages []iap.Package
	account  iap.ServiceAccountFacts
	// view is what apps would receive.
	view     string
	declined bool
}

func (p *Pages) readIAP(r *frame.Request) (iapPageData, error) {
	d, err := p.readDraft(r, iapForm)
	if err != nil {
		return iapPageData{}, err
	}
	data := iapPageData{draft: d, rows: savedRows(d.saved)}
	return data, p.readAround(r, &data)
}

// readAround reads what the form shows besides the draft.
func (p *Pages) readAround(r *frame.Request, data *iapPageData) error {
	ctx := r.Context()
	var err error
	if data.packages, err = p.addon.IAP.Packages(ctx, r.Actor); err != nil {
		return err
	}
	if data.account, _, err = p.addon.IAP.ServiceAccount(ctx, r.Actor); err != nil {
		return err
	}
	if data.declined, err = p.addon.IAP.Declined(ctx, r.Actor); err != nil {
		return err
	}
	view, err := p.addon.IAP.Preview(ctx, r.Actor)
	data.view = frame.Indented(view.JSON)
	return err
}

func (p *Pages) iapPage(data iapPageData) frame.Page {
	return frame.Page{
		Title: "In-app purchases", Crumbs: crumbs(), Body: iapView(data),
		Lead: "What the app sells, and which membership each purchase activates.",
	}
}

func (p *Pages) showIAP(w http.ResponseWriter, r *frame.Request) error {
	data, err := p.readIAP(r)
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, p.iapPage(data))
}

func (p *Pages) saveIAP(w http.ResponseWriter, r *frame.Request) error {
	in, err := r.PostValues()
	if err != nil {
		return err
	}
	data, button := iapPageData{draft: draft{form: iapForm}, rows: typedRows(in)}, in.Get("do")
	if n, there := removedRow(button, len(data.rows)); there {
		data.rows = append(data.rows[:n], data.rows[n+1:]...)
	}
	return p.frame.Submit(w, r, frame.Form{
		Do: func(url.Values) error {
			if err := p.set(r, &data.draft, in, func() { data.takeRows(in) }); err != nil {
				return err
			}
			if button != "publish" || !data.blockingErrors() {
				return p.savedIAP(w, r, data.draft, button)
			}
			data.rows = savedRows(data.saved)
			page, err := p.iapAgain(r, &data)
			if err != nil {
				return err
			}
			return p.frame.Refuse(w, r, page, nil)
		},
		Explain: func(refused error) (frame.Errors, bool) {
			wrong, explained := p.explainDraft(r, &data.draft)(refused)
			if half := halfRows(data.rows); explained && half != nil {
				isMap := func(one frame.FieldError) bool { return one.Name == iap.KeyProductMap }
				wrong = append(slices.DeleteFunc(wrong, isMap), half...)
			}
			return wrong, explained
		},
		Again: func(_ url.Values, wrong frame.Errors) (frame.Page, error) {
			data.errs = wrong
			return p.iapAgain(r, &data)
		},
	})
}

// iapAgain is the page of a form that was refused.
func (p *Pages) iapAgain(r *frame.Request, data *iapPageData) (frame.Page, error) {
	if err := p.readAround(r, data); err != nil {
		return frame.Page{}, err
	}
	data.locate()
	return p.iapPage(*data), nil
}

// savedIAP leads on to the page that belongs to the pressed button.
func (p *Pages) savedIAP(w http.ResponseWriter, r *frame.Request, d draft, button string) error {
	switch {
	case button == "account":
		return p.frame.Redirect(w, r, pathAccount, "")
	case button == "products":
		return p.frame.Redirect(w, r, pathProducts, "")
	case button == "row" || isRemove(button):
		return p.frame.Redirect(w, r, d.path+"#"+groupID("Products"), saidSaved(d.saved))
	}
	return p.saved(w, r, d, button)
}

// switched reports whether a switch of the draft is on.
func (d draft) switched(key string) bool {
	s, _ := d.saved.Get(key)
	v := d.value(s)
	return v == "1" || v == "true"
}

// settingsOf finds settings by their keys.
func (d draft) settingsOf(keys ...string) (list []settings.Setting) {
	for _, key := range keys {
		if s, there := d.saved.Get(key); there {
			list = append(list, s)
		}
	}
	return list
}

// decline notes that the site does not sell in the app, or, with sell=1, that it
// does after all.
func (p *Pages) decline(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Not selling in the app", Crumbs: crumbs(iapForm.crumb()),
		Consequence: "The checklist no longer includes in-app purchases. Nothing else changes. You can undo this on the page “In-app purchases”.",
		Path:        pathDecline, Label: "I don't sell in the app", Cancel: PathDashboard, Safe: true,
		Form: frame.Form{Do: func(in url.Values) error {
			sells := in.Get("sell") == "1"
			if err := p.addon.IAP.Decline(r.Context(), r.Actor, !sells); err != nil {
				return err
			}
			if sells {
				return p.frame.Redirect(w, r, pathIAP, "The checklist includes in-app purchases again.")
			}
			return p.frame.Redirect(w, r, PathDashboard, "The checklist no longer includes in-app purchases.")
		}},
	})
}

// takeRows puts what was posted on top of the draft that is saved, the rows as a map.
func (d *iapPageData) takeRows(in url.Values) {
	d.take(in, slices.Concat(sellingKeys, []string{iap.KeyProductMap}, onceKeys, notificationKeys, testKeys, ownerKeys, outageKeys)...)
	d.entered[iap.KeyProductMap] = mapOf(d.rows)
}

// locate moves what is wrong with the map to the row that is wrong.
func (d *iapPageData) locate() {
	for i, one := range d.errs {
		if one.Name == iap.KeyProductMap {
			d.errs[i].Name = wrongRow(d.rows, d.packages)
		}
	}
}

// shownRows are the rows with an empty one at the end, for the next product.
func (d iapPageData) shownRows() []productRow {
	return append(d.rows[:len(d.rows):len(d.rows)], productRow{})
}
