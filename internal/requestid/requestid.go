// Package requestid has the ids of requests, by which the log of API requests is sorted.
package requestid

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// Number is the id of a request as a number. Its upper bits are the time of the request in milliseconds, so that
// a log which is sorted by it is sorted by time, and finds a request without an index of its own.
type Number int64

// idBits are the bits of a request number below the time: numbers of one process repeat after two million requests within
// a millisecond. The time fits until the year 2109.
const idBits = 21

// length is the length of an id as text.
const length = 16

// Source makes the ids of requests. It counts from a random number on, and multiplies by a random odd number, so that
// two ids do not show how many requests there were in between.
type Source struct {
	count         atomic.Uint64
	first, factor uint64
}

// NewSource returns a source that begins at a random number.
func NewSource() *Source {
	return &Source{first: rand.Uint64(), factor: rand.Uint64() | 1}
}

// Next returns the number of a request that began at a time.
func (q *Source) Next(at time.Time) Number {
	low := (q.first + q.count.Add(1)*q.factor) & (1<<idBits - 1)
	return First(at) | Number(low)
}

// First returns the smallest number of a request that began at a time, or later.
func First(at time.Time) Number {
	return Number(max(at.UnixMilli(), 0) << idBits)
}

// Parse reads what [Number.String] returns, as the header X-Request-Id has it.
func Parse(text string) (n Number, ok bool) {
	if len(text) != length {
		return 0, false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, false
		}
	}
	number, err := strconv.ParseInt(text, 16, 64)
	return Number(number), err == nil
}

// Time returns when the request began, in whole milliseconds.
func (n Number) Time() time.Time { return time.UnixMilli(int64(n) >> idBits).UTC() }

// String returns 16 hex characters: something to find a request by, not a secret.
func (n Number) String() string {
	const digits = "0123456789abcdef"
	var text [length]byte
	for i, rest := len(text)-1, uint64(n); i >= 0; i, rest = i-1, rest>>4 {
		text[i] = digits[rest&15]
	}
	return string(text[:])
}
