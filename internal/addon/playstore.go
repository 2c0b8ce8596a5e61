package addon

import (
	"context"
	"time"

	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/play"
)

// playStore is the store of the memberships: Google Play, or what simulates it.
type playStore struct {
	*play.Client
	now func(context.Context) (time.Time, error)
}

// Now is the time on the store's clock.
func (s playStore) Now(ctx context.Context) (time.Time, error) { return s.now(ctx) }

// Cancel stops the renewals, or with final the payments.
func (s playStore) Cancel(ctx context.Context, token string, final bool) error {
	if final {
		return s.Client.Cancel(ctx, token, play.StopPayments)
	}
	return s.Client.Cancel(ctx, token, play.StopRenewals)
}

// Revoke ends a subscription and refunds it.
func (s playStore) Revoke(ctx context.Context, token string, prorated bool) error {
	if prorated {
		return s.Client.Revoke(ctx, token, play.ProratedRefund)
	}
	return s.Client.Revoke(ctx, token, play.FullRefund)
}

// Voided lists what was refunded or charged back.
func (s playStore) Voided(ctx context.Context, since, until time.Time, page string) (list []membership.Void, next string, err error) {
	found, next, err := s.Client.Voided(ctx, since, until, page)
	for _, v := range found {
		list = append(list, membership.Void{Token: v.Token, OrderID: v.OrderID, At: v.VoidedAt, Reason: v.Reason, Source: v.Source})
	}
	return list, next, err
}

// Products lists the subscriptions of the catalogue.
func (s playStore) Products(ctx context.Context) ([]membership.Product, error) {
	found, err := s.Client.Products(ctx)
	return productsOf(found), err
}

// OneTimeProducts lists what is bought once.
func (s playStore) OneTimeProducts(ctx context.Context) ([]membership.Product, error) {
	found, err := s.Client.OneTimeProducts(ctx)
	return productsOf(found), err
}

func productsOf(found []play.Product) (list []membership.Product) {
	for _, p := range found {
		one := membership.Product{ID: p.ID, OneTime: p.OneTime, Periods: map[string]string{}}
		for _, b := range p.BasePlans {
			one.Active = one.Active || b.State == "active"
			if b.Period != "" { // that of a one-time product has none
				one.Periods[b.ID] = b.Period
			}
		}
		list = append(list, one)
	}
	return list
}
