// Package numbers counts what happens to purchases of the real store, without test purchases:
// the rules of what counts as what, and the sums by day and month.
package numbers

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
)

// The measures.
const (
	Active   = "active"   // purchases with access whose payment is in order, also those that will not renew
	InGrace  = "grace"    // with access although a payment was declined
	OnHold   = "on_hold"  // without access until a payment arrives
	Begun    = "new"      // purchases that began, but for changes of the product
	Renewed  = "renewed"  // periods that were paid after the first one
	Churned  = "churned"  // purchases that ended
	Refunded = "refunded" // orders that were refunded or charged back
	OneTime  = "one_time" // products that were bought once, which are in none of the above but refunded
	Revenue  = "revenue"  // what was paid
	Refunds  = "refunds"  // what of it was given back

	TrialEnded = "trial_ended" // free trials that ended
	TrialPaid  = "trial_paid"  // those of them that a payment followed
)

// Day is the day of a time, as the sums name it.
func Day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// counted reports whether a purchase is one of the real store that money was paid for.
func counted(p addondb.Purchase) bool {
	return p.ID != 0 && entitle.Environment(p.Environment) == entitle.Production
}

// level is the measure that a purchase belongs to now, "" for none.
func level(p addondb.Purchase) string {
	if !counted(p) || p.SupersededBy != 0 || p.OneTime {
		return ""
	}
	switch status := p.Status; status {
	case Active, InGrace, OnHold:
		return status
	}
	return ""
}

// live reports whether a purchase has begun and not ended: it has access, or can regain it.
func live(p addondb.Purchase) bool {
	return level(p) != "" || counted(p) && p.SupersededBy == 0 && entitle.Status(p.Status) == entitle.Paused
}

// State is a purchase with the item that it is counted as.
type State struct {
	addondb.Purchase
	Item addondb.PurchaseItem
}

// inTrial reports whether the purchase is in a free trial.
func (s State) inTrial() bool { return live(s.Purchase) && s.Item.Phase == "free_trial" }

// Change is what became of a purchase. Before is zero for a new one.
type Change struct {
	Before, After State
	// Retired are the purchases whose place it takes, as they were.
	Retired []State
}

// renews reports whether another period was paid.
func (c Change) renews() bool {
	before, after := c.Before.Item.OrderID, c.After.Item.OrderID
	return live(c.Before.Purchase) && c.After.Access && before != "" && after != "" && before != after
}

// Of returns what a change adds to the sums of a day.
func Of(c Change, day string) []addondb.Number {
	var list []addondb.Number
	add := func(measure string, s State, value int64) {
		if measure != "" {
			list = append(list, addondb.Number{Day: day, Measure: measure, Product: s.Item.ProductID, Plan: s.Item.BasePlanID, Value: value})
		}
	}
	add(level(c.Before.Purchase), c.Before, -1)
	add(level(c.After.Purchase), c.After, 1)
	for _, s := range c.Retired {
		add(level(s.Purchase), s, -1)
	}
	once := c.After.Purchase
	if once.OneTime && counted(once) && once.Access && (c.Before.Purchase.ID == 0 || c.Before.Purchase.Status == string(entitle.Pending)) {
		add(OneTime, c.After, 1)
	}
	replaces := slices.ContainsFunc(c.Retired, func(s State) bool { return live(s.Purchase) })
	began := !live(c.Before.Purchase) && live(c.After.Purchase) && !replaces
	ended := live(c.Before.Purchase) && !live(c.After.Purchase) && c.After.SupersededBy == 0
	renewed := !ended && c.renews()
	for measure, counts := range map[string]bool{
		Begun: began, Churned: ended, Renewed: renewed,
		TrialEnded: c.Before.inTrial() && (ended || renewed && !c.After.inTrial()),
		TrialPaid:  c.Before.inTrial() && renewed && !c.After.inTrial(),
	} {
		if counts && measure == Begun {
			add(measure, c.After, 1)
		} else if counts {
			add(measure, c.Before, 1)
		}
	}
	return Sum(list)
}

// Sum adds up numbers of the same key, in the order of the keys, without those that are 0.
func Sum(list []addondb.Number) []addondb.Number {
	slices.SortFunc(list, compareKeys)
	var sums []addondb.Number
	for _, n := range list {
		last := len(sums) - 1
		if last >= 0 && compareKeys(sums[last], n) == 0 {
			sums[last].Value += n.Value
			continue
		}
		sums = append(sums, n)
	}
	return slices.DeleteFunc(sums, func(n addondb.Number) bool { return n.Value == 0 })
}

// compareKeys compares all but the values.
func compareKeys(a, b addondb.Number) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Currency, b.Currency),
		cmp.Compare(a.Product, b.Product), cmp.Compare(a.Plan, b.Plan))
}

// OfOrder returns what a reading of an order adds to the sums.
func OfOrder(before, after addondb.Order) []addondb.Number {
	list := append(moneyOf(after, 1), moneyOf(before, -1)...)
	if before.Refunded == 0 && after.Refunded > 0 {
		list = append(list, addondb.Number{Day: after.RefundDay, Measure: Refunded, Value: 1})
	}
	return Sum(list)
}

func moneyOf(o addondb.Order, sign int64) (list []addondb.Number) {
	if o.Day != "" {
		list = append(list, addondb.Number{Day: o.Day, Measure: Revenue, Currency: o.Currency, Value: sign * o.Amount})
	}
	if o.RefundDay != "" {
		list = append(list, addondb.Number{Day: o.RefundDay, Measure: Refunds, Currency: o.Currency, Value: sign * o.Refunded})
	}
	return list
}
