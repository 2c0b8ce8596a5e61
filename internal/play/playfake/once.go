package playfake

import (
	"errors"
	"net/http"
	"slices"

	"github.com/countersign/countersign/internal/play/publisher"
)

// soldOnce reports whether a product of the catalogue is bought once.
func (s *Store) soldOnce(product string) bool {
	return slices.ContainsFunc(s.state.Products, func(p Product) bool { return p.ID == product && p.once() })
}

// owned reports whether the buyer has a product already that is bought once, and that was not consumed. The account id
// that the app sets stands for the buyer's account.
func (s *Store) owned(o BuyOptions) bool {
	return o.Account != "" && s.soldOnce(o.ProductID) && slices.ContainsFunc(s.state.Purchases, func(p *purchase) bool {
		return p.once() && p.State != stateCancelled && p.Account == o.Account && p.Items[0].ProductID == o.ProductID && !p.Items[0].Consumed
	})
}

// beginOnce pays for a product that is bought once.
func (s *Store) beginOnce(p *purchase) {
	p.State, p.StartedAt = statePurchased, s.state.Now
	paid := s.order(p.PendingOrder)
	if paid == nil {
		paid = s.addOrder(p, "PROCESSED", s.state.Now, s.state.Now)
	}
	paid.State, p.PendingOrder, p.Items[0].OrderID = "PROCESSED", "", paid.ID
	p.AckBy = s.state.Now.Add(ackTime)
	if p.Test {
		p.AckBy = s.state.Now.Add(ackTimeTest)
	}
	s.notifyOnce(p, noteOncePurchased)
}

// RefundQuantity refunds some of a product that was bought once in a quantity. The access to the rest goes on.
func (s *Store) RefundQuantity(token string, n int64) error {
	return s.act(token, func(p *purchase) error {
		o := s.order(p.Items[0].OrderID)
		if !p.once() || !p.live() || o == nil || n < 1 || n >= p.Items[0].Refundable {
			return errors.New("the order can't be refunded in part")
		}
		p.Items[0].Refundable -= n
		s.notifyVoided(o, refundOfQuantity)
		return nil
	})
}

func (s *Store) getOnce(w http.ResponseWriter, r *http.Request) {
	if p := s.find(w, r.PathValue("token"), true); p != nil {
		p.Reads++
		answer(w, p.renderOnce())
	}
}

// renderOnce returns a purchase of a product that is bought once as Google writes it.
func (p *purchase) renderOnce() *publisher.ProductPurchaseV2 {
	first := p.Items[0]
	v := &publisher.ProductPurchaseV2{
		Kind: "androidpublisher#productPurchaseV2", AcknowledgementState: "ACKNOWLEDGEMENT_STATE_PENDING",
		ObfuscatedExternalAccountID: p.Account, ObfuscatedExternalProfileID: p.Profile, OrderID: first.OrderID,
		PurchaseCompletionTime: timestamp(p.StartedAt), RegionCode: p.Region,
		PurchaseStateContext: &publisher.PurchaseStateContext{PurchaseState: p.State},
	}
	if p.Acknowledged {
		v.AcknowledgementState = "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
	}
	if p.Test {
		v.TestPurchaseContext = &publisher.TestPurchaseContext{FopType: "TEST"}
	}
	consumed := "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
	if first.Consumed {
		consumed = "CONSUMPTION_STATE_CONSUMED"
	}
	v.ProductLineItem = []*publisher.ProductLineItem{{ProductID: first.ProductID, ProductOfferDetails: &publisher.ProductOfferDetails{
		ConsumptionState: consumed, PurchaseOptionID: first.PlanID, Quantity: first.Quantity, RefundableQuantity: first.Refundable,
	}}}
	return v
}

// changeOnce serves the actions of purchases of products that are bought once.
func (s *Store) changeOnce(w http.ResponseWriter, r *http.Request) {
	token, name := verb(r.PathValue("token"))
	if name != "acknowledge" && name != "consume" {
		http.NotFound(w, r)
		return
	}
	p := s.find(w, token, true)
	if p == nil || !read(w, r, &publisher.Empty{}) {
		return
	}
	first := &p.Items[0]
	if !p.live() || first.Consumed || first.ProductID != r.PathValue("product") {
		refuse(w, http.StatusBadRequest, "productNotOwnedByUser", "The product purchase is not owned by the user.")
		return
	}
	p.Acknowledged, first.Consumed = true, name == "consume"
	p.Revision++
	w.WriteHeader(http.StatusNoContent)
}

// listOneTimeProducts serves the catalogue of products that are bought once.
func (s *Store) listOneTimeProducts(w http.ResponseWriter, r *http.Request) {
	shown, next := s.productPage(r, true)
	page := &publisher.ListOneTimeProductsResponse{NextPageToken: next}
	for _, p := range shown {
		v := &publisher.OneTimeProduct{
			PackageName: s.state.Package, ProductID: p.ID, Listings: []*publisher.OneTimeProductListing{{LanguageCode: "en-US", Title: p.Title}},
		}
		for _, plan := range p.Plans {
			option := &publisher.OneTimeProductPurchaseOption{PurchaseOptionID: plan.ID, State: "ACTIVE", BuyOption: &publisher.Empty{}}
			if plan.State != "" {
				option.State = plan.State
			}
			v.PurchaseOptions = append(v.PurchaseOptions, option)
		}
		page.OneTimeProducts = append(page.OneTimeProducts, v)
	}
	answer(w, page)
}
