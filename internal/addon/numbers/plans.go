package numbers

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
)

// Plan is the numbers of a base plan of a product.
type Plan struct {
	Product, ID string
	// Active is how many purchases are active at the end of the time, and Before how many there were before it that had
	// not ended.
	Active, Before        int64
	New, Churned          int64
	TrialsEnded, TrialsOK int64
	// Recurring is what those that renew now pay in a month, in hundredths.
	Recurring []Amount
}

// Amount is money in hundredths.
type Amount struct {
	Currency string
	Value    int64
}

// plans collects the numbers of base plans.
type plans map[[2]string]*Plan

func (p plans) of(product, id string) *Plan {
	key := [2]string{product, id}
	if p[key] == nil {
		p[key] = &Plan{Product: product, ID: id}
	}
	return p[key]
}

// readPlans adds the numbers by product and base plan, and what recurs each month.
func (r *Report) readPlans(ctx context.Context, tx *addondb.DB, from, until string) error {
	all := plans{}
	before, err := tx.NumbersByPlan(ctx, "", from)
	if err != nil {
		return err
	}
	for _, n := range before {
		if p := all.of(n.Product, n.Plan); n.Measure == Active || n.Measure == InGrace || n.Measure == OnHold {
			p.Before += n.Value
			p.add(n, Active)
		}
	}
	sums, err := tx.NumbersByPlan(ctx, from, until)
	if err != nil {
		return err
	}
	for _, n := range sums {
		all.of(n.Product, n.Plan).add(n, Active, Begun, Churned, TrialEnded, TrialPaid)
	}
	recurring, err := tx.Recurring(ctx, string(entitle.Production))
	if err != nil {
		return err
	}
	for _, one := range recurring {
		r.addRecurring(all.of(one.Product, one.Plan), one)
	}
	for _, p := range all {
		if p.Active != 0 || p.Before != 0 || p.New != 0 || p.Churned != 0 || p.TrialsEnded != 0 || p.Recurring != nil {
			r.Plans = append(r.Plans, *p)
		}
	}
	slices.SortFunc(r.Plans, func(a, b Plan) int { return cmp.Or(cmp.Compare(a.Product, b.Product), cmp.Compare(a.ID, b.ID)) })
	return nil
}

// add adds a sum, if its measure is one of some.
func (p *Plan) add(n addondb.Number, measures ...string) {
	if !slices.Contains(measures, n.Measure) {
		return
	}
	*map[string]*int64{Active: &p.Active, Begun: &p.New, Churned: &p.Churned, TrialEnded: &p.TrialsEnded, TrialPaid: &p.TrialsOK}[n.Measure] += n.Value
}

// addRecurring adds what products of one price pay in a month, to the plan and to the whole.
func (r *Report) addRecurring(p *Plan, one addondb.Recurring) {
	price, err := countersign.ParseMoney(one.Price)
	times, in := perMonth(one.Period)
	if err != nil || in == 0 {
		r.Unpriced += one.Count
		return
	}
	value := (int64(price)*one.Count*times + in/2) / in
	p.Recurring = addAmount(p.Recurring, one.Currency, value)
	r.Recurring = addAmount(r.Recurring, one.Currency, value)
}

func addAmount(list []Amount, currency string, value int64) []Amount {
	i, found := slices.BinarySearchFunc(list, currency, func(a Amount, c string) int { return cmp.Compare(a.Currency, c) })
	if !found {
		list = slices.Insert(list, i, Amount{Currency: currency})
	}
	list[i].Value += value
	return list
}

var periodPattern = regexp.MustCompile(`^P([1-9][0-9]{0,2})([DWMY])$`)

// perMonth returns how often a period fits into a month, as times / in; 0 / 0 for a period that can't be read.
func perMonth(period string) (times, in int64) {
	parts := periodPattern.FindStringSubmatch(period)
	if parts == nil {
		return 0, 0
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64) // the pattern admits only digits
	inYear := map[string]int64{"D": 365, "W": 52, "M": 12, "Y": 1}[parts[2]]
	return inYear, 12 * n
}
