package entitle

import "time"

// Lifetime is the number of days of a one-time product whose access has no end.
const Lifetime = 0

// Span is the time that a one-time product of a number of days has: the days begin when it was paid, in UTC.
type Span struct {
	PaidAt time.Time
	Days   int64
}

// EndOfDays returns the end of the last of some spans of one package, in the order in which they were paid. The days of
// each begin after what is still paid then.
func EndOfDays(spans []Span) (end time.Time) {
	for _, s := range spans {
		if s.PaidAt.After(end) {
			end = s.PaidAt
		}
		end = end.AddDate(0, 0, int(s.Days))
	}
	return end
}
