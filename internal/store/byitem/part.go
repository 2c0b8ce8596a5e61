package byitem

import "time"

// part is a part of a time: whole months, or days that are read one by one.
type part struct {
	months      bool
	from, until time.Time // until does not belong to it
	sign        int64     // -1 for what is to be subtracted
}

// partsOf cuts a time so that few days are read: a month of which more than half is wanted is
// added, and what is too much is subtracted.
func partsOf(from, until time.Time) (parts []part) {
	add := func(months bool, from, until time.Time, sign int64) {
		if from.Before(until) {
			parts = append(parts, part{months, from, until, sign})
		}
	}
	first, last := nearestMonth(from), nearestMonth(until)
	if !first.Before(last) {
		add(false, from, until, 1)
		return parts
	}
	add(true, first, last, 1)
	add(false, from, first, 1)
	add(false, first, from, -1)
	add(false, last, until, 1)
	add(false, until, last, -1)
	return parts
}

// nearestMonth is the first day of the month that begins nearest to a time.
func nearestMonth(at time.Time) time.Time {
	return time.Date(at.Year(), at.Month()+time.Month(at.Day()/17), 1, 0, 0, 0, 0, time.UTC)
}
