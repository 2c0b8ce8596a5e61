package sample

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/countersign/countersign"
)

const purchaseCount = 1200

// purchase is one line of the shop's sales, in the import format.
type purchase struct {
	Type           string                `json:"type"`
	Workspace      string                `json:"workspace"`
	ItemID         int64                 `json:"item_id"`
	Code           string                `json:"purchase_code"`
	License        string                `json:"license_type"`
	Price          countersign.Money     `json:"price"`
	Currency       string                `json:"currency"`
	SupportedUntil countersign.Timestamp `json:"supported_until,omitzero"` // zero: sold without support
	Downloaded     bool                  `json:"downloaded"`
	Date           countersign.Timestamp `json:"date"`
	State          string                `json:"state"`
	StateAt        countersign.Timestamp `json:"state_at,omitzero"` // zero while active
	Buyer          buyer                 `json:"buyer"`
	item           item
}

// purchases returns the shop's sales of eighteen months, by date.
func purchases() []purchase {
	rng := rand.New(rand.NewPCG(1229, 2026))
	shelf, regions := newShelf(rng), regions()
	all := make([]purchase, purchaseCount)
	for i := range all {
		all[i] = drawPurchase(rng, shelf.draw(rng), regions)
	}
	slices.SortStableFunc(all, func(a, b purchase) int { return a.Date.Compare(b.Date.Time) })
	return all
}

func drawPurchase(rng *rand.Rand, it item, regions []region) purchase {
	date := drawDate(rng, it.PublishedAt.Time)
	p := purchase{
		Type: "purchase", Workspace: it.Workspace, ItemID: it.ID, Currency: it.Currency, Date: countersign.Timestamp{Time: date}, item: it,
		License: countersign.LicenseRegular, Price: it.Price.Regular,
	}
	if rng.IntN(100) < 9 {
		p.License, p.Price = countersign.LicenseExtended, it.Price.Extended
	}
	p.Price = discounted(p.Price, date)
	p.Code = drawCode(rng, it.Workspace, date.After(End().AddDate(-1, 0, 0)))
	p.SupportedUntil.Time = drawSupport(rng, it, date)
	p.State, p.StateAt.Time = drawState(rng, date)
	p.Downloaded = rng.IntN(100) < 82 && p.State != "revoked"
	p.Buyer = drawBuyer(rng, regions)
	return p
}

// drawDate returns a second between publication, or the first day of the eighteen
// months, and End. Of two dates the later one wins now and then: sales grow.
func drawDate(rng *rand.Rand, published time.Time) time.Time {
	start := End().AddDate(0, -18, 0)
	if published.After(start) {
		start = published
	}
	seconds := int64(End().Sub(start) / time.Second)
	at := 1 + rng.Int64N(seconds-1)
	if again := 1 + rng.Int64N(seconds-1); rng.IntN(3) == 0 {
		at = max(at, again)
	}
	return start.Add(time.Duration(at) * time.Second)
}

// discounted is the list price but for two sales a year: 30 % off in the last week
// of November, 20 % off in the first half of June.
func discounted(list countersign.Money, date time.Time) countersign.Money {
	switch {
	case date.Month() == time.November && date.Day() >= 24:
		return list * 70 / 100
	case date.Month() == time.June && date.Day() <= 15:
		return list * 80 / 100
	}
	return list
}

// drawSupport returns the end of support, zero when none was sold. Items whose
// support is off today were sold with it until February 2026, sounds never.
func drawSupport(rng *rand.Rand, it item, date time.Time) time.Time {
	dropped := it.Kind == "audio" || date.After(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC))
	chance := rng.IntN(100)
	switch {
	case !it.Support && dropped, chance < 12:
		return time.Time{}
	case chance < 37:
		return date.AddDate(0, 12, 0)
	default:
		return date.AddDate(0, 6, 0)
	}
}

func drawState(rng *rand.Rand, date time.Time) (state string, at time.Time) {
	chance, days := rng.IntN(1000), 1+rng.IntN(25)
	switch {
	case chance < 27:
		state = "refunded"
	case chance < 35:
		state, days = "charged_back", days+20
	case chance < 41:
		state = "revoked"
	default:
		return "active", time.Time{}
	}
	if at = date.AddDate(0, 0, days); at.After(End()) {
		return "active", time.Time{} // still to come
	}
	return state, at
}

// moved is the purchase so much later.
func (p purchase) moved(later time.Duration) purchase {
	for _, at := range []*countersign.Timestamp{&p.Date, &p.StateAt, &p.SupportedUntil} {
		if !at.IsZero() {
			at.Time = at.Add(later)
		}
	}
	return p
}

// line writes the purchase in the import format.
func (p purchase) line() string { return lineOf(p) }
