package playdoc

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Product is a subscription as the console has it.
type Product struct {
	ID, Title string
	Plans     []Plan
}

// Plan is a base plan of a product.
type Plan struct {
	ID      string
	Period  Period
	Prepaid bool
	// Payments is how many payments a plan in installments commits to; it goes on without a
	// commitment after them.
	Payments int
	Price    Money
	// Grace and Hold are in days, "P7D". An empty Grace is 7 days, 3 for a weekly plan. An
	// empty Hold is 60 days without those of grace.
	Grace, Hold Period
	Offers      []Offer
}

// Offer is a first phase of a plan: a free trial, or an introductory price.
type Offer struct {
	ID     string
	Trial  bool
	Period Period
	Price  Money // of an introductory price
}

// Money is an amount as Google writes it: whole units, and nanos, 10⁻⁹ of one.
type Money struct {
	Currency string `json:"currencyCode,omitempty"`
	Units    int64  `json:"units,omitempty,string"`
	Nanos    int32  `json:"nanos,omitempty"`
}

func (m Money) value() float64 { return float64(m.Units) + float64(m.Nanos)/1e9 }

// Period is a length of time in ISO 8601 with one unit: "P3D", "P1W", "P1M", "P1Y", or
// "PT5M" for license testers.
type Period string

var periodForm = regexp.MustCompile(`^P(?:(\d{1,3})([DWMY])|T(\d{1,3})M)$`)

// after returns the end of a period that begins at t. A month without the day ends on its
// last day, and the periods after it stay on that day (Lifecycle, note on renewals).
func (d Period) after(t time.Time) time.Time {
	parts := periodForm.FindStringSubmatch(string(d))
	n, _ := strconv.Atoi(cmp.Or(parts[1], parts[3]))
	switch parts[2] {
	case "":
		return t.Add(time.Duration(n) * time.Minute)
	case "D":
		return t.AddDate(0, 0, n)
	case "W":
		return t.AddDate(0, 0, 7*n)
	case "Y":
		n *= 12
	}
	first := time.Date(t.Year(), t.Month()+time.Month(n), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), t.Location())
	lastDay := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), lastDay)-1)
}

func (d Period) weekly() bool { return d == "P1W" || d == "P7D" }

// annual plans have no pause (Lifecycle, table of pauses).
func (d Period) annual() bool { return d == "P1Y" || d == "P12M" }

func (p Product) check() error {
	for _, plan := range p.Plans {
		periods := []Period{plan.Period, plan.grace(), plan.hold()}
		for _, offer := range plan.Offers {
			periods = append(periods, offer.Period)
		}
		for _, period := range periods {
			if !periodForm.MatchString(string(period)) {
				return fmt.Errorf("playdoc: %s/%s: invalid period %q", p.ID, plan.ID, period)
			}
		}
	}
	return nil
}

// grace is the grace period of a plan. Chosen: the Reference says that the default depends
// on the billing period, and the console's help had 3 days for weekly plans and 7 for others.
func (p Plan) grace() Period {
	if p.Grace == "" && p.Period.weekly() {
		return "P3D"
	}
	return cmp.Or(p.Grace, "P7D")
}

// hold is the account hold of a plan: by default 60 days minus the grace period (Lifecycle,
// note on account hold).
func (p Plan) hold() Period {
	if p.Hold != "" {
		return p.Hold
	}
	zero := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	return Period(fmt.Sprintf("P%dD", 60-int(p.grace().after(zero).Sub(zero).Hours()/24)))
}

func (p *Play) plan(product, plan string) (Plan, bool) {
	for _, each := range p.options.Products {
		for _, found := range each.Plans {
			if each.ID == product && (found.ID == plan || plan == "") {
				return found, true
			}
		}
	}
	return Plan{}, false
}

func (p *Play) title(product string) string {
	for _, each := range p.options.Products {
		if each.ID == product {
			return each.Title
		}
	}
	return ""
}

func (p Plan) offer(id string) (Offer, bool) {
	for _, offer := range p.Offers {
		if offer.ID == id {
			return offer, true
		}
	}
	return Offer{}, id == ""
}
