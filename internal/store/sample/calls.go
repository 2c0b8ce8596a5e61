package sample

import (
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/countersign/countersign"
)

// Call is a call of the shop's API.
type Call struct {
	At                             time.Time
	Workspace, Key, Item, Purchase int64
	Endpoint, Method               string
	Status                         int
	Reason                         string // the error's code, "" for a valid call
	Took                           time.Duration
	Addr                           netip.Addr
	Agent                          string
	// Param is the parameter besides the key, "" for none, with its value.
	Param, Value string
}

// Caller is a workspace whose programs call the API: its ids, as they are in the store.
type Caller struct {
	Workspace, Key int64
	Items          []int64
	Sold           []Sold
	// ADay is about how many calls there are on a working day.
	ADay int
}

// Sold is a purchase that programs ask about.
type Sold struct {
	ID, Item int64
	Code     string
	// Reason is the error code of its validations, "" while it is active.
	Reason string
}

// CallDays is how many days of calls [Calls] returns.
const CallDays = 90

// Calls returns the calls of the days up to now, by time. They have the rhythm of days and
// weeks, and fail for several reasons. The same arguments give the same calls.
func Calls(now time.Time, callers []Caller) []Call {
	var all []Call
	today := now.UTC().Truncate(24 * time.Hour)
	for back := range CallDays {
		day := today.AddDate(0, 0, -back)
		rng := rand.New(rand.NewPCG(1229, uint64(back)))
		for _, c := range callers {
			for hour := range 24 {
				all = c.addHour(all, rng, day.Add(time.Duration(hour)*time.Hour), c.callsIn(day.Weekday(), hour, back))
			}
		}
		if back == guessedDaysAgo && len(callers) > 0 {
			all = callers[0].addGuesses(all, rng, day)
		}
	}
	all = slices.DeleteFunc(all, func(c Call) bool { return c.At.After(now) })
	slices.SortStableFunc(all, func(a, b Call) int { return a.At.Compare(b.At) })
	return all
}

// callsIn returns how many calls an hour has: most in the afternoon, fewer at week-ends, and more
// from week to week.
func (c Caller) callsIn(day time.Weekday, hour, daysBack int) float64 {
	expected := float64(c.ADay) / 24 * (1 + 0.75*math.Cos(float64(hour-14)/24*2*math.Pi)) * (1.15 - 0.4*float64(daysBack)/CallDays)
	if day == time.Saturday || day == time.Sunday {
		expected *= 0.55
	}
	return expected
}

func (c Caller) addHour(all []Call, rng *rand.Rand, hour time.Time, expected float64) []Call {
	for range int(expected + rng.Float64()) {
		all = append(all, c.draw(rng, hour.Add(time.Duration(rng.Int64N(int64(time.Hour))))))
	}
	return all
}

// guessedDaysAgo is on which day somebody tried out purchase codes.
const guessedDaysAgo = 9

// addGuesses adds the calls of somebody who tries out purchase codes, until the limit ends it.
func (c Caller) addGuesses(all []Call, rng *rand.Rand, day time.Time) []Call {
	at := day.Add(3*time.Hour + 12*time.Minute)
	for i := range 90 {
		call := c.newCall(rng, at, "/api/purchases/validation", "purchase_code", uuidOf(random16(rng)))
		call.Addr, call.Agent = netip.MustParseAddr("203.0.113.66"), "python-requests/2.32.3"
		if call = call.failed(404, countersign.CodePurchaseNotFound); i >= 70 {
			call = call.failed(429, countersign.CodeRateLimited)
		}
		all = append(all, call)
		at = at.Add(time.Duration(400+rng.IntN(900)) * time.Millisecond)
	}
	return all
}

// draw returns a call as the programs of buyers make them.
func (c Caller) draw(rng *rand.Rand, at time.Time) Call {
	switch chance := rng.IntN(1000); {
	case chance < 30 || len(c.Sold) == 0 || len(c.Items) == 0:
		return c.newCall(rng, at, "/api/account/details", "", "")
	case chance < 80:
		return c.newCall(rng, at, "/api/items/all", "", "")
	case chance < 120:
		call := c.newCall(rng, at, "/api/items/item", "item_id", "")
		call.Item = c.Items[rng.IntN(len(c.Items))]
		return call
	case chance < 124:
		return c.newCall(rng, at, "/api/items/item", "item_id", "999").failed(404, countersign.CodeItemNotFound)
	case chance < 160:
		return c.newCall(rng, at, "/api/purchases/validation", "purchase_code", uuidOf(random16(rng))).failed(404, countersign.CodePurchaseNotFound)
	case chance < 165:
		return c.newCall(rng, at, "/api/purchases/validation", "", "").failed(400, countersign.CodeBadBody)
	}
	sold := c.Sold[len(c.Sold)-1-int(float64(len(c.Sold))*math.Pow(rng.Float64(), 1.5))] // rather the newer ones
	call := c.newCall(rng, at, "/api/purchases/validation", "purchase_code", sold.Code)
	call.Purchase, call.Item = sold.ID, sold.Item
	if sold.Reason != "" {
		call = call.failed(404, sold.Reason)
	}
	return call
}

func (c Call) failed(status int, reason string) Call {
	c.Status, c.Reason = status, reason
	return c
}

// agents are the programs that call, the most frequent ones several times.
var agents = []string{
	"WordPress/6.8.3; https://atelier.example", "WordPress/6.8.3; https://atelier.example", "WordPress/6.7.1; https://bakery.example",
	"GuzzleHttp/7", "GuzzleHttp/7", "okhttp/4.12.0", "okhttp/4.12.0", "Dart/3.5 (dart:io)", "node", "Python-urllib/3.12", "Go-http-client/2.0", "curl/8.11.1",
}

// newCall returns a valid call. A site keeps its address and its program.
func (c Caller) newCall(rng *rand.Rand, at time.Time, endpoint, param, value string) Call {
	site := int(60 * math.Pow(rng.Float64(), 2))
	addr := netip.AddrFrom4([4]byte{198, 51, 100, byte(10 + site)})
	if site%7 == 3 {
		addr = netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, 0, byte(site), 15: 1})
	}
	method := "GET"
	if endpoint == "/api/purchases/validation" {
		method = "POST"
	}
	took := time.Duration(180+rng.IntN(900)) * time.Microsecond
	if rng.IntN(40) == 0 {
		took *= 12
	}
	return Call{
		At: at, Workspace: c.Workspace, Key: c.Key, Endpoint: endpoint, Method: method, Status: 200, Took: took,
		Addr: addr, Agent: agents[site%len(agents)], Param: param, Value: value,
	}
}
