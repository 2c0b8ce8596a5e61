package membership

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// readerOf returns how the token of a reading is read. The store does not say what a token is of: a token that is not
// known is tried as what the caller expects first, and then as the other. Nothing is bought once while no product of the
// map is.
func (s *Service) readerOf(store Store, r *reading, req request) reader {
	_, expected := r.selling.OneTime[req.product]
	switch first, other := reader(store.Subscription), reader(store.OneTime); {
	case r.known.ID != 0 && r.known.OneTime:
		return s.orStored(other, r.known)
	case r.known.ID != 0 || len(r.selling.OneTime) == 0:
		return first
	case expected || req.oneTime:
		return either(other, first)
	default:
		return either(first, other)
	}
}

// either reads a token as one kind, and as the other one when it is not of the first. Of two refusals, that a token is not
// known weighs more than that it is not valid: it may be known later.
func either(first, other reader) reader {
	return func(ctx context.Context, token string) (play.Subscription, error) {
		sub, err := first(ctx, token)
		reason, _ := reasonOf(err)
		if reason != play.TokenNotFound && reason != play.InvalidToken {
			return sub, err
		}
		sub, errOther := other(ctx, token)
		if second, _ := reasonOf(errOther); second == play.InvalidToken {
			return sub, err
		}
		return sub, errOther
	}
}

// orStored reads a purchase that is known. The store may forget a purchase that was consumed, at the latest when the
// product is bought again. It is then as it was: the days are still paid.
func (s *Service) orStored(read reader, known addondb.Purchase) reader {
	if !hasDays(known) || !known.Acknowledged {
		return read
	}
	return func(ctx context.Context, token string) (play.Subscription, error) {
		sub, err := read(ctx, token)
		switch reason, _ := reasonOf(err); reason {
		case play.TokenNotFound, play.InvalidToken, play.Gone:
			return s.stored(ctx, known)
		}
		return sub, err
	}
}

// stored is a purchase that was consumed, as the store sent it last.
func (s *Service) stored(ctx context.Context, p addondb.Purchase) (play.Subscription, error) {
	items, err := s.db.PurchaseItems(ctx, p.ID)
	sub := play.Subscription{
		OneTime: true, State: play.State(p.State), StartedAt: p.StartedAt.Time, Acknowledged: true, Account: p.AccountID, Region: p.Region,
		Test: p.Environment == string(entitle.Test),
	}
	for _, i := range items {
		sub.Items = append(sub.Items, play.Item{
			ProductID: i.ProductID, BasePlanID: i.BasePlanID, OfferID: i.OfferID, OrderID: i.OrderID, Quantity: i.Quantity, Consumed: true,
		})
	}
	return sub, err
}

// grantDays sets the ends of the items of a purchase of one-time products. before is the items as they were: a purchase
// keeps the days that it had when it was accepted.
func (s *Service) grantDays(ctx context.Context, tx *addondb.DB, row addondb.Purchase, before []addondb.PurchaseItem, r *reading, to owner) error {
	if !r.sub.OneTime {
		return nil
	}
	r.sub.Items = slices.Clone(r.sub.Items)
	for n := range r.sub.Items {
		item := &r.sub.Items[n]
		days, pack := daysOf(item.ProductID, before, r)
		if pack == 0 { // it activates nothing
			item.ExpiresAt = r.sub.StartedAt
		}
		if pack == 0 || days == entitle.Lifetime {
			continue
		}
		r.sub.Acknowledged = item.Consumed // consuming includes the acknowledgement
		if r.sub.StartedAt.IsZero() {
			continue
		}
		spans, err := s.spansBefore(ctx, tx, row, pack, r, to)
		if err != nil {
			return err
		}
		item.ExpiresAt = entitle.EndOfDays(append(spans, entitle.Span{PaidAt: r.sub.StartedAt, Days: days * item.Quantity}))
	}
	return nil
}

// daysOf returns the days and the package of a product: those that it had before, or those of the settings.
func daysOf(product string, before []addondb.PurchaseItem, r *reading) (days, pack int64) {
	if was := slices.IndexFunc(before, func(b addondb.PurchaseItem) bool { return b.ProductID == product }); was >= 0 && before[was].PackageID != 0 {
		return before[was].Days, cmp.Or(r.selling.Packages[product], before[was].PackageID)
	}
	days, once := r.selling.OneTime[product]
	if !once {
		return 0, 0
	}
	return days, r.selling.Packages[product]
}

// spansBefore lists the days of a package that its owner paid before a purchase. The memberships are locked, so that no
// other purchase is accepted meanwhile.
func (s *Service) spansBefore(ctx context.Context, tx *addondb.DB, row addondb.Purchase, pack int64, r *reading, to owner) (spans []entitle.Span, err error) {
	if to.user == "" {
		return nil, nil
	}
	if err := tx.LockMemberships(ctx, s.timestamp(), sorted(to.user, to.from, row.UserID)...); err != nil {
		return nil, err
	}
	list, err := tx.PaidDays(ctx, to.user, string(r.environment), pack, at(r.sub.StartedAt), row.ID)
	for _, p := range list {
		spans = append(spans, entitle.Span{PaidAt: p.PaidAt.Time, Days: p.Days})
	}
	return spans, err
}

// isForEver reports whether a purchase has access that does not end.
func isForEver(p addondb.Purchase) bool { return p.OneTime && p.Access && p.ExpiresAt.IsZero() }

// hasDays reports whether a purchase is for some days, which those that were paid later follow.
func hasDays(p addondb.Purchase) bool { return p.OneTime && !p.ExpiresAt.IsZero() }

// shiftDays has the days of users read again that were paid after a purchase which changed: the time when that was paid,
// zero for all, and its id.
func (s *Service) shiftDays(ctx context.Context, tx *addondb.DB, paidAt sqldb.Time, id int64, users ...string) error {
	for _, user := range sorted(users...) {
		names, err := tx.RunningDays(ctx, user, paidAt, id)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := s.put(ctx, tx, purchaseTask(KindReread, name, s.now())); err != nil {
				return err
			}
		}
	}
	return nil
}
