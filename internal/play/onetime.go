package play

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign/internal/play/publisher"
)

// OneTime is [Client.Subscription] for the purchase of a one-time product. Google has no end of
// the access for one, so that the times of its items are zero.
func (c *Client) OneTime(ctx context.Context, token string) (Subscription, error) {
	if err := checkToken(token); err != nil {
		return Subscription{}, err
	}
	var found publisher.ProductPurchaseV2
	err := c.call(ctx, request{
		method: http.MethodGet, path: "purchases/productsv2/tokens/" + escape(token), about: aboutToken, secrets: []string{token},
	}, &found)
	if err != nil {
		return Subscription{}, err
	}
	s, err := oneTimeOf(&found)
	if err != nil {
		return Subscription{}, &Error{Reason: Unavailable, Cause: err}
	}
	return s, nil
}

// oneTimeOf turns Google's type into ours.
func oneTimeOf(p *publisher.ProductPurchaseV2) (Subscription, error) {
	times := timeReader{}
	s := Subscription{
		OneTime: true, StartedAt: times.read(p.PurchaseCompletionTime), Test: p.TestPurchaseContext != nil, Region: p.RegionCode,
		Acknowledged: p.AcknowledgementState == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
		Account:      p.ObfuscatedExternalAccountID, Profile: p.ObfuscatedExternalProfileID,
	}
	if p.PurchaseStateContext != nil {
		s.State = State(p.PurchaseStateContext.PurchaseState)
	}
	switch {
	case s.State == "":
		return s, errors.New("the answer has no state")
	case s.State == Purchased && s.StartedAt.IsZero():
		return s, errors.New("the answer does not say when it was paid")
	}
	for _, line := range p.ProductLineItem {
		item := Item{ProductID: line.ProductID, OrderID: p.OrderID, Quantity: 1}
		if d := line.ProductOfferDetails; d != nil {
			item.BasePlanID, item.OfferID, item.Consumed = d.PurchaseOptionID, d.OfferID, d.ConsumptionState == "CONSUMPTION_STATE_CONSUMED"
			// Nothing left to refund is a refund of all that does not end the access, or a member that is missing.
			item.Quantity = max(d.Quantity, 1)
			if d.RefundableQuantity > 0 {
				item.Quantity = min(item.Quantity, d.RefundableQuantity)
			}
		}
		s.Items = append(s.Items, item)
	}
	return s, times.err
}

// AcknowledgeOneTime is [Client.Acknowledge] for a one-time product, which can be bought once
// from then on.
func (c *Client) AcknowledgeOneTime(ctx context.Context, productID, token string) error {
	return c.actOneTime(ctx, productID, token, "acknowledge", &publisher.Empty{})
}

// Consume accepts the purchase of a one-time product, which can be bought again from then on.
func (c *Client) Consume(ctx context.Context, productID, token string) error {
	return c.actOneTime(ctx, productID, token, "consume", nil)
}

func (c *Client) actOneTime(ctx context.Context, productID, token, action string, body any) error {
	if err := checkToken(token); err != nil {
		return err
	}
	return c.call(ctx, request{
		method: http.MethodPost, path: "purchases/products/" + escape(productID) + "/tokens/" + escape(token) + ":" + action,
		body: body, about: aboutAction, secrets: []string{token},
	}, nil)
}

// OneTimeProducts returns the one-time products of the catalogue. Their ways to pay are what
// Google calls purchase options.
func (c *Client) OneTimeProducts(ctx context.Context) (list []Product, err error) {
	err = eachPage(ctx, func(ctx context.Context, query url.Values) (next string, err error) {
		var page publisher.ListOneTimeProductsResponse
		err = c.send(ctx, c.api, request{method: http.MethodGet, path: "oneTimeProducts", query: query, about: aboutApp}, &page)
		for _, p := range page.OneTimeProducts {
			list = append(list, oneTimeProductOf(p))
		}
		return page.NextPageToken, err
	})
	return list, err
}

func oneTimeProductOf(o *publisher.OneTimeProduct) Product {
	p := Product{ID: o.ProductID, OneTime: true}
	if len(o.Listings) > 0 {
		p.Title = o.Listings[0].Title
	}
	for _, option := range o.PurchaseOptions {
		plan := BasePlan{ID: option.PurchaseOptionID, State: strings.ToLower(option.State)}
		if option.BuyOption != nil {
			plan.Kind = "buy"
		}
		p.BasePlans = append(p.BasePlans, plan)
	}
	return p
}
