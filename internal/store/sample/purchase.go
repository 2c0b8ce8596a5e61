package sample

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

const purchaseCount = 1200

// purchase is one line of the shop's sales.
type purchase struct {
	item           item
	code           string
	license        string
	hundredths     int64
	date           time.Time
	supportedUntil time.Time // zero: sold without support
	downloaded     bool
	state          string
	stateAt        time.Time // zero while active
	buyer          buyer
}

// purchases returns the shop's sales of eighteen months, by date.
func purchases() []purchase {
	rng := rand.New(rand.NewPCG(1229, 2026))
	shelf, regions := newShelf(rng), regions()
	all := make([]purchase, purchaseCount)
	for i := range all {
		all[i] = drawPurchase(rng, shelf.draw(rng), regions)
	}
	slices.SortStableFunc(all, func(a, b purchase) int { return a.date.Compare(b.date) })
	return all
}

func drawPurchase(rng *rand.Rand, it item, regions []region) purchase {
	p := purchase{item: it, date: drawDate(rng, it.PublishedAt), license: "Regular", state: "active"}
	list := it.Price.Regular
	if rng.IntN(100) < 9 {
		p.license, list = "Extended", it.Price.Extended
	}
	p.hundredths = discounted(int64(list), p.date)
	p.code = drawCode(rng, it.Workspace, p.date.After(End().AddDate(-1, 0, 0)))
	p.supportedUntil = drawSupport(rng, it, p.date)
	p.state, p.stateAt = drawState(rng, p.date)
	p.downloaded = rng.IntN(100) < 82 && p.state != "revoked"
	p.buyer = drawBuyer(rng, regions)
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
func discounted(list int64, date time.Time) int64 {
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

// line writes the purchase in the import format.
func (p purchase) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"purchase","workspace":%q,"item_id":%d,"purchase_code":%q,"license_type":%q,"price":%s,"currency":%q`,
		p.item.Workspace, p.item.ID, p.code, p.license, amount(p.hundredths), p.item.Currency)
	if !p.supportedUntil.IsZero() {
		fmt.Fprintf(&b, `,"supported_until":%q`, timestamp(p.supportedUntil))
	}
	fmt.Fprintf(&b, `,"downloaded":%t,"date":%q,"state":%q`, p.downloaded, timestamp(p.date), p.state)
	if !p.stateAt.IsZero() {
		fmt.Fprintf(&b, `,"state_at":%q`, timestamp(p.stateAt))
	}
	fmt.Fprintf(&b, `,"buyer":{"name":%s,"email":%q}}`, quoted(p.buyer.name), p.buyer.email)
	return b.String()
}

// quoted writes s as a JSON string.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("sample: quote %q: %v", s, err)) // a string always has a JSON form
	}
	return string(text)
}
