package playfake

import (
	"errors"
	"time"
)

// Modes of replacement.
const (
	// FullPrice charges the new plan at once and begins a new period. It is the default.
	FullPrice = "full_price"
	// KeepDate keeps the renewal date and charges the new price from then on.
	KeepDate = "keep_date"
	// Deferred keeps the old plan until the renewal date.
	Deferred = "deferred"
)

// Line is an additional product of a purchase.
type Line struct {
	ProductID, PlanID string
}

// BuyOptions says what is bought.
type BuyOptions struct {
	ProductID string
	PlanID    string // "" for the first
	OfferID   string // "" for the base price
	AddOns    []Line
	// Account and Profile are the obfuscated ids that the app sets.
	Account, Profile string
	Region           string // "" for DE
	Test             bool   // by a license tester
	Pending          bool   // paid later, with [Store.Pay]
	// Replaces is the token of the subscription that this one replaces, "" for none.
	Replaces string
	Mode     string // FullPrice, KeepDate or Deferred
	// Overlap is how long the replaced subscription still looks active.
	Overlap time.Duration
	// Unnoticed has it look as before during that time, and until the new one is acknowledged;
	// otherwise it does not renew any more.
	Unnoticed bool
	// Quantity is how many of a product that is bought once, 0 for one.
	Quantity int64
	// Fresh is how many reads of the new token are answered with 404.
	Fresh int
}

// Buy buys a subscription, or a product once, and returns its purchase token.
func (s *Store) Buy(o BuyOptions) (token string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.purchase(o.Replaces)
	if old != nil && (old.once() || s.soldOnce(o.ProductID)) {
		return "", errors.New("a product that is bought once replaces nothing")
	}
	if s.owned(o) {
		return "", errors.New("the product is already owned")
	}
	if o.Replaces != "" {
		if err := s.canReplace(old); err != nil {
			return "", err
		}
	}
	p, err := s.newPurchase(o)
	if err != nil {
		return "", err
	}
	p.Linked = o.Replaces
	if o.Pending {
		p.State, p.PendingUntil = statePending, s.state.Now.Add(pendingTime)
		if p.once() {
			p.State = stateOncePending
		}
		p.Items[0].Proration = o.Mode == KeepDate
		p.PendingOrder = s.addOrder(p, "PENDING", s.state.Now, s.periodAfter(p, s.state.Now)).ID
	} else {
		s.start(p, old, o.Mode, o.Overlap)
		if old != nil {
			old.Unnoticed = o.Unnoticed
		}
	}
	s.state.Purchases = append(s.state.Purchases, p)
	return p.Token, nil
}

// canReplace returns why a subscription can't be replaced.
func (s *Store) canReplace(old *purchase) error {
	switch {
	case old == nil:
		return errors.New("unknown purchase token")
	case !old.live() || !old.RetireAt.IsZero():
		return errors.New("the replaced subscription has ended")
	case !old.Acknowledged:
		return errors.New("the replaced subscription is not acknowledged")
	}
	return nil
}

// newPurchase returns a purchase that is not paid yet.
func (s *Store) newPurchase(o BuyOptions) (*purchase, error) {
	p := &purchase{
		Token: s.id(40), CreatedAt: s.state.Now, Account: o.Account, Profile: o.Profile, Region: o.Region,
		Test: o.Test, Reads: -o.Fresh,
	}
	if p.Region == "" {
		p.Region = "DE"
	}
	first, err := s.newItem(o.ProductID, o.PlanID, o.OfferID)
	if err != nil {
		return nil, err
	}
	if first.OneTime {
		first.Quantity = max(o.Quantity, 1)
		first.Refundable = first.Quantity
	}
	p.Items = []item{first}
	for _, line := range o.AddOns {
		i, err := s.newItem(line.ProductID, line.PlanID, "")
		if err != nil {
			return nil, err
		}
		p.Items = append(p.Items, i)
	}
	return p, nil
}

func (s *Store) newItem(productID, planID, offerID string) (item, error) {
	plan, err := s.plan(productID, planID)
	if err != nil {
		return item{}, err
	}
	if plan.State != "" && plan.State != "ACTIVE" {
		return item{}, errors.New("the plan is not for sale")
	}
	if offerID != "" && plan.offer(offerID) == nil {
		return item{}, errors.New("unknown offer")
	}
	return item{
		ProductID: productID, PlanID: plan.ID, OfferID: offerID, Price: plan.Price, Prepaid: plan.Kind == Prepaid, OneTime: plan.Kind == OneTime,
		Payments: plan.Payments, Left: max(plan.Payments-1, 0),
	}, nil
}

// begin starts a purchase that is paid now. The old one, nil for none, is replaced.
func (s *Store) begin(p, old *purchase, mode string, overlap time.Duration) {
	p.State, p.StartedAt = stateActive, s.state.Now
	p.PendingUntil = time.Time{}
	if old != nil && mode == Deferred {
		s.beginDeferred(p, old)
	} else {
		s.beginNow(p, old, mode)
	}
	p.AckBy = s.ackDeadline(p)
	s.notify(p, notePurchased)
	if old == nil {
		return
	}
	if old.RetireAt = s.state.Now.Add(overlap); overlap <= 0 {
		s.retire(old)
	}
	old.Revision++
}

func (s *Store) beginNow(p, old *purchase, mode string) {
	p.PaidUntil = s.periodAfter(p, s.state.Now)
	if old != nil && mode == KeepDate {
		p.PaidUntil, p.Items[0].Proration = old.PaidUntil, true
	} else if old != nil && p.Items[0].Prepaid && old.Items[0].Prepaid {
		// A top-up adds its time to what is left.
		p.PaidUntil = s.periodAfter(p, old.PaidUntil)
	}
	paid := s.order(p.PendingOrder)
	if paid == nil {
		paid = s.addOrder(p, "PROCESSED", s.state.Now, p.PaidUntil)
	}
	paid.State, p.PendingOrder = "PROCESSED", ""
	for i := range p.Items {
		p.Items[i].OrderID, p.Items[i].ExpiresAt = paid.ID, p.PaidUntil
	}
}

// beginDeferred keeps the old item until its end; the new one has no order until then.
func (s *Store) beginDeferred(p, old *purchase) {
	kept := old.Items[0]
	kept.Deferred = p.Items[0].ProductID
	s.dropPendingOrder(p)
	p.PaidUntil, p.OrderBase = old.PaidUntil, ""
	p.Items = append([]item{kept}, p.Items...)
}

// ackDeadline returns when a purchase is refunded unless it is acknowledged.
func (s *Store) ackDeadline(p *purchase) time.Time {
	limit := ackTime
	if days := s.planOf(p).Period.days(); p.Items[0].Prepaid && days < 7 {
		limit = time.Duration(days) * 24 * time.Hour / 2
	}
	if p.Test {
		limit = ackTimeTest
	}
	return s.state.Now.Add(limit)
}

// start begins a purchase of any kind that is paid now.
func (s *Store) start(p, old *purchase, mode string, overlap time.Duration) {
	if p.once() {
		s.beginOnce(p)
		return
	}
	s.begin(p, old, mode, overlap)
}

// Pay pays a pending purchase.
func (s *Store) Pay(token string) error {
	return s.act(token, func(p *purchase) error {
		if err := p.in(statePending, stateOncePending); err != nil {
			return err
		}
		old := s.purchase(p.Linked)
		if old != nil && !old.live() {
			old = nil
		}
		mode := FullPrice
		if p.Items[0].Proration {
			mode = KeepDate
		}
		s.start(p, old, mode, 0)
		return nil
	})
}

// CancelPending ends a pending purchase without a payment.
func (s *Store) CancelPending(token string) error {
	return s.act(token, func(p *purchase) error {
		if err := p.in(statePending, stateOncePending); err != nil {
			return err
		}
		s.abandon(p)
		return nil
	})
}

// TopUp buys more time for a prepaid subscription and returns the token of the new purchase.
func (s *Store) TopUp(token string) (string, error) {
	s.mu.Lock()
	old := s.purchase(token)
	s.mu.Unlock()
	if old == nil || !old.Items[0].Prepaid {
		return "", errors.New("not a prepaid subscription")
	}
	return s.Buy(BuyOptions{
		ProductID: old.Items[0].ProductID, PlanID: old.Items[0].PlanID, Replaces: token,
		Account: old.Account, Profile: old.Profile, Region: old.Region, Test: old.Test,
	})
}

// Resubscribe buys an expired subscription again outside of the app, in Google's own pages,
// and returns the token of the new purchase.
func (s *Store) Resubscribe(token string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.purchase(token)
	if old == nil {
		return "", errors.New("unknown purchase token")
	}
	if err := old.in(stateExpired); err != nil {
		return "", err
	}
	first := old.Items[0]
	p, err := s.newPurchase(BuyOptions{ProductID: first.ProductID, PlanID: first.PlanID, Region: old.Region, Test: old.Test})
	if err != nil {
		return "", err
	}
	p.OutOfApp = &outOfApp{Token: old.Token, Account: old.Account, Profile: old.Profile}
	s.begin(p, nil, FullPrice, 0)
	s.state.Purchases = append(s.state.Purchases, p)
	return p.Token, nil
}
