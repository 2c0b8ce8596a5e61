package numbers

import (
	"slices"
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
)

const today = "2026-11-01"

func purchase(status string, access bool) addondb.Purchase {
	return addondb.Purchase{ID: 1, Environment: "production", Status: status, Access: access}
}

func count(measure string, value int64) addondb.Number {
	return addondb.Number{Day: today, Measure: measure, Value: value}
}

func TestWhatAChangeOfAPurchaseCountsAs(t *testing.T) {
	active, grace, held, paused, expired := purchase("active", true), purchase("grace", true), purchase("on_hold", false), purchase("paused", false), purchase("expired", false)
	superseded := purchase("superseded", false)
	superseded.SupersededBy = 2
	once := func(p addondb.Purchase) addondb.Purchase { p.OneTime = true; return p }
	in := func(environment string) addondb.Purchase {
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
		{"one that takes the place of another is not new", Change{After: active, Retired: []addondb.Purchase{active}}, nil},
		{"one after another has ended is new", Change{After: active, Retired: []addondb.Purchase{expired}}, []addondb.Number{count(Active, 1), count(Begun, 1)}},
		{"another order is a renewal", Change{Before: active, After: active, OrderBefore: "GPA.1", OrderAfter: "GPA.1..0"}, []addondb.Number{count(Renewed, 1)}},
		{"the same order is not a renewal", Change{Before: active, After: active, OrderBefore: "GPA.1", OrderAfter: "GPA.1"}, nil},
		{"a declined payment moves it to grace", Change{Before: active, After: grace}, []addondb.Number{count(Active, -1), count(InGrace, 1)}},
		{"and then on hold", Change{Before: grace, After: held}, []addondb.Number{count(InGrace, -1), count(OnHold, 1)}},
		{"a recovery with a new order is a renewal", Change{Before: held, After: active, OrderBefore: "GPA.1", OrderAfter: "GPA.1..0"}, []addondb.Number{count(Active, 1), count(OnHold, -1), count(Renewed, 1)}},
		{"a pause does not end it", Change{Before: active, After: paused}, []addondb.Number{count(Active, -1)}},
		{"one that resumes is not new", Change{Before: paused, After: active}, []addondb.Number{count(Active, 1)}},
		{"an end on hold is churn", Change{Before: held, After: expired}, []addondb.Number{count(Churned, 1), count(OnHold, -1)}},
		{"a revocation is churn", Change{Before: active, After: purchase("revoked", false)}, []addondb.Number{count(Active, -1), count(Churned, 1)}},
		{"one whose place was taken has not ended", Change{Before: active, After: superseded}, []addondb.Number{count(Active, -1)}},
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
