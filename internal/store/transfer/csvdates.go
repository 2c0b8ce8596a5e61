package transfer

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// DateOrder is the order of day and month in dates like 04/05/2024.
type DateOrder string

// The orders of day and month. DatesByRows is decided by the rows that can be read in one way only.
const (
	DatesByRows   DateOrder = ""
	DatesDayFirst DateOrder = "dmy"
	// DatesMonthFirst is that of the United States.
	DatesMonthFirst DateOrder = "mdy"
)

func checkDates(order DateOrder) error {
	if order != DatesByRows && order != DatesDayFirst && order != DatesMonthFirst {
		return fault.Invalid("import_dates", fmt.Sprintf("Invalid order of dates %.40q: use %s or %s", order, DatesDayFirst, DatesMonthFirst))
	}
	return nil
}

// The parts of a date: three numbers, or a month by its name; and the time behind it.
var (
	numericDate = regexp.MustCompile(`^([0-9]{1,4})([./-])([0-9]{1,2})([./-])([0-9]{1,4})(.*)$`)
	dayAndMonth = regexp.MustCompile(`^([0-9]{1,2})[ -]([A-Za-z]{3,9})[ -]([0-9]{4})(.*)$`)
	monthAndDay = regexp.MustCompile(`^([A-Za-z]{3,9}) ([0-9]{1,2}) ([0-9]{4})(.*)$`)
	timeOfDay   = regexp.MustCompile(`^(?:T| )([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)? ?(AM|PM)? ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?$`)
	unixTime    = regexp.MustCompile(`^[0-9]{10}(?:[0-9]{3})?$`)
)

const dateForms = "2024-04-27, 2024-04-27 12:00:00 or 27 Apr 2024"

// readDate reads a date with or without a time, or Unix time in seconds or milliseconds. Without a
// zone it is UTC, without a time the beginning of the day. An empty cell is nil.
func (in reading) readDate(cell string) (*timestamp, error) {
	text := strings.Join(strings.Fields(strings.ReplaceAll(plainSpaces(cell), ",", " ")), " ")
	if text == "" {
		return nil, nil
	}
	if unixTime.MatchString(text) {
		return unixDate(text)
	}
	date, rest, err := in.dateOf(cell, text)
	if err != nil {
		return nil, err
	}
	at, ok := withTime(date, strings.ToUpper(rest))
	if !ok {
		return nil, noDate(cell)
	}
	found := countersign.At(at)
	if year := found.UTC().Year(); year < 1 || year > 9999 {
		return nil, noDate(cell)
	}
	return &found, nil
}

func noDate(cell string) error { return fmt.Errorf("%q is not a date like %s", cell, dateForms) }

func unixDate(text string) (*timestamp, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if len(text) > 10 {
		n /= 1000
	}
	at := countersign.At(time.Unix(n, 0))
	return &at, err
}

// dateOf reads the day, and returns what stands behind it.
func (in reading) dateOf(cell, text string) (day time.Time, rest string, err error) {
	if m := numericDate.FindStringSubmatch(text); m != nil && m[2] == m[4] {
		return in.numericDate(cell, m)
	}
	parts, month := dayAndMonth.FindStringSubmatch(text), 2
	if parts == nil {
		parts, month = monthAndDay.FindStringSubmatch(text), 1
	}
	if parts == nil {
		return day, "", noDate(cell)
	}
	for m := time.January; m <= time.December; m++ {
		if name := parts[month]; strings.EqualFold(name, m.String()) || strings.EqualFold(name, m.String()[:3]) || m == time.September && strings.EqualFold(name, "Sept") {
			return calendarDay(cell, atoi(parts[3]), m, atoi(parts[3-month]), parts[4])
		}
	}
	return day, "", fmt.Errorf("the month %q of the date %q is not an English one; write it as 2024-04-27", parts[month], cell)
}

// numericDate reads the year first, or else day and month in the order of the column.
func (in reading) numericDate(cell string, m []string) (day time.Time, rest string, err error) {
	a, b, c := atoi(m[1]), atoi(m[3]), atoi(m[5])
	switch {
	case len(m[1]) == 4 && len(m[5]) <= 2:
		return calendarDay(cell, a, time.Month(b), c, m[6])
	case len(m[1]) > 2 || len(m[5]) != 4:
		return day, "", fmt.Errorf("the year of the date %q does not have four digits; write it as 2024-04-27", cell)
	case in.dates == DatesDayFirst, in.dates == DatesByRows && a > 12, a == b:
		return calendarDay(cell, c, time.Month(b), a, m[6])
	case in.dates == DatesMonthFirst, b > 12:
		return calendarDay(cell, c, time.Month(a), b, m[6])
	}
	return day, "", fmt.Errorf("the date %q is ambiguous; write it as 2024-04-27, or say whether day or month is first", cell)
}

// calendarDay is an error for a day that the month does not have.
func calendarDay(cell string, year int, month time.Month, day int, rest string) (time.Time, string, error) {
	at := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if at.Month() != month || at.Day() != day {
		return at, "", fmt.Errorf("the date %q does not exist: %d is not a day of month %d in %d", cell, day, month, year)
	}
	return at, rest, nil
}

// withTime adds the time of a day.
func withTime(day time.Time, text string) (time.Time, bool) {
	text = strings.TrimRight(text, " ")
	if text == "" {
		return day, true
	}
	m := timeOfDay.FindStringSubmatch(text)
	if m == nil {
		return day, false
	}
	hour, minute, second := atoi(m[1]), atoi(m[2]), atoi(m[3])
	if m[4] != "" {
		if hour < 1 || hour > 12 {
			return day, false
		}
		hour %= 12
		if m[4] == "PM" {
			hour += 12
		}
	}
	offset, ok := offsetOf(m[5])
	if hour > 23 || minute > 59 || second > 59 || !ok {
		return day, false
	}
	return day.Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second - offset), true
}

// offsetOf is how far a zone like +0200 is before UTC.
func offsetOf(zone string) (time.Duration, bool) {
	if zone == "" || zone == "Z" || zone == "UTC" || zone == "GMT" {
		return 0, true
	}
	digits := strings.ReplaceAll(zone[1:], ":", "")
	hours, minutes := atoi(digits[:2]), atoi(digits[2:])
	offset := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if zone[0] == '-' {
		offset = -offset
	}
	return offset, hours <= 14 && minutes <= 59
}

// atoi reads digits that a pattern has found, "" as 0.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

// seenDates collects what the dates of a column say about the order of day and month.
type seenDates struct {
	numeric              bool // there are dates like 04/05/2024
	dayFirst, monthFirst bool
}

// note looks at a cell that is to be a date.
func (o *seenDates) note(cell string) {
	m := numericDate.FindStringSubmatch(plainSpaces(cell))
	if m == nil || m[2] != m[4] || len(m[1]) > 2 || len(m[5]) != 4 {
		return
	}
	o.numeric = true
	a, b := atoi(m[1]), atoi(m[3])
	o.dayFirst = o.dayFirst || a > 12 && b <= 12
	o.monthFirst = o.monthFirst || b > 12 && a <= 12
}

// order is that of all rows, if they have one.
func (o seenDates) order() DateOrder {
	switch {
	case o.dayFirst && !o.monthFirst:
		return DatesDayFirst
	case o.monthFirst && !o.dayFirst:
		return DatesMonthFirst
	}
	return DatesByRows
}
