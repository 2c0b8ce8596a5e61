package playfake

import (
	"fmt"
	"slices"
)

// Money is an amount in a currency: Units, and Nanos, 10⁻⁹ of it.
type Money struct {
	Currency string
	Units    int64
	Nanos    int64
}

// nanosPerUnit is the number of nanos in a unit of a currency.
const nanosPerUnit = 1_000_000_000

// Times returns the amount n times.
func (m Money) Times(n int64) Money { return m.part(n, 1) }

// part returns the amount × of / in.
func (m Money) part(of, in int64) Money {
	cents := (m.Units*100 + m.Nanos/(nanosPerUnit/100)) * of / in
	return Money{Currency: m.Currency, Units: cents / 100, Nanos: cents % 100 * (nanosPerUnit / 100)}
}

// Kinds of plans.
const (
	AutoRenewing = "auto_renewing"
	Prepaid      = "prepaid"
	Installments = "installments"
	// OneTime is the purchase option of a product that is bought once. It has no period.
	OneTime = "one_time"
)

// Kinds of phases of an offer.
const (
	FreeTrial    = "free_trial"
	Introductory = "introductory"
)

// Product is a subscription of the catalogue, or a product that is bought once.
type Product struct {
	ID, Title string
	Plans     []Plan
}

// Plan is a base plan.
type Plan struct {
	ID   string
	Kind string // AutoRenewing, Prepaid, Installments or OneTime
	// State is "ACTIVE", "INACTIVE" or "DRAFT"; "" means ACTIVE.
	State  string
	Period Period
	Price  Money
	// Grace is the grace period after the silent day of retries, Hold the account hold after
	// it, in days. A negative Hold switches it off; 0 means 60 days without the grace period.
	Grace, Hold int
	// Payments is how many payments a plan of installments has.
	Payments int64
	Offers   []Offer
}

// Offer is a discount for new subscribers.
type Offer struct {
	ID     string
	Phases []Phase
}

// Phase is a part of an offer.
type Phase struct {
	Kind   string // FreeTrial or Introductory
	Period Period
	Cycles int // how often it repeats; 0 means once
	Price  Money
}

func (p Product) check() error {
	if p.ID == "" || len(p.Plans) == 0 {
		return fmt.Errorf("product %q: expected an id and a plan", p.ID)
	}
	for _, plan := range p.Plans {
		if plan.ID == "" || !slices.Contains([]string{AutoRenewing, Prepaid, Installments, OneTime}, plan.Kind) {
			return fmt.Errorf("product %q: plan %q: expected an id and a known kind", p.ID, plan.ID)
		}
		var periods []Period
		if plan.Kind != OneTime {
			periods = append(periods, plan.Period)
		}
		for _, offer := range plan.Offers {
			for _, phase := range offer.Phases {
				periods = append(periods, phase.Period)
			}
		}
		for _, period := range periods {
			if _, err := period.parse(); err != nil {
				return fmt.Errorf("product %q: plan %q: %w", p.ID, plan.ID, err)
			}
		}
	}
	return nil
}

// once reports whether a product is bought once.
func (p Product) once() bool { return p.Plans[0].Kind == OneTime }

// plan finds a plan of the catalogue. An empty plan id means the product's first.
func (s *Store) plan(productID, planID string) (*Plan, error) {
	for i := range s.state.Products {
		p := &s.state.Products[i]
		if p.ID != productID {
			continue
		}
		for j := range p.Plans {
			if planID == "" || p.Plans[j].ID == planID {
				return &p.Plans[j], nil
			}
		}
	}
	return nil, fmt.Errorf("unknown product or plan: %s %s", productID, planID)
}

// offer finds an offer of a plan, nil for none.
func (p *Plan) offer(id string) *Offer {
	for i := range p.Offers {
		if p.Offers[i].ID == id {
			return &p.Offers[i]
		}
	}
	return nil
}

// Products returns the catalogue.
func (s *Store) Products() []Product {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.state.Products)
}

// AddProduct adds a product to the catalogue, or replaces the one with its id.
func (s *Store) AddProduct(p Product) error {
	if err := p.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.state.Products {
		if s.state.Products[i].ID == p.ID {
			s.state.Products[i] = p
			return nil
		}
	}
	s.state.Products = append(s.state.Products, p)
	return nil
}

// SampleProducts is a small catalogue with a plan of every kind. What the products that are bought once are worth is for the site to say.
func SampleProducts() []Product {
	price := func(units, cents int64) Money {
		return Money{Currency: "EUR", Units: units, Nanos: cents * (nanosPerUnit / 100)}
	}
	trial := Offer{ID: "trial", Phases: []Phase{{Kind: FreeTrial, Period: "P1W"}}}
	intro := Offer{ID: "intro", Phases: []Phase{{Kind: Introductory, Period: "P1M", Cycles: 3, Price: price(1, 99)}}}
	return []Product{
		{ID: "silver_monthly", Title: "Silver", Plans: []Plan{
			{ID: "monthly", Kind: AutoRenewing, Period: "P1M", Price: price(2, 99), Grace: 7}}},
		{ID: "gold_monthly", Title: "Gold", Plans: []Plan{
			{ID: "monthly", Kind: AutoRenewing, Period: "P1M", Price: price(4, 99), Grace: 7, Offers: []Offer{trial, intro}},
			{ID: "yearly", Kind: AutoRenewing, Period: "P1Y", Price: price(49, 99), Grace: 14},
			{ID: "prepaid", Kind: Prepaid, Period: "P1M", Price: price(5, 49)},
			{ID: "installments", Kind: Installments, Period: "P1M", Price: price(4, 49), Payments: 12, Grace: 7}}},
		{ID: "extra_storage", Title: "Extra storage", Plans: []Plan{
			{ID: "monthly", Kind: AutoRenewing, Period: "P1M", Price: price(0, 99), Grace: 7}}},
		{ID: "gold_forever", Title: "Gold for ever", Plans: []Plan{{ID: "buy", Kind: OneTime, Price: price(99, 99)}}},
		{ID: "gold_pass", Title: "Gold for 30 days", Plans: []Plan{{ID: "buy", Kind: OneTime, Price: price(5, 99)}}},
	}
}
