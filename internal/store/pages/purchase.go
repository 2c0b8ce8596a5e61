package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/validation"
)

// onPurchase serves what the address names: a purchase of the workspace.
func (p *Pages) onPurchase(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, validation.Check) error) http.Handler {
	return p.inWorkspace(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
		id := idOf(r.PathValue("purchase"))
		if id == 0 {
			return p.frame.NotFound(w, r)
		}
		c, err := p.store.Validation.Purchase(r.Context(), r.Actor, id)
		if err != nil {
			return err
		}
		return h(w, r, ws, c)
	})
}

// onOwnPurchase is onPurchase for those who may change it.
func (p *Pages) onOwnPurchase(h func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, validation.Check) error) http.Handler {
	return p.onPurchase(func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
		if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
			return err
		}
		return h(w, r, ws, c)
	})
}

// onePurchase is what the page of a purchase shows.
type onePurchase struct {
	ws store.WorkspaceRole
	validation.Check
	licenses []frame.Row
	timeline timeline
}

func (one onePurchase) noLicenses() frame.Empty {
	e := frame.Empty{Icon: "file-key", Title: "No licenses"}
	if one.Purchase.State == store.StateActive {
		e.Title, e.Text = "No licenses yet", "The buyer gets a license file for a domain with this code, on the license page of this store."
		e.Action = frame.Link{Label: "License page", Path: PathLicense}
	}
	return e
}

func (p *Pages) showPurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
	one := onePurchase{ws: ws, Check: c}
	var licenses []licensing.License
	err := p.store.Licensing.List(r.Context(), r.Actor, licensing.Filter{Workspace: ws.Account.Username, Purchase: c.Purchase.ID}, func(l licensing.License) error {
		licenses = append(licenses, l)
		return nil
	})
	if err != nil {
		return err
	}
	one.licenses = licenseRows(ws, licenses)
	if one.timeline, err = p.readTimeline(r, ws, c, licenses); err != nil {
		return err
	}
	return p.frame.Show(w, r, frame.Page{
		Title: "Purchase " + strconv.FormatInt(c.Purchase.ID, 10), Heading: c.Item.Name, Crumbs: purchasesCrumbs(ws), Body: purchaseView(one),
	})
}

// validity says whether the API takes the code, and since when it does not.
func validity(one onePurchase) templ.Component {
	state, at := one.Purchase.State, one.Purchase.StateAt
	if state == store.StateActive || at.IsZero() {
		return stateBadge(state)
	}
	text := stateNames[state] + " on " + frame.Moment(at.Time)
	if by := one.timeline.endedBy; by != "" {
		text += " by " + by
	}
	return frame.Stack(stateBadge(state), frame.Words(text))
}

// support says until when a purchase has support.
func support(c validation.Check) templ.Component {
	switch {
	case c.Purchase.SupportedUntil.IsZero():
		return frame.Muted("Sold without support")
	case !c.Item.Support:
		return frame.Group(frame.Day(c.Purchase.SupportedUntil.Time), frame.Muted("(the item has no support, so the API leaves it out)"))
	}
	return frame.Day(c.Purchase.SupportedUntil.Time)
}

// end is one way in which a purchase ends.
type end struct {
	as                store.State
	path, label, done string
	// money says what becomes of what was paid.
	money string
}

// The ways in which a purchase ends.
var (
	refund     = end{store.StateRefunded, "/refund", "Mark as refunded", "The purchase is marked as refunded.", "This only marks the purchase here: no money moves. Refund the buyer where they paid."}
	chargeBack = end{store.StateChargedBack, "/charge-back", "Mark as charged back", "The purchase is marked as charged back.", "This only marks the purchase here: no money moves. It is for a payment that the buyer's bank took back."}
	revoke     = end{store.StateRevoked, "/revoke", "Revoke", "The purchase is revoked.", "No money moves."}
)

// endPurchase asks before a purchase ends.
func (p *Pages) endPurchase(as end) func(http.ResponseWriter, *frame.Request, store.WorkspaceRole, validation.Check) error {
	return func(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
		path := purchasePath(ws, c.Purchase.ID, "")
		facts, err := p.endFacts(r, ws, c.Purchase)
		if err != nil {
			return err
		}
		return p.frame.Ask(w, r, frame.Confirm{
			Title: as.label + ": " + c.Item.Name, Crumbs: purchaseCrumbs(ws, c),
			Consequence: as.money + " From now on the API answers that the code is invalid, and the licenses of this purchase are on the list of revoked licenses. You can undo it.",
			Details:     facts,
			Path:        path + as.path, Label: as.label, Cancel: path,
			Form: frame.Form{Do: func(url.Values) error {
				if _, err := p.store.EndPurchase(r.Context(), r.Actor, c.Purchase.Code, as.as); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, path, as.done+" Its code is refused from now on.")
			}},
		})
	}
}

// endFacts are what a purchase that is to end consists of.
func (p *Pages) endFacts(r *frame.Request, ws store.WorkspaceRole, sold store.Purchase) (frame.Facts, error) {
	var domains []string
	err := p.store.Licensing.List(r.Context(), r.Actor, licensing.Filter{Workspace: ws.Account.Username, Purchase: sold.ID}, func(l licensing.License) error {
		if l.Ended == "" {
			domains = append(domains, shown(l))
		}
		return nil
	})
	return frame.Facts{
		{Label: "Purchase code", Value: frame.Mono(sold.Code)},
		{Label: "Buyer", Value: buyerOf(sold)},
		{Label: "Price", Value: frame.Words(paid(sold))},
		{Label: "Licensed domains", Value: frame.Words(cmp.Or(strings.Join(domains, ", "), "None"))},
	}, err
}

func purchaseCrumbs(ws store.WorkspaceRole, c validation.Check) []frame.Link {
	return append(purchasesCrumbs(ws), frame.Link{Label: shortCode(c.Purchase.Code), Path: purchasePath(ws, c.Purchase.ID, "")})
}

func (p *Pages) restorePurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
	path := purchasePath(ws, c.Purchase.ID, "")
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Restore the purchase", Crumbs: purchaseCrumbs(ws, c),
		Consequence: "The code is valid again at once. Its licenses leave the list of revoked licenses; apps that have fetched the list see that within seven days.",
		Path:        path + "/restore", Label: "Restore", Cancel: path, Safe: true,
		Form: frame.Form{Do: func(url.Values) error {
			if _, err := p.store.RestorePurchase(r.Context(), r.Actor, c.Purchase.Code); err != nil {
				return err
			}
			return p.frame.Redirect(w, r, path, "The purchase is active again, and its code is valid.")
		}},
	})
}

// setTerms changes support, license type and download of a purchase.
func (p *Pages) setTerms(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole, c validation.Check) error {
	path := purchasePath(ws, c.Purchase.ID, "")
	until := ""
	if !c.Purchase.SupportedUntil.IsZero() {
		until = c.Purchase.SupportedUntil.Format("2006-01-02")
	}
	return p.frame.Ask(w, r, frame.Confirm{
		Title: "Change the purchase", Crumbs: purchaseCrumbs(ws, c),
		Consequence: "The API answers with the new values from the next call on. Licenses that were issued stay.",
		Path:        path + "/terms", Label: "Save", Cancel: path, Safe: true, Failed: "Nothing was saved.",
		Revision: store.TermsRevision(c.Purchase), Overtaken: p.lastAct(r, ws, "purchase.set", strconv.FormatInt(c.Purchase.ID, 10)),
		Fields: []frame.Field{
			{Name: "supported_until", Label: "Support until", Kind: frame.Date, Value: until, Help: supportEnds + " Empty: sold without support."},
			{Name: "license", Label: "License", Kind: frame.Select, Value: c.Purchase.License, Choices: licenseChoices},
			{Name: "downloaded", Label: "Downloaded", Kind: frame.Select, Value: strconv.FormatBool(c.Purchase.Downloaded), Choices: []frame.Choice{{Value: "false", Label: "No"}, {Value: "true", Label: "Yes"}}},
			{Name: "buyer.name", Label: "Name of the buyer", Value: c.Purchase.BuyerName},
			{Name: "buyer.email", Label: "E-mail of the buyer", Kind: frame.Email, Value: c.Purchase.BuyerEmail},
		},
		Form: frame.Form{
			Fields: []string{"supported_until", "license", "downloaded", "buyer.name", "buyer.email"},
			Rules: []frame.Rule{func(in url.Values) error {
				change, wrongDay := typedTerms(in, until)
				return fault.All(wrongDay, store.CheckTerms(c.Purchase, change))
			}},
			Do: func(in url.Values) error {
				change, _ := typedTerms(in, until)
				if _, err := p.store.SetPurchase(r.Context(), r.Actor, c.Purchase.Code, in.Get("revision"), change); err != nil {
					return err
				}
				return p.frame.Redirect(w, r, path, "Saved.")
			},
		},
	})
}

// typedTerms reads the form of a purchase's terms. until is the day with which its field began: the time of day stays
// with it.
func typedTerms(in url.Values, until string) (change func(*store.PurchaseTerms), err error) {
	day, err := readDay(in.Get("supported_until"))
	if err != nil {
		err = wrongField("supported_until", dayHelp)
	}
	return func(t *store.PurchaseTerms) {
		if err == nil && strings.TrimSpace(in.Get("supported_until")) != until {
			t.SupportedUntil = countersign.Timestamp{}
			if !day.IsZero() {
				t.SupportedUntil = countersign.At(day)
			}
		}
		t.License, t.Downloaded = in.Get("license"), in.Get("downloaded") == "true"
		if in.Has("buyer.name") && in.Has("buyer.email") {
			t.BuyerName, t.BuyerEmail = strings.TrimSpace(in.Get("buyer.name")), strings.TrimSpace(in.Get("buyer.email"))
		}
	}, err
}

var licenseChoices = []frame.Choice{{Value: countersign.LicenseRegular, Label: "Regular"}, {Value: countersign.LicenseExtended, Label: "Extended"}}

func stateChoices() []frame.Choice {
	all := []frame.Choice{{Label: "All"}}
	for _, s := range store.PurchaseStates() {
		all = append(all, frame.Choice{Value: string(s), Label: stateNames[s]})
	}
	return all
}

func (l purchaseList) empty() frame.Empty {
	if l.filter().narrowed() {
		return frame.Empty{Icon: "search", Title: "No matching purchases", Action: frame.Link{Label: "Show everything", Path: purchasesPath(l.ws, "")}}
	}
	return frame.Empty{Icon: "credit-card", Title: "No purchases yet", Text: "They appear here when they are recorded or imported."}
}
