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

// Change is what became of a purchase. Before is zero for a new one.
type Change struct {
	Before, After addondb.Purchase
	// OrderBefore and OrderAfter are the orders of its current period, "" for none.
	OrderBefore, OrderAfter string
	// Retired are the purchases whose place it takes, as they were.
	Retired []addondb.Purchase
}

// Of returns what a change adds to the sums of a day.
func Of(c Change, day string) []addondb.Number {
	var list []addondb.Number
	add := func(measure string, value int64) {
		if measure != "" {
			list = append(list, addondb.Number{Day: day, Measure: measure, Value: value})
		}
	}
	add(level(c.Before), -1)
	add(level(c.After), 1)
	for _, p := range c.Retired {
		add(level(p), -1)
	}
	if c.After.OneTime && counted(c.After) && c.After.Access && (c.Before.ID == 0 || c.Before.Status == string(entitle.Pending)) {
		add(OneTime, 1)
	}
	replaces := slices.ContainsFunc(c.Retired, live)
	switch began, ended := !live(c.Before) && live(c.After), live(c.Before) && !live(c.After); {
	case began && !replaces:
		add(Begun, 1)
	case ended && c.After.SupersededBy == 0:
		add(Churned, 1)
	case live(c.Before) && c.After.Access && c.OrderBefore != "" && c.OrderAfter != "" && c.OrderBefore != c.OrderAfter:
		add(Renewed, 1)
	}
	return Sum(list)
}

// Sum adds up numbers of the same key, in the order of the keys, without those that are 0.
func Sum(list []addondb.Number) []addondb.Number {
	slices.SortFunc(list, func(a, b addondb.Number) int {
		return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Measure, b.Measure), cmp.Compare(a.Currency, b.Currency))
	})
	var sums []addondb.Number
	for _, n := range list {
		last := len(sums) - 1
		if last >= 0 && sums[last].Day == n.Day && sums[last].Measure == n.Measure && sums[last].Currency == n.Currency {
			sums[last].Value += n.Value
			continue
		}
		sums = append(sums, n)
	}
	return slices.DeleteFunc(sums, func(n addondb.Number) bool { return n.Value == 0 })
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
