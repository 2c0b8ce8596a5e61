package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// supportMonths is how long support usually lasts.
const supportMonths = 6

// purchaseForm is what the form of a new purchase holds.
type purchaseForm struct {
	ws    store.WorkspaceRole
	in    url.Values
	errs  frame.Errors
	items itemNames
	item  store.Item // the chosen one, without an id before
	today time.Time
}

// newPurchasePage completes the form with the items, and with what is known of the chosen one.
func (p *Pages) newPurchasePage(r *frame.Request, f purchaseForm) (frame.Page, error) {
	page := frame.Page{Title: "Record a purchase", Crumbs: purchasesCrumbs(f.ws)}
	var err error
	if f.items, err = p.itemNames(r, f.ws); err != nil {
		return page, err
	}
	f.today = dayOf(p.frame.Now())
	if len(f.items) == 1 && !f.in.Has("item") {
		f.in.Set("item", strconv.FormatInt(f.items[0].ID, 10))
	}
	if id := idOf(f.in.Get("item")); id != 0 {
		if f.item, err = p.store.ShowItem(r.Context(), r.Actor, id); err != nil && !fault.HasKind(err, countersign.KindNotFound) {
			return page, err
		}
	}
	if f.errs == nil {
		f.in.Set("sold_on", f.today.Format(time.DateOnly))
		if f.item.Support {
			f.in.Set("supported_until", f.usualSupport())
		}
	}
	page.Body = newPurchaseView(f)
	return page, nil
}

// usualSupport is the day on which support of a purchase of today usually ends.
func (f purchaseForm) usualSupport() string {
	return f.today.AddDate(0, supportMonths, 0).Format(time.DateOnly)
}

func (f purchaseForm) itemField() frame.Field {
	return f.items.field(frame.Field{Name: "item", Label: "Item", Value: f.in.Get("item"), Required: true, Mark: markRequired, Focus: f.errs == nil, Error: f.errs.Of("item")}, "Choose an item")
}

func (f purchaseForm) supportHelp() string {
	switch {
	case f.item.ID == 0:
		return supportEnds + " Empty: sold without support. Six months from today: " + f.usualSupport() + "."
	case !f.item.Support:
		return "This item has no support, so the API leaves the end of support out."
	}
	return supportEnds + " Empty: sold without support."
}

func (p *Pages) showNewPurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	if err := p.store.MayManage(r.Context(), r.Actor, ws.Account.Username); err != nil {
		return err
	}
	page, err := p.newPurchasePage(r, purchaseForm{ws: ws, in: url.Values(filterOf(r.URL.Query(), "item"))})
	if err != nil {
		return err
	}
	return p.frame.Show(w, r, page)
}

func (p *Pages) recordPurchase(w http.ResponseWriter, r *frame.Request, ws store.WorkspaceRole) error {
	return p.frame.Submit(w, r, frame.Form{
		Fields: []string{"item", "license", "price", "sold_on", "supported_until", "buyer.name", "buyer.email", "code"},
		About:  map[string]string{"item_not_found": "item", "purchase_exists": "code", "code_clashes": "code"},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			return p.newPurchasePage(r, purchaseForm{ws: ws, in: in, errs: wrong})
		},
		Rules: []frame.Rule{func(in url.Values) error {
			_, err := p.readPurchase(r, in)
			return err
		}},
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

// readPurchase reads the form of a new purchase. Its error is about all fields that are wrong.
func (p *Pages) readPurchase(r *frame.Request, in url.Values) (sold store.Purchase, err error) {
	wrong := map[string]string{}
	sold = store.Purchase{
		ItemID: idOf(strings.TrimSpace(in.Get("item"))), License: in.Get("license"), Code: strings.TrimSpace(in.Get("code")),
		BuyerName: strings.TrimSpace(in.Get("buyer.name")), BuyerEmail: strings.TrimSpace(in.Get("buyer.email")),
	}
	if sold.License == "" {
		sold.License = countersign.LicenseRegular
	}
	if sold.ItemID == 0 {
		wrong["item"] = "Choose the item that was sold."
	}
	p.readSoldOn(in, &sold, wrong)
	until, err := readDay(in.Get("supported_until"))
	if err != nil {
		wrong["supported_until"] = dayHelp
	} else if !until.IsZero() {
		sold.SupportedUntil = countersign.At(until)
	}
	if err := p.readPrice(r, in, &sold, wrong); err != nil {
		return sold, err
	}
	if err := p.store.CheckNewPurchase(sold); err != nil {
		for name, text := range fault.Of(err).Fields {
			name = cmp.Or(purchaseFields[name], name)
			wrong[name] = cmp.Or(wrong[name], text)
		}
	}
	return sold, wrongFields(wrong)
}

// readPrice reads the price of the sale, in the currency of its item.
func (p *Pages) readPrice(r *frame.Request, in url.Values, sold *store.Purchase, wrong map[string]string) (err error) {
	price := strings.TrimSpace(in.Get("price"))
	if price == "" {
		return nil
	}
	if sold.Price, err = countersign.ParseMoney(price); err != nil {
		wrong["price"] = "Type an amount with a point and at most two decimals, for example 49.00."
	}
	if sold.ItemID == 0 {
		return nil
	}
	item, err := p.store.ShowItem(r.Context(), r.Actor, sold.ItemID)
	if fault.HasCode(err, countersign.CodeItemNotFound) {
		wrong["item"] = frame.Sentence(fault.Message(err))
		return nil
	}
	sold.Currency = item.Currency
	return err
}

// purchaseFields are the names of fields in the form, by those in the API.
var purchaseFields = map[string]string{"purchase_code": "code", "license_type": "license", "date": "sold_on"}

// readSoldOn reads the day of the sale. A sale of today, or without a day, is one of this moment.
func (p *Pages) readSoldOn(in url.Values, sold *store.Purchase, wrong map[string]string) {
	day, err := readDay(in.Get("sold_on"))
	switch today := dayOf(p.frame.Now()); {
	case err != nil:
		wrong["sold_on"] = dayHelp
	case day.After(today):
		wrong["sold_on"] = "This day is in the future. Choose today or an earlier day."
	case !day.IsZero() && day.Before(today):
		sold.SoldAt = countersign.At(day)
	}
}
