package transfer

import (
	"math"
	"strings"
)

// SafeCodeBits and SafeKeyBits are what a purchase code and an API key need to be safe
// from guessing, in bits. Below it, only the limit on failures protects them.
const (
	SafeCodeBits = 80
	SafeKeyBits  = 128
)

// CodeBits estimates how hard a purchase code is to guess, in bits, as if each of its
// characters were drawn at random from the classes that occur in it. The case of letters
// does not count, as in a lookup.
func CodeBits(code string) float64 { return ShapeBits(strings.ToLower(code)) }

// ShapeBits is the number of characters times the logarithm of how many there are to
// choose from: 10 digits, 26 letters of either case (6 when none is beyond f, as in
// hexadecimal numbers) and 30 other signs. Signs that only part a text (-_.: and spaces)
// do not count: in "1234-5678" there are eight digits to guess.
func ShapeBits(text string) float64 {
	var digits, lower, upper, signs, drawn int
	for i := range len(text) {
		c := text[i]
		drawn++
		switch {
		case '0' <= c && c <= '9':
			digits = 10
		case 'a' <= c && c <= 'z':
			lower = max(lower, letters(c-'a'))
		case 'A' <= c && c <= 'Z':
			upper = max(upper, letters(c-'A'))
		case strings.IndexByte("-_.: ", c) >= 0:
			drawn--
		default:
			signs = 30
		}
	}
	if drawn == 0 {
		return 0
	}
	return float64(drawn) * math.Log2(float64(digits+lower+upper+signs))
}

// letters is how many letters there are to choose from where this one occurs.
func letters(index byte) int {
	if index < 6 {
		return 6
	}
	return 26
}

// Weak counts texts that are easy to guess.
type Weak struct {
	Count int `json:"count"`
	// LeastBits is the estimate of the weakest one, rounded.
	LeastBits int `json:"least_bits"`
	// Lines are the first few lines of an import that have one.
	Lines []int `json:"lines,omitempty"`
}

// Note counts a text of so many bits when it is under safe. line is 0 outside an import.
func (w *Weak) Note(bits float64, safe, line int) {
	if bits >= float64(safe) {
		return
	}
	if least := int(math.Round(bits)); w.Count == 0 || least < w.LeastBits {
		w.LeastBits = least
	}
	w.Count++
	w.Lines = firstLines(w.Lines, line)
}
