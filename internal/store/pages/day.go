package pages

import (
	"strings"
	"time"
)

// dayHelp says how a day is typed.
const dayHelp = "Type the date as year, month and day, for example 2027-01-31."

// readDay reads the start of a day in UTC; the zero time is that of an empty text.
func readDay(text string) (time.Time, error) {
	if text = strings.TrimSpace(text); text == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.DateOnly, text)
}
