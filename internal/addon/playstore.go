package addon

import (
	"context"
	"slices"
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

// monthly is the period of a plan that is paid each month, in ISO 8601.
const monthly = "P1M"

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
		active := func(b play.BasePlan) bool { return b.State == "active" }
		list = append(list, membership.Product{
			ID: p.ID, OneTime: p.OneTime, Active: slices.ContainsFunc(p.BasePlans, active),
			Monthly: slices.ContainsFunc(p.BasePlans, func(b play.BasePlan) bool {
				return active(b) && b.Kind == "auto_renewing" && b.Period == monthly
			}),
		})
	}
	return list
}
