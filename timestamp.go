package countersign

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

const timestampLayout = "2006-01-02T15:04:05Z"

// Timestamp is a moment in UTC, to the second (spec 2, conventions).
type Timestamp struct{ time.Time }

// At returns t as a Timestamp: in UTC, without the part of a second.
func At(t time.Time) Timestamp {
	return Timestamp{t.UTC().Truncate(time.Second)}
}

// ParseTimestamp reads the forms that stores are known to print: "2024-04-27T12:00:00Z", the same with a fraction of a
// second or with an offset in place of the Z, and "2024-04-27 12:00:00", which is UTC.
func ParseTimestamp(s string) (Timestamp, error) {
	text := s
	if len(s) > 10 && s[10] == ' ' {
		text = s[:10] + "T" + s[11:] + "Z"
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || !twoDigitHour(text) || strings.Contains(text, ",") {
		return Timestamp{}, fmt.Errorf("%q is not a timestamp like %s", s, timestampLayout)
	}
	at := At(t)
	if !at.printable() {
		return Timestamp{}, fmt.Errorf("the timestamp %q is out of range", s)
	}
	return at, nil
}

// twoDigitHour catches what time.Parse lets through, as it does a decimal comma.
func twoDigitHour(s string) bool { return len(s) > 13 && s[13] == ':' }

// printable reports whether the year has the four digits of the layout.
func (t Timestamp) printable() bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

// String prints the moment as "2024-04-27T12:00:00Z".
func (t Timestamp) String() string {
	return t.UTC().Format(time.RFC3339) // for which package time has a short way; in UTC both layouts are the same
}

// MarshalJSON prints the moment as the JSON string "2024-04-27T12:00:00Z". A year outside 0 to 9999 is an error.
func (t Timestamp) MarshalJSON() ([]byte, error) {
	if !t.printable() {
		return nil, fmt.Errorf("the year of a timestamp has four digits, not %d", t.UTC().Year())
	}
	return t.UTC().AppendFormat(nil, `"`+timestampLayout+`"`), nil
}

// UnmarshalJSON reads a JSON string in one of the forms of [ParseTimestamp]. A null changes nothing.
func (t *Timestamp) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a timestamp is a string: %w", err)
	}
	parsed, err := ParseTimestamp(s)
	if err != nil {
		return err
	}
	*t = parsed
	return nil
}
