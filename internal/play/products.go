package play

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/play/publisher"
)

const (
	productPage = 1000
	// maxProductPages ends a listing whose pages never end.
	maxProductPages = 100
)

// Product is a subscription of the catalogue, or a one-time product.
type Product struct {
	ID        string
	OneTime   bool
	Title     string // in the first language of the listing, "" for none
	BasePlans []BasePlan
}

// BasePlan is a way to pay for a product.
type BasePlan struct {
	ID string
	// State is "draft", "active" or "inactive"; other values are states that Google has added since.
	State string
	// Kind is "auto_renewing", "prepaid", "installments", "buy" of a one-time product, or "" for another kind.
	Kind string
	// Period is the time between two payments in ISO 8601, for example P1M.
	Period string
	// Payments is how many payments a plan of installments has, else 0.
	Payments int64
}

// Products returns the subscriptions of the catalogue.
func (c *Client) Products(ctx context.Context) (list []Product, err error) {
	err = eachPage(ctx, func(ctx context.Context, query url.Values) (next string, err error) {
		page, err := c.productPage(ctx, query)
		for _, p := range page.Subscriptions {
			list = append(list, productOf(p))
		}
		return page.NextPageToken, err
	})
	return list, err
}

// eachPage reads all pages of a catalogue. read returns the token of the next page.
func eachPage(ctx context.Context, read func(context.Context, url.Values) (next string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, pullTimeout)
	defer cancel()
	query := url.Values{"pageSize": {strconv.Itoa(productPage)}}
	for range maxProductPages {
		next, err := read(ctx, query)
		if err != nil || next == "" {
			return err
		}
		query.Set("pageToken", next)
	}
	return &Error{Reason: Unavailable, Cause: errors.New("the list of products has no end")}
}

func (c *Client) productPage(ctx context.Context, query url.Values) (page publisher.ListSubscriptionsResponse, err error) {
	err = c.send(ctx, c.api, request{method: http.MethodGet, path: "subscriptions", query: query, about: aboutApp}, &page)
	return page, err
}

func productOf(s *publisher.Subscription) Product {
	p := Product{ID: s.ProductID}
	if len(s.Listings) > 0 {
		p.Title = s.Listings[0].Title
	}
	for _, plan := range s.BasePlans {
		p.BasePlans = append(p.BasePlans, basePlanOf(plan))
	}
	return p
}

func basePlanOf(b *publisher.BasePlan) BasePlan {
	p := BasePlan{ID: b.BasePlanID, State: strings.ToLower(b.State)}
	switch {
	case b.AutoRenewingBasePlanType != nil:
		p.Kind, p.Period = "auto_renewing", b.AutoRenewingBasePlanType.BillingPeriodDuration
	case b.PrepaidBasePlanType != nil:
		p.Kind, p.Period = "prepaid", b.PrepaidBasePlanType.BillingPeriodDuration
	case b.InstallmentsBasePlanType != nil:
		p.Kind, p.Period = "installments", b.InstallmentsBasePlanType.BillingPeriodDuration
		p.Payments = b.InstallmentsBasePlanType.CommittedPaymentsCount
	}
	return p
}
