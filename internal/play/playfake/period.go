package playfake

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Period is a length of time in ISO 8601, for example P1W, P1M or P1Y.
type Period string

// length is a period that was read.
type length struct {
	months, days int
}

var periodPattern = regexp.MustCompile(`^P(?:([1-9][0-9]{0,2})Y)?(?:([1-9][0-9]{0,2})M)?(?:([1-9][0-9]{0,2})W)?(?:([1-9][0-9]{0,2})D)?$`)

func (p Period) parse() (length, error) {
	parts := periodPattern.FindStringSubmatch(string(p))
	if parts == nil || p == "P" {
		return length{}, fmt.Errorf("invalid period %q", string(p))
	}
	n := func(i int) int {
		value, _ := strconv.Atoi(parts[i]) // the pattern admits only digits; absent is 0
		return value
	}
	return length{months: 12*n(1) + n(2), days: 7*n(3) + n(4)}, nil
}

// after returns the time that is a period after t. Purchases of license testers renew in
// minutes.
func (p Period) after(t time.Time, test bool) time.Time {
	l, err := p.parse()
	if err != nil {
		panic("playfake: " + err.Error()) // the catalogue was checked
	}
	if test {
		return t.Add(l.testLength())
	}
	return addMonths(t, l.months).AddDate(0, 0, l.days)
}

// testLength is how long a period lasts for license testers.
func (l length) testLength() time.Duration {
	switch {
	case l.months >= 12:
		return 30 * time.Minute
	case l.months >= 6:
		return 15 * time.Minute
	case l.months >= 3:
		return 10 * time.Minute
	}
	return 5 * time.Minute
}

// days is about how many days a period has.
func (p Period) days() int {
	l, err := p.parse()
	if err != nil {
		panic("playfake: " + err.Error()) // the catalogue was checked
	}
	return 30*l.months + l.days
}

// addMonths adds months and stays in the month: a renewal day that the month does not have
// is moved to its last day.
func addMonths(t time.Time, months int) time.Time {
	moved := t.AddDate(0, months, 0)
	if moved.Day() != t.Day() {
		moved = moved.AddDate(0, 0, -moved.Day())
	}
	return moved
}
