// Package wording writes numbers and long values as people read them, on pages, at the command line and in
// the audit log.
package wording

import (
	"fmt"
	"strconv"
	"strings"
)

// Thousands writes a number as 1,234,567.
func Thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	first := 0
	if n < 0 {
		first = 1 // after the sign
	}
	for i := len(digits) - 3; i > first; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count writes a number and its noun: "1 line", "2,000 lines".
func Count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Size writes a number of bytes in the largest unit of which there is one: "10 MB", "409.6 KB", "1 byte".
func Size(bytes int64) string {
	size, unit := float64(bytes), 0
	for ; unit < len(sizeUnits) && size >= 1023.95; unit++ { // what would be written as 1024
		size /= 1 << 10
	}
	if unit == 0 {
		return Count(bytes, "byte", "bytes")
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', 1, 64), ".0") + " " + sizeUnits[unit-1]
}

var sizeUnits = [...]string{"KB", "MB", "GB", "TB"}

// Shortened returns a text of at most limit characters as it is. Of a longer one it returns the
// beginning, and how many characters it has in all.
func Shortened(text string, limit int) string {
	characters := []rune(text)
	if len(characters) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d characters)", string(characters[:limit]), len(characters))
}
