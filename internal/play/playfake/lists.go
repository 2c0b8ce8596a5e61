package playfake

import (
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/play/publisher"
)

const (
	voidedDays     = 30
	voidedPage     = 1000
	maxOrders      = 1000
	productPage    = 50
	maxProductPage = 1000
)

// listVoided serves the list of orders that were taken back.
func (s *Store) listVoided(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	all := &publisher.VoidedPurchasesListResponse{}
	size := number(q.Get("maxResults"), voidedPage, voidedPage)
	skip := number(q.Get("token"), 0, len(s.state.Voids))
	since, until := s.state.Now.AddDate(0, 0, -voidedDays), s.state.Now
	if ms, err := strconv.ParseInt(q.Get("startTime"), 10, 64); err == nil && time.UnixMilli(ms).After(since) {
		since = time.UnixMilli(ms)
	}
	if ms, err := strconv.ParseInt(q.Get("endTime"), 10, 64); err == nil {
		until = time.UnixMilli(ms)
	}
	for i, v := range s.state.Voids {
		if p := s.purchase(v.Token); q.Get("type") != "1" && (p == nil || !p.once()) { // subscriptions are listed with it alone
			continue
		}
		if i < skip || v.VoidedAt.Before(since) || v.VoidedAt.After(until) {
			continue
		}
		if len(all.VoidedPurchases) == size {
			all.TokenPagination = &publisher.TokenPagination{NextPageToken: strconv.Itoa(i)}
			break
		}
		all.VoidedPurchases = append(all.VoidedPurchases, &publisher.VoidedPurchase{
			Kind: "androidpublisher#voidedPurchase", OrderID: v.OrderID, PurchaseToken: v.Token,
			PurchaseTimeMillis: v.PurchasedAt.UnixMilli(), VoidedTimeMillis: v.VoidedAt.UnixMilli(),
			VoidedReason: v.Reason, VoidedSource: v.Source,
		})
	}
	answer(w, all)
}

// number reads a number of a query, between 0 and a limit.
func number(text string, otherwise, most int) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return otherwise
	}
	return min(n, most)
}

// refuseOrder answers a request for an order that does not exist.
func refuseOrder(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, "orderNotFound", "The order was not found.")
}

func (s *Store) getOrder(w http.ResponseWriter, r *http.Request) {
	o := s.order(r.PathValue("order"))
	if o == nil {
		refuseOrder(w)
		return
	}
	answer(w, o.google())
}

func (s *Store) batchGetOrders(w http.ResponseWriter, r *http.Request) {
	ids := r.URL.Query()["orderIds"]
	if len(ids) == 0 || len(ids) > maxOrders {
		refuse(w, http.StatusBadRequest, "badRequest", "Expected 1 to 1000 order ids.")
		return
	}
	found := &publisher.BatchGetOrdersResponse{}
	for _, id := range ids {
		o := s.order(id)
		if o == nil {
			refuseOrder(w)
			return
		}
		found.Orders = append(found.Orders, o.google())
	}
	answer(w, found)
}

func (s *Store) refundOrder(w http.ResponseWriter, r *http.Request) {
	id, name := verb(r.PathValue("order"))
	if name == "reviewrefund" && s.order(id) != nil {
		s.reviewRefund(w, r, id)
		return
	}
	if name != "refund" {
		http.NotFound(w, r)
		return
	}
	if s.order(id) == nil {
		refuseOrder(w)
		return
	}
	if err := s.refund(id, r.URL.Query().Get("revoke") == "true"); err != nil {
		refuseState(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// google returns an order in Google's type. A sixth of what was paid is tax, and the
// developer gets 85 % of the rest.
func (o *order) google() *publisher.Order {
	tax := o.Total.part(1, 6)
	v := &publisher.Order{
		OrderID: o.ID, PurchaseToken: o.Token, State: o.State, CreateTime: timestamp(o.CreatedAt),
		LastEventTime: timestamp(o.CreatedAt), SalesChannel: "IN_APP", Total: o.Total.google(), Tax: tax.google(),
		DeveloperRevenueInBuyerCurrency: o.Total.part(85*5, 100*6).google(),
		OrderDetails:                    &publisher.OrderDetails{TaxInclusive: true},
	}
	if !o.RefundedAt.IsZero() {
		reason := "OTHER"
		if o.Chargeback {
			reason = "CHARGEBACK"
		}
		v.LastEventTime = timestamp(o.RefundedAt)
		v.OrderHistory = &publisher.OrderHistory{RefundEvent: &publisher.RefundEvent{EventTime: timestamp(o.RefundedAt), RefundReason: reason}}
	}
	for _, l := range o.Lines {
		line := &publisher.LineItem{ProductID: l.ProductID, ListingPrice: l.Price.google(), Total: l.Price.google(), Tax: l.Price.part(1, 6).google()}
		if l.Quantity > 0 {
			line.OneTimePurchaseDetails = &publisher.OneTimePurchaseDetails{PurchaseOptionID: l.PlanID, Quantity: l.Quantity}
		} else {
			line.SubscriptionDetails = &publisher.SubscriptionDetails{
				BasePlanID: l.PlanID, OfferID: l.OfferID, OfferPhase: l.Phase,
				ServicePeriodStartTime: timestamp(l.From), ServicePeriodEndTime: timestamp(l.To),
			}
		}
		v.LineItems = append(v.LineItems, line)
	}
	return v
}

// productPage returns a page of the products that are bought once, or of the subscriptions.
func (s *Store) productPage(r *http.Request, once bool) (shown []Product, next string) {
	all := slices.DeleteFunc(slices.Clone(s.state.Products), func(p Product) bool { return p.once() != once })
	size := max(1, number(r.URL.Query().Get("pageSize"), productPage, maxProductPage))
	skip := number(r.URL.Query().Get("pageToken"), 0, len(all))
	if skip+size < len(all) {
		next = strconv.Itoa(skip + size)
	}
	return all[skip:min(skip+size, len(all))], next
}

// listProducts serves the catalogue of subscriptions.
func (s *Store) listProducts(w http.ResponseWriter, r *http.Request) {
	shown, next := s.productPage(r, false)
	page := &publisher.ListSubscriptionsResponse{NextPageToken: next}
	for _, p := range shown {
		page.Subscriptions = append(page.Subscriptions, p.google(s.state.Package))
	}
	answer(w, page)
}

// google returns a product in Google's type.
func (p Product) google(name string) *publisher.Subscription {
	v := &publisher.Subscription{
		PackageName: name, ProductID: p.ID,
		Listings: []*publisher.SubscriptionListing{{LanguageCode: "en-US", Title: p.Title}},
	}
	for _, plan := range p.Plans {
		b := &publisher.BasePlan{BasePlanID: plan.ID, State: plan.State}
		if b.State == "" {
			b.State = "ACTIVE"
		}
		switch plan.Kind {
		case AutoRenewing:
			b.AutoRenewingBasePlanType = &publisher.AutoRenewingBasePlanType{BillingPeriodDuration: string(plan.Period), GracePeriodDuration: dayText(plan.Grace)}
		case Prepaid:
			b.PrepaidBasePlanType = &publisher.PrepaidBasePlanType{BillingPeriodDuration: string(plan.Period), TimeExtension: "TIME_EXTENSION_ACTIVE"}
		case Installments:
			b.InstallmentsBasePlanType = &publisher.InstallmentsBasePlanType{
				BillingPeriodDuration: string(plan.Period), GracePeriodDuration: dayText(plan.Grace), CommittedPaymentsCount: plan.Payments,
			}
		}
		v.BasePlans = append(v.BasePlans, b)
	}
	return v
}

func dayText(days int) string { return "P" + strconv.Itoa(days) + "D" }
