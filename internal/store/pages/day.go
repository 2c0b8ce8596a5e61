package pages

import (
	"strings"
	"time"
)

// dayHelp says how a day is typed.
const dayHelp = "Type the date as year, month and day, for example 2027-01-31."

// supportEnds says when support until a day is over.
const supportEnds = "Support ends when this day begins (UTC)."

// readDay reads the start of a day in UTC; the zero time is that of an empty text.
func readDay(text string) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.DateOnly, text)
}

// minuteLayout is how a time is typed, in UTC.
const (
	minuteLayout  = "2006-01-02 15:04"
	minuteExample = "In UTC, for example 2027-01-31 14:00"
	minuteHelp    = "Type a date, or a date and a time in UTC, for example 2027-01-31 14:00."
)

// readMinute reads a minute or the start of a day in UTC; the zero time is that of an empty text.
func readMinute(text string) (time.Time, error) {
	if at, err := readDay(text); err == nil {
		return at, nil
	}
	return time.Parse(minuteLayout, strings.TrimSpace(text))
}

// dayLabel names a day as it is typed into a form, and says that today is not over.
func dayLabel(day, today time.Time) string {
	if day.Equal(today) {
		return day.Format(time.DateOnly) + " (today, not over yet)"
	}
	return day.Format(time.DateOnly)
}
