package membership

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/play"
)

// scripted is a store that answers by token.
type scripted struct {
	mu        sync.Mutex
	subs      map[string]play.Subscription
	calls     map[string]int
	accounts  map[string]string // sent with acknowledgements
	orders    map[string]string // tokens by orders
	voided    []play.Voided
	deadlines map[string]time.Time // of the last calls, by their names
	endless   bool                 // the list of voided orders has always another page
	since     time.Time            // of the last list of voided orders
	products  []play.Product
	onceSold  []play.Product // that are bought once
	down      error
	refusing  error // of acknowledgements
	silent    bool  // acknowledgements are accepted, and the answers are lost
	// clock is the store's.
	clock func() time.Time
	// hangs has calls wait until their context ends.
	hangs bool
	// asked is called before each answer, for what happens meanwhile.
	asked func(token string)
}

func newScripted() *scripted {
	return &scripted{
		products: []play.Product{active("gold_monthly", false), active("silver_monthly", false)},
		onceSold: []play.Product{active("gold_forever", true), active("gold_pass", true), active("coins", true)},
		subs:     map[string]play.Subscription{}, calls: map[string]int{}, accounts: map[string]string{}, deadlines: map[string]time.Time{},
	}
}

// active is a product that can be bought.
func active(id string, once bool) play.Product {
	return play.Product{ID: id, OneTime: once, BasePlans: []play.BasePlan{{ID: "monthly", State: "active"}}}
}

// unavailable is an outage of the store.
var unavailable = &play.Error{Reason: play.Unavailable}

func (s *scripted) Subscription(ctx context.Context, token string) (play.Subscription, error) {
	return s.read(ctx, token, false)
}

func (s *scripted) OneTime(ctx context.Context, token string) (play.Subscription, error) {
	return s.read(ctx, token, true)
}

func (s *scripted) read(ctx context.Context, token string, once bool) (play.Subscription, error) {
	s.mu.Lock()
	asked := s.asked
	s.calls[token]++
	s.deadlines[token], _ = ctx.Deadline()
	found, there := s.subs[token]
	down, hangs := s.down, s.hangs
	s.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return play.Subscription{}, &play.Error{Reason: play.Unavailable, Cause: ctx.Err()}
	}
	if asked != nil {
		asked(token)
	}
	switch {
	case down != nil:
		return play.Subscription{}, down
	case !there || found.OneTime != once:
		return play.Subscription{}, &play.Error{Reason: play.TokenNotFound}
	}
	return found, nil
}

func (s *scripted) Acknowledge(ctx context.Context, _, token, account, _ string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadlines["acknowledge "+token], _ = ctx.Deadline()
	if s.down != nil || s.refusing != nil {
		return unavailable
	}
	found := s.subs[token]
	found.Acknowledged, found.OutOfApp = true, nil
	s.subs[token] = found
	s.accounts[token] = account
	s.calls["acknowledge "+token]++
	if s.silent {
		return unavailable
	}
	return nil
}

func (s *scripted) AcknowledgeOneTime(ctx context.Context, _, token string) error {
	return s.Acknowledge(ctx, "", token, "", "")
}

// Consume refuses what is consumed already, as Google does.
func (s *scripted) Consume(_ context.Context, _, token string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.subs[token]
	switch {
	case s.down != nil || s.refusing != nil:
		return unavailable
	case found.Items[0].Consumed:
		return &play.Error{Reason: play.Refused}
	}
	found.Items = slices.Clone(found.Items)
	found.Acknowledged, found.Items[0].Consumed = true, true
	s.subs[token] = found
	s.calls["consume "+token]++
	return nil
}

func (s *scripted) Cancel(_ context.Context, token string, _ play.CancelKind) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.subs[token]
	found.State = play.Canceled
	s.subs[token] = found
	return s.down
}

func (s *scripted) Revoke(_ context.Context, token string, _ play.Refund) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.subs[token]
	found.State = play.Expired
	s.subs[token] = found
	return s.down
}

func (s *scripted) Defer(_ context.Context, token, etag string, by time.Duration) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.subs[token]
	if s.down != nil || found.ETag != etag {
		return time.Time{}, errors.Join(s.down, &play.Error{Reason: play.Refused})
	}
	found.Items = slices.Clone(found.Items)
	for i := range found.Items {
		found.Items[i].ExpiresAt = found.Items[i].ExpiresAt.Add(by)
	}
	found.ETag += "."
	s.subs[token] = found
	return found.Items[0].ExpiresAt, nil
}

func (s *scripted) RefundOrder(_ context.Context, orderID string, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls["refund "+orderID]++
	return s.down
}

func (s *scripted) Voided(_ context.Context, since, _ time.Time, page string) ([]play.Voided, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since = since
	if s.down != nil {
		return nil, "", s.down
	}
	if s.endless {
		return nil, page + "x", nil
	}
	if page == "" && len(s.voided) > 1 {
		return s.voided[:1], "second", nil
	}
	if page == "second" {
		return s.voided[1:], "", nil
	}
	return s.voided, "", nil
}

func (s *scripted) Products(context.Context) ([]play.Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.products, s.down
}

func (s *scripted) OneTimeProducts(context.Context) ([]play.Product, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.onceSold, s.down
}

// count returns how often the store was asked for something.
func (s *scripted) count(what string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[what]
}

// acknowledgements returns how many purchases were acknowledged.
func (s *scripted) acknowledgements() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.accounts)
}

func (s *scripted) Now(context.Context) (time.Time, error) { return s.clock(), nil }

// sell puts a subscription into the store.
func (s *scripted) sell(token string, sub play.Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.subs[token] = sub
}

// change changes a subscription in the store.
func (s *scripted) change(token string, change func(*play.Subscription)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.subs[token]
	sub.Items = slices.Clone(sub.Items)
	change(&sub)
	s.subs[token] = sub
}
