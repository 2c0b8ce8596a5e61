package entitle

import (
	"testing"
	"time"

	"github.com/countersign/countersign/internal/play"
)

const day = 24 * time.Hour

func TestDaysAddUpAfterWhatIsStillPaid(t *testing.T) {
	cases := []struct {
		name  string
		spans []Span
		want  time.Time
	}{
		{"the first days begin with the payment", []Span{{noon, 30}}, noon.Add(30 * day)},
		{"more days follow those that are left", []Span{{noon, 30}, {noon.Add(10 * day), 30}}, noon.Add(60 * day)},
		{"a gap is not filled", []Span{{noon, 30}, {noon.Add(40 * day), 7}}, noon.Add(47 * day)},
		{"without any", nil, time.Time{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := EndOfDays(c.spans); !got.Equal(c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// once is a one-time product, of which nothing ends while expires is zero.
func once(state play.State, expires time.Time) play.Subscription {
	s := play.Subscription{OneTime: true, State: state, Items: []play.Item{{ProductID: "pass", ExpiresAt: expires, OrderID: "GPA.1", Quantity: 1}}}
	if state != play.Pending {
		s.StartedAt = past
	}
	return s
}

func TestAccessFollowsTheStateOfAOneTimePurchase(t *testing.T) {
	neverPaid := once(play.Cancelled, time.Time{})
	neverPaid.StartedAt = time.Time{}
	longer := Decision{Status: Active, Access: true, Until: tomorrow.Add(day)}
	cases := []struct {
		name   string
		s      play.Subscription
		last   Decision
		voided bool
		status Status
		access bool
	}{
		{"for ever", once(play.Purchased, time.Time{}), Decision{}, false, Active, true},
		{"days that are left", once(play.Purchased, tomorrow), Decision{}, false, Active, true},
		{"days that are over", once(play.Purchased, past), Decision{Status: Active, Access: true, Until: past}, false, Expired, false},
		{"days that are over earlier, because days before them were refunded", once(play.Purchased, past), longer, false, Expired, false},
		{"a pending payment", once(play.Pending, time.Time{}), Decision{}, false, Pending, false},
		{"a payment that was never made", neverPaid, Decision{Status: Pending}, false, Failed, false},
		{"a refund with its access", once(play.Cancelled, time.Time{}), longer, false, Revoked, false},
		{"a void that the list names first", once(play.Purchased, time.Time{}), longer, true, Revoked, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := Decide(c.s, c.last, func(string) bool { return c.voided }, noon)
			if got.Status != c.status || got.Access != c.access || got.Unknown || !got.Until.Equal(c.s.Items[0].ExpiresAt) {
				t.Errorf("%+v", got)
			}
			if counts := ItemCounts(c.s, c.s.Items[0], got.Until, noon); c.access && !counts {
				t.Error("the product does not count")
			}
		})
	}
}
