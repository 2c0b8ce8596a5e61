package entitle

import "time"

// Lifetime is the number of days of a one-time product whose access has no end.
const Lifetime = 0

// Span is the time that a one-time product of a number of days has: the days begin when it was paid.
type Span struct {
	PaidAt time.Time
	Days   int64
}

// EndOfDays returns the end of the last of some spans of one package, in the order in which they were accepted. The days
// of each begin after what is still paid when it is bought.
func EndOfDays(spans []Span) (end time.Time) {
	for _, s := range spans {
		if s.PaidAt.After(end) {
			end = s.PaidAt
		}
		end = end.Add(time.Duration(s.Days) * 24 * time.Hour)
	}
	return end
}
