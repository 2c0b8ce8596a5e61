package numbers

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
)

const today = "2026-11-01"

func purchase(status string, access bool) State {
	return State{Purchase: addondb.Purchase{ID: 1, Environment: "production", Status: status, Access: access}}
}

// of is a purchase with an order of its current period, in a phase.
func (s State) of(order, phase string) State {
	s.Item.OrderID, s.Item.Phase = order, phase
	return s
}

func count(measure string, value int64) addondb.Number {
	return addondb.Number{Day: today, Measure: measure, Value: value}
}

func TestWhatAChangeOfAPurchaseCountsAs(t *testing.T) {
	active, grace, held, paused, expired := purchase("active", true), purchase("grace", true), purchase("on_hold", false), purchase("paused", false), purchase("expired", false)
	superseded := purchase("superseded", false)
	superseded.SupersededBy = 2
	once := func(s State) State { s.Purchase.OneTime = true; return s }
	in := func(environment string) State {
		p := active
		p.Environment = environment
		return p
	}
	for _, tt := range []struct {
		name string
		c    Change
		want []addondb.Number
	}{
		{"a first purchase is new", Change{After: active}, []addondb.Number{count(Active, 1), count(Begun, 1)}},
		{"one that is not paid yet is nothing", Change{After: purchase("pending", false)}, nil},
		{"a payment that arrives makes it new", Change{Before: purchase("pending", false), After: active}, []addondb.Number{count(Active, 1), count(Begun, 1)}},
		{"one that takes the place of another is not new", Change{After: active, Retired: []State{active}}, nil},
		{"one after another has ended is new", Change{After: active, Retired: []State{expired}}, []addondb.Number{count(Active, 1), count(Begun, 1)}},
		{"another order is a renewal", Change{Before: active.of("GPA.1", ""), After: active.of("GPA.1..0", "")}, []addondb.Number{count(Renewed, 1)}},
		{"the same order is not a renewal", Change{Before: active.of("GPA.1", ""), After: active.of("GPA.1", "")}, nil},
		{"a declined payment moves it to grace", Change{Before: active, After: grace}, []addondb.Number{count(Active, -1), count(InGrace, 1)}},
		{"and then on hold", Change{Before: grace, After: held}, []addondb.Number{count(InGrace, -1), count(OnHold, 1)}},
		{"a recovery with a new order is a renewal", Change{Before: held.of("GPA.1", ""), After: active.of("GPA.1..0", "")}, []addondb.Number{count(Active, 1), count(OnHold, -1), count(Renewed, 1)}},
		{"a pause does not end it", Change{Before: active, After: paused}, []addondb.Number{count(Active, -1)}},
		{"one that resumes is not new", Change{Before: paused, After: active}, []addondb.Number{count(Active, 1)}},
		{"an end on hold is churn", Change{Before: held, After: expired}, []addondb.Number{count(Churned, 1), count(OnHold, -1)}},
		{"a revocation is churn", Change{Before: active, After: purchase("revoked", false)}, []addondb.Number{count(Active, -1), count(Churned, 1)}},
		{"one whose place was taken has not ended", Change{Before: active, After: superseded}, []addondb.Number{count(Active, -1)}},
		{"a trial that is paid", Change{Before: active.of("GPA.1", "free_trial"), After: active.of("GPA.1..0", "base")}, []addondb.Number{count(Renewed, 1), count(TrialEnded, 1), count(TrialPaid, 1)}},
		{"a trial that goes on", Change{Before: active.of("GPA.1", "free_trial"), After: active.of("GPA.1..0", "free_trial")}, []addondb.Number{count(Renewed, 1)}},
		{"a trial that is not paid", Change{Before: active.of("GPA.1", "free_trial"), After: expired.of("GPA.1", "free_trial")}, []addondb.Number{count(Active, -1), count(Churned, 1), count(TrialEnded, 1)}},
		{"a trial whose place was taken", Change{Before: active.of("GPA.1", "free_trial"), After: superseded}, []addondb.Number{count(Active, -1)}},
		{"a product that is bought once counts as such", Change{After: once(active)}, []addondb.Number{count(OneTime, 1)}},
		{"and so when its payment arrives later", Change{Before: once(purchase("pending", false)), After: once(active)}, []addondb.Number{count(OneTime, 1)}},
		{"its end is not churn", Change{Before: once(active), After: once(expired)}, nil},
		{"a test purchase is left out", Change{After: in("test")}, nil},
		{"a simulated purchase is left out", Change{After: in("simulated")}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.c.After.ID == 0 {
				tt.c.After.ID = 1
			}
			if got := Of(tt.c, today); !slices.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// What takes the place of another product is counted as its own.
func TestAChangeIsCountedByProductAndPlan(t *testing.T) {
	silver, gold := purchase("active", true), purchase("active", true)
	silver.Item.ProductID, silver.Item.BasePlanID = "silver", "monthly"
	gold.Item.ProductID, gold.Item.BasePlanID = "gold", "yearly"
	want := []addondb.Number{
		{Day: today, Measure: Active, Product: "gold", Plan: "yearly", Value: 1}, {Day: today, Measure: Active, Product: "silver", Plan: "monthly", Value: -1},
	}
	for name, c := range map[string]Change{"another purchase": {After: gold, Retired: []State{silver}}, "the same purchase": {Before: silver, After: gold}} {
		if got := Of(c, today); !slices.Equal(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhatRecursEachMonth(t *testing.T) {
	var r Report
	for _, one := range []addondb.Recurring{
		{Currency: "EUR", Price: "4.99", Period: "P1M", Count: 3},  // 14.97
		{Currency: "EUR", Price: "49.99", Period: "P1Y", Count: 2}, // 8.33
		{Currency: "EUR", Price: "12.00", Period: "P3M", Count: 1}, // 4.00
		{Currency: "EUR", Price: "3.00", Period: "P4W", Count: 1},  // 3.25
		{Currency: "CHF", Price: "1.20", Period: "P1W", Count: 1},  // 5.20
		{Currency: "EUR", Price: "4.99", Period: "", Count: 5},
		{Currency: "EUR", Price: "4.999", Period: "P1M", Count: 7},
	} {
		r.addRecurring(&Plan{}, one)
	}
	if want := []Amount{{"CHF", 520}, {"EUR", 3055}}; !slices.Equal(r.Recurring, want) || r.Unpriced != 12 {
		t.Errorf("%+v, and %d are left out", r.Recurring, r.Unpriced)
	}
}

func TestWhatAReadingOfAnOrderAddsToTheSums(t *testing.T) {
	paid := addondb.Order{Day: today, Currency: "EUR", Amount: 499}
	back := paid
	back.Refunded, back.RefundDay = 499, "2026-11-03"
	part := paid
	part.Refunded, part.RefundDay = 100, "2026-11-02"
	for _, tt := range []struct {
		name          string
		before, after addondb.Order
		want          []addondb.Number
	}{
		{"what was paid", addondb.Order{}, paid, []addondb.Number{{Day: today, Measure: Revenue, Currency: "EUR", Value: 499}}},
		{"the same again adds nothing", paid, paid, nil},
		{"a refund is subtracted on its own day, and counted once", paid, back, []addondb.Number{{Day: "2026-11-03", Measure: Refunded, Value: 1}, {Day: "2026-11-03", Measure: Refunds, Currency: "EUR", Value: 499}}},
		{"a refund in part is followed by another one", part, addondb.Order{Day: today, Currency: "EUR", Amount: 499, Refunded: 300, RefundDay: "2026-11-02"}, []addondb.Number{{Day: "2026-11-02", Measure: Refunds, Currency: "EUR", Value: 200}}},
		{"an order that was not paid is nothing", addondb.Order{}, addondb.Order{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := OfOrder(tt.before, tt.after); !slices.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
