package pages

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// purchaseForm is what the form of a new purchase holds.
type purchaseForm struct {
	ws   store.WorkspaceRole
	in   url.Values
	errs frame.Errors
}

func newPurchasePage(f purchaseForm) frame.Page {
	return frame.Page{Title: "Record a purchase", Crumbs: purchasesCrumbs(f.ws), Body: newPurchaseView(f)}
}

func (p *Pages) showNewPurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	return p.frame.Show(w, r, newPurchasePage(purchaseForm{ws: ws}))
}

func (p *Pages) recordPurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Submit(w, r, frame.Form{
		Check:  frame.Required("item", "Type the id of the item that was sold."),
		Fields: []string{"item", "license", "price", "supported_until", "buyer_name", "buyer_email", "code"},
		About:  map[string]string{"item_not_found": "item", "purchase_exists": "code"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return newPurchasePage(purchaseForm{ws, in, wrong}), nil
		},
		Do: func(in url.Values) error {
			sold, err := p.readPurchase(r, in)
			if err != nil {
				return err
			}
			made, err := p.store.CreatePurchase(r.Context(), r.Actor, ws.Account.Username, sold)
			if err != nil {
				return err
			}
			return p.frame.Redirect(w, r, purchasePath(ws, made.ID, ""), "The purchase is recorded, and its code is valid.")
		},
	})
}

// readPurchase reads the form of a new purchase.
func (p *Pages) readPurchase(r *frame.Request, in url.Values) (sold store.Purchase, err error) {
	sold = store.Purchase{
		ItemID: idOf(strings.TrimSpace(in.Get("item"))), License: in.Get("license"), Code: strings.TrimSpace(in.Get("code")),
		BuyerName: strings.TrimSpace(in.Get("buyer_name")), BuyerEmail: strings.TrimSpace(in.Get("buyer_email")),
	}
	if sold.License == "" {
		sold.License = countersign.LicenseRegular
	}
	if sold.ItemID == 0 {
		return sold, wrongField("item", "Type the id of the item, a whole number.")
	}
	if text := strings.TrimSpace(in.Get("price")); text != "" {
		if sold.Price, err = countersign.ParseMoney(text); err != nil {
			return sold, wrongField("price", "Type an amount with a point, for example 49.00.")
		}
		item, err := p.store.ShowItem(r.Context(), r.Actor, sold.ItemID)
		if err != nil {
			return sold, err
		}
		sold.Currency = item.Currency
	}
	day, err := readDay(in.Get("supported_until"))
	if err != nil {
		return sold, wrongField("supported_until", dayHelp)
	}
	if !day.IsZero() {
		sold.SupportedUntil = countersign.At(day)
	}
	return sold, nil
}
