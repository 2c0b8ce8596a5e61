package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/play/playfake"
)

const (
	// overlap is how long a replaced subscription still looks as before, so that its end is
	// never seen before the purchase that replaces it.
	overlap = time.Minute
	// maxPurchases and maxOrders are how many purchases and orders the store holds, because each
	// change writes them all. An order is a payment: a renewal makes another.
	maxPurchases, maxOrders = 200, 2000
)

// Order is what a user buys.
type Order struct {
	// User is the site's id of the buyer, Product the id of a mapped product.
	User, Product string
	// Plan is one of [Plans], "" for the first. A product that is bought once has none.
	Plan string
	// Replaces is the reference of the buyer's purchase that this one replaces, "" for none.
	Replaces string
}

// Buy buys a product, verifies the purchase as the app does, and then has the site process what
// the store sends about it. Errors are Conflict (test_mode_off, iap_disabled, not_possible,
// simulator_full), Invalid for a user, a product or a plan that can't be used, and those of a
// verification.
func (s *Service) Buy(ctx context.Context, actor people.Actor, o Order) (Step, error) {
	selling, err := s.admit(ctx, actor)
	switch {
	case err != nil:
		return Step{}, err
	case !selling.Enabled:
		return Step{}, errNotSelling
	}
	if err := o.check(selling.Packages); err != nil {
		return Step{}, err
	}
	if _, once := selling.OneTime[o.Product]; once {
		o.Plan = ""
	}
	intent, err := s.Members.Intend(ctx, o.User, nil)
	if err != nil {
		return Step{}, err
	}
	run := s.begin(ctx, actor, selling)
	run.user = o.User
	run.change(func(tx *addondb.DB, st *state) (err error) {
		run.token, err = st.buy(o, intent.AccountID)
		if err != nil {
			return err
		}
		return s.access.Audit(ctx, tx, actor, people.Event{
			Action: access.ActionSimulatorBuy, Subject: refOf(run.token), Detail: o.Product + " for " + o.User,
		})
	})
	step, err := run.verify(o.Product)
	if err != nil {
		return Step{}, err
	}
	run.process()
	return run.finish(step)
}

// check returns all that is wrong with an order, with Fields "user", "product" and "plan".
func (o Order) check(packages map[string]int64) error {
	var wrongUser, wrongProduct, wrongPlan error
	if problem := input.UserID(o.User); problem != "" {
		wrongUser = input.Invalid("invalid_request", map[string]string{"user": problem})
	}
	if packages[o.Product] == 0 {
		wrongProduct = input.Invalid(fault.CodeInvalid, map[string]string{"product": fmt.Sprintf("The product %q is not mapped to a package in the published settings", o.Product)})
	}
	if o.Plan != "" && !slices.Contains(Plans(), o.Plan) {
		wrongPlan = input.Invalid(fault.CodeInvalid, map[string]string{"plan": "Use " + strings.Join(Plans(), ", ")})
	}
	return fault.All(wrongUser, wrongProduct, wrongPlan)
}

// buy buys a product and returns the purchase token.
func (st *state) buy(o Order, account string) (token string, err error) {
	if len(st.store.Purchases()) >= maxPurchases {
		return "", fault.Conflict("simulator_full", fmt.Sprintf("The simulated store holds %d purchases", maxPurchases))
	}
	if err := st.full(); err != nil {
		return "", err
	}
	replaced := ""
	if o.Replaces != "" {
		old, found := find(st.store, o.Replaces)
		switch {
		case !found:
			return "", errNoPurchase
		case st.Buyers[old.Token] != o.User:
			return "", fault.Conflict("not_possible", "The purchase that is to be replaced is another user's")
		}
		replaced = old.Token
	}
	token, err = st.store.Buy(playfake.BuyOptions{ProductID: o.Product, PlanID: o.Plan, Account: account, Replaces: replaced, Overlap: overlap, Unnoticed: true})
	if err != nil {
		return "", fault.WithCause(errNotPossible, err)
	}
	st.Buyers[token] = o.User
	return token, nil
}

// Product is a product that can be bought.
type Product struct {
	ID        string
	PackageID int64
	OneTime   bool // it is bought once
	Price     countersign.IAPPrice
}

// Products lists the mapped products, by their packages.
func (s *Service) Products(ctx context.Context, actor people.Actor) ([]Product, error) {
	selling, err := s.admit(ctx, actor)
	if err != nil {
		return nil, err
	}
	st, _, err := s.read(ctx, selling)
	if err != nil {
		return nil, err
	}
	list := []Product{}
	for _, p := range st.store.Products() {
		if selling.Packages[p.ID] != 0 {
			list = append(list, Product{ID: p.ID, PackageID: selling.Packages[p.ID], OneTime: p.Plans[0].Kind == playfake.OneTime, Price: priceOf(p.Plans[0].Price)})
		}
	}
	slices.SortFunc(list, func(a, b Product) int { return cmp.Or(cmp.Compare(a.PackageID, b.PackageID), cmp.Compare(a.ID, b.ID)) })
	return list, nil
}

// priceOf prints a price of the catalogue, which has whole cents.
func priceOf(m playfake.Money) countersign.IAPPrice {
	const nanosPerCent = 10_000_000
	return countersign.IAPPrice{Amount: json.Number(fmt.Sprintf("%d.%02d", m.Units, m.Nanos/nanosPerCent)), Currency: m.Currency}
}
