package cli

import (
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/wording"
)

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// YesNo writes a switch.
func YesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// Day writes the day of a moment, "" for none.
func Day(t countersign.Timestamp) string { return formatTime(t, "2006-01-02") }

// Minute writes a moment for a table, "" for none.
func Minute(t countersign.Timestamp) string { return formatTime(t, "2006-01-02 15:04") }

func formatTime(t countersign.Timestamp, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}

// Second writes a moment for a card, "" for none.
func Second(t countersign.Timestamp) string { return formatTime(t, time.RFC3339) }

// OrNull makes a moment that was never null in JSON.
func OrNull[T interface{ IsZero() bool }](v T) *T {
	if v.IsZero() {
		return nil
	}
	return &v
}

// NonZero makes the zero value null in JSON.
func NonZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Thousands writes a number as 1,234,567.
func Thousands[N int | int64](n N) string {
	return wording.Thousands(int64(n))
}

// Count writes a number and its noun: "1 line", "2,000 lines".
func Count[N int | int64](n N, one, many string) string {
	return wording.Count(int64(n), one, many)
}
