package membership

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
)

const alertPaidTwice = "paid_twice"

// notePaidTwice raises an alert while a user pays for more than one subscription, of which one counts, and reports whether
// that is new. It ends when the store renews all but one of them no more. After it was dismissed it comes back only then.
func (s *Service) notePaidTwice(ctx context.Context, tx *addondb.DB, user string, sources []entitle.Source) (isNew bool, err error) {
	products := paidProducts(sources)
	known, err := tx.Alert(ctx, alertPaidTwice, user)
	if ignoreNotFound(err) != nil {
		return false, err
	}
	message := fmt.Sprintf("The user %s pays for %d subscriptions: %s", user, len(products), strings.Join(products, ", "))
	switch isKnown := err == nil; {
	case len(products) < 2 && isKnown:
		return false, tx.DeleteAlert(ctx, alertPaidTwice, user)
	case len(products) < 2, isKnown && (!known.ResolvedAt.IsZero() || known.Message == message):
		return false, nil
	default:
		return !isKnown, s.raise(ctx, tx, alertPaidTwice, user, message)
	}
}

// paidProducts lists the products of the purchases with access that the store renews, of the real store if there are any.
func paidProducts(sources []entitle.Source) (products []string) {
	paid := slices.DeleteFunc(slices.Clone(sources), func(source entitle.Source) bool {
		return source.Kind != entitle.FromStore || !source.Access || !source.WillRenew
	})
	isReal := func(source entitle.Source) bool { return source.Environment == entitle.Production }
	if slices.ContainsFunc(paid, isReal) {
		paid = slices.DeleteFunc(paid, func(source entitle.Source) bool { return !isReal(source) })
	}
	paid = slices.CompactFunc(paid, func(a, b entitle.Source) bool { return a.ID == b.ID }) // the items of a purchase follow each other
	for _, source := range paid {
		products = append(products, source.Product)
	}
	return products
}
