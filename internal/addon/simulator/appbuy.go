package simulator

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/play/playfake"
)

// maxOfUser is how many purchases the app of one user makes at most: nobody fills the store alone.
const maxOfUser = 20

var (
	errAppOff    = fault.Forbidden("iap_disabled", "In-app purchases are off")
	errNotMapped = fault.New(countersign.KindUnprocessable, "product_not_mapped", "The product is not mapped to a membership package")
	errUserFull  = fault.Conflict("simulator_full", fmt.Sprintf("The user has %d purchases in the simulated store", maxOfUser))
)

// BuyForApp buys a product for a user whom an app proved, as the app does in the real store. replaces is the token of the
// user's subscription that this one replaces, "" for none. The app verifies the token that it gets. While the user has the
// product, that is the token of this subscription, so that the call can be repeated. Errors are Conflict (test_mode_off,
// not_possible, simulator_full), Forbidden (iap_disabled), NotFound for what is to be replaced, and Unprocessable
// (product_not_mapped).
func (s *Service) BuyForApp(ctx context.Context, user, product, replaces string) (bought countersign.IAPSimulatedPurchase, err error) {
	selling, err := s.Selling(ctx)
	switch {
	case err != nil:
		return bought, err
	case !selling.Simulated:
		return bought, errOff
	case !selling.Enabled:
		return bought, errAppOff
	case selling.Packages[product] == 0:
		return bought, errNotMapped
	}
	intent, err := s.Members.Intend(ctx, user, nil)
	if err != nil {
		return bought, err
	}
	bought = countersign.IAPSimulatedPurchase{ProductID: product, AccountID: intent.AccountID}
	_, err = s.change(ctx, selling, processAfter, func(_ *addondb.DB, st *state) (err error) {
		order := Order{User: user, Product: product}
		if replaces != "" {
			order.Replaces = refOf(replaces)
		}
		bought.PurchaseToken, err = st.buyForApp(order, intent.AccountID)
		return err
	})
	return bought, err
}

// buyForApp is buy, within the bounds of one user.
func (st *state) buyForApp(o Order, account string) (token string, err error) {
	made := 0
	for _, p := range st.store.Purchases() {
		if st.Buyers[p.Token] != o.User {
			continue
		}
		if made++; owned(p, o.Product) {
			return p.Token, nil
		}
	}
	if made >= maxOfUser {
		return "", errUserFull
	}
	return st.buy(o, account)
}

// owned reports whether a purchase is of a product that its buyer still has.
func owned(p playfake.Purchase, product string) bool {
	return p.ProductID == product && p.Live && !p.Replaced && !p.Consumed
}
