package play

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
)

// MaxOrders is how many orders one call can ask for.
const MaxOrders = 1000

// Order is what was paid.
type Order struct {
	ID string
	// State is "pending", "processed", "canceled", "pending_refund", "partially_refunded" or
	// "refunded"; other values are states that Google has added since.
	State     string
	Token     string // the purchase token; secret
	CreatedAt time.Time
	// Total is what the user paid, with Tax in it. Revenue is the developer's part in the same
	// currency. Each is nil when Google sends none.
	Total, Tax, Revenue *Money
	// Refunded is what was given back in part, nil when nothing was, or all of it.
	Refunded   *Money
	RefundedAt time.Time // zero for never
	// ProductID and BasePlanID are of the first line, "" for none.
	ProductID, BasePlanID string
}

// Orders returns orders by their ids, [MaxOrders] at most. One unknown id fails the call.
func (c *Client) Orders(ctx context.Context, ids []string) ([]Order, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	if len(ids) > MaxOrders {
		return nil, &Error{Reason: Refused, Cause: errors.New("more than 1000 orders in one call")}
	}
	var found publisher.BatchGetOrdersResponse
	err := c.call(ctx, request{method: http.MethodGet, path: "orders:batchGet", query: url.Values{"orderIds": ids}, about: aboutApp}, &found)
	if err != nil {
		return nil, err
	}
	times := timeReader{}
	list := make([]Order, 0, len(found.Orders))
	for _, o := range found.Orders {
		list = append(list, orderOf(o, &times))
	}
	if times.err != nil {
		return nil, &Error{Reason: Unavailable, Cause: times.err}
	}
	return list, nil
}

func orderOf(o *publisher.Order, times *timeReader) Order {
	order := Order{
		ID: o.OrderID, State: strings.ToLower(o.State), Token: o.PurchaseToken, CreatedAt: times.read(o.CreateTime),
		Total: moneyOf(o.Total), Tax: moneyOf(o.Tax), Revenue: moneyOf(o.DeveloperRevenueInBuyerCurrency),
	}
	if h := o.OrderHistory; h != nil {
		order.addRefunds(h, times)
	}
	if len(o.LineItems) > 0 {
		order.ProductID = o.LineItems[0].ProductID
		if d := o.LineItems[0].SubscriptionDetails; d != nil {
			order.BasePlanID = d.BasePlanID
		}
	}
	return order
}

// addRefunds takes over what was given back.
func (o *Order) addRefunds(h *publisher.OrderHistory, times *timeReader) {
	if h.RefundEvent != nil {
		o.RefundedAt = times.read(h.RefundEvent.EventTime)
		return
	}
	for _, e := range h.PartialRefundEvents {
		if e.RefundDetails == nil || e.RefundDetails.Total == nil || e.State != "PROCESSED_SUCCESSFULLY" {
			continue
		}
		part := moneyOf(e.RefundDetails.Total)
		if o.Refunded != nil {
			part.Units, part.Nanos = part.Units+o.Refunded.Units, part.Nanos+o.Refunded.Nanos
		}
		o.Refunded, o.RefundedAt = part, times.read(e.ProcessTime)
	}
}

// RefundOrder refunds an order in full. With revoke, access ends at once, and the refund
// appears in [Client.Voided]; without, the subscription goes on.
func (c *Client) RefundOrder(ctx context.Context, orderID string, revoke bool) error {
	return c.call(ctx, request{
		method: http.MethodPost, path: "orders/" + escape(orderID) + ":refund",
		query: url.Values{"revoke": {strconv.FormatBool(revoke)}}, about: aboutApp,
	}, nil)
}
