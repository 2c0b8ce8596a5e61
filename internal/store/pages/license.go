package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/licensing"
)

// order is what a buyer asks for, as it was typed, and what became of it.
type order struct {
	code, domain, tests string
	errs                frame.Errors
	// used are the licenses that could be moved to the domain.
	used []licensing.License
}

func orderOf(in url.Values) order {
	return order{code: strings.TrimSpace(in.Get("code")), domain: strings.TrimSpace(in.Get("domain")), tests: strings.TrimSpace(in.Get("tests"))}
}

// complete finds what is missing in an order.
var complete = frame.Required("code", "Paste the purchase code. It is on your receipt.", "domain", "Type the domain of the site, like shop.example.")

// orderFields are the fields of an order from top to bottom.
var orderFields = []string{"code", "domain", "tests"}

// request is what was typed.
func (o *order) request() licensing.Request {
	return licensing.Request{Code: o.code, Domain: o.domain, Tests: frame.Listed(o.tests)}
}

func (p *Pages) orderPage(o order) frame.Page {
	return frame.Page{
		Title: "Get a license file", Bare: true, Wide: true, Body: orderView(o),
		Lead: "A site's mobile app verifies this file when it starts. You need the purchase code and the site's domain.",
	}
}

func (p *Pages) showLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.frame.Show(w, r, p.orderPage(order{}))
}

func (p *Pages) issueLicense(w http.ResponseWriter, r *frame.Request) error {
	return p.submitOrder(w, r, func(_ url.Values, o order) error {
		files, err := p.store.Licensing.IssueAll(r.Context(), buyer(r), p.baseURL, o.request())
		if err != nil {
			return err
		}
		return p.showFiles(w, r, o.code, files)
	})
}

// submitOrder answers an order by do, which shows a page. Where the code is used
// for another domain, the page offers to move that license.
func (p *Pages) submitOrder(w http.ResponseWriter, r *frame.Request, do func(in url.Values, o order) error) error {
	var o order
	var used []licensing.License
	return p.frame.Submit(w, r, frame.Form{
		Fields: orderFields,
		Check:  complete,
		Rules: []frame.Rule{func(in url.Values) error {
			if o := orderOf(in); o.code == "" {
				return o.request().Check()
			}
			return nil // with its code, the rule of its item counts
		}},
		Do: func(in url.Values) error {
			o = orderOf(in)
			err := p.withCode(w, o.code, func() error { return do(in, o) })
			if fault.HasCode(err, countersign.CodeLimitReached) {
				var failed error
				if used, failed = p.movable(r, o.code, fault.Of(err)); failed != nil {
					return fault.Public(failed)
				}
			}
			if err != nil {
				return refusal(err)
			}
			return nil
		},
		Explain: func(refused error) (frame.Errors, bool) {
			if len(used) > 0 {
				return nil, true // the offer to move says it all
			}
			wrong, explained := p.explain(refused)
			if fault.HasCode(refused, countersign.CodePurchaseNotFound) {
				domains, _ := frame.FormErrors(o.request().Check(), orderFields...)
				wrong = append(wrong, domains...)
			}
			return wrong, explained
		},
		Again: func(in url.Values, wrong frame.Errors) (frame.Page, error) {
			o := orderOf(in)
			o.errs, o.used = wrong, used
			return p.orderPage(o), nil
		},
	})
}

// withCode calls do, which finds a purchase by a code, within the limits. No key comes
// to a page, so whoever has had too many failures is refused.
func (p *Pages) withCode(w http.ResponseWriter, code string, do func() error) error {
	return p.limits.Call(w, false, func(bool) error {
		if err := p.limits.TakeCode(w, "issue", code); err != nil {
			return err
		}
		return do()
	})
}

func (p *Pages) showFiles(w http.ResponseWriter, r *frame.Request, code string, files []licensing.Signed) error {
	title := "Your license file"
	if len(files) > 1 {
		title = "Your license files"
	}
	return p.frame.Show(w, r, frame.Page{Title: title, Bare: true, Wide: true, Body: filesView(code, files, p.frame.Now())})
}

// movable finds the licenses that stand in the way of another one and can be moved:
// those of test domains are free and stay.
func (p *Pages) movable(r *frame.Request, code string, refusal *countersign.Error) ([]licensing.License, error) {
	in, _ := refusal.Data.(countersign.LicenseDomains)
	all, err := p.store.Licensing.InUse(r.Context(), buyer(r), code)
	return slices.DeleteFunc(all, func(l licensing.License) bool { return l.Free || !slices.Contains(in.Domains, shown(l)) }), err
}

// refusal is why nothing was done, for a buyer. An unknown code is wrong input: the
// page is there.
func refusal(err error) error {
	if apiErr := fault.Of(err); apiErr != nil && apiErr.Kind == countersign.KindNotFound {
		wrong := *apiErr
		wrong.Kind = countersign.KindInvalid
		return &wrong
	}
	return fault.Public(err)
}

// explain says at its field why nothing was issued.
func (p *Pages) explain(refused error) (frame.Errors, bool) {
	if fault.HasCode(refused, countersign.CodePurchaseNotFound) {
		return frame.Errors{{Name: "code", Text: "Purchase code not recognized. Check it against your receipt. If it is the same, ask the seller."}}, true
	}
	return frame.LicenseErrors(refused, p.frame.Now())
}

func buyer(r *frame.Request) people.Actor { return people.Buyer(people.FrontEndPage, r.From.Addr) }

// shown is a license's domain as it was asked for.
func shown(l licensing.License) string {
	if l.Wildcard {
		return "*." + l.Domain
	}
	return l.Domain
}

// facts returns what a license is for, whose item it is of, and until when.
func facts(l licensing.Signed, now time.Time) frame.Facts {
	domains := shown(l.License)
	if l.Wildcard {
		domains += ", " + l.Domain
	}
	var supported time.Time
	if l.Support {
		supported = l.SupportedUntil.Time
	}
	return frame.LicenseFacts(domains, l.ItemName, l.ItemID, l.Purchase.License, supported, now, frame.Fact{Label: "Sold by", Value: frame.Words(l.Workspace)})
}
