package web

import (
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

// RequestNumber is the id of a request as a number. Its upper bits are the time of the request in milliseconds, so that
// a log which is sorted by it is sorted by time, and finds a request without an index of its own.
type RequestNumber int64

// idBits are the bits of a request number below the time: numbers of one process repeat after two million requests within
// a millisecond. The time fits until the year 2109.
const idBits = 21

// requestIDLength is the length of an id as text.
const requestIDLength = 16

// requestIDs makes the ids of requests. It counts from a random number on, and multiplies by a random odd number, so that
// two ids do not show how many requests there were in between.
type requestIDs struct {
	count         atomic.Uint64
	first, factor uint64
}

func newRequestIDs() *requestIDs {
	return &requestIDs{first: rand.Uint64(), factor: rand.Uint64() | 1}
}

// next returns the number of a request that began at a time.
func (q *requestIDs) next(at time.Time) RequestNumber {
	low := (q.first + q.count.Add(1)*q.factor) & (1<<idBits - 1)
	return FirstRequestNumber(at) | RequestNumber(low)
}

// FirstRequestNumber returns the smallest number of a request that began at a time, or later.
func FirstRequestNumber(at time.Time) RequestNumber {
	return RequestNumber(max(at.UnixMilli(), 0) << idBits)
}

// ParseRequestNumber reads what [RequestNumber.String] returns, as the header X-Request-Id has it.
func ParseRequestNumber(text string) (n RequestNumber, ok bool) {
	if len(text) != requestIDLength {
		return 0, false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, false
		}
	}
	number, err := strconv.ParseInt(text, 16, 64)
	return RequestNumber(number), err == nil
}

// Time returns when the request began, in whole milliseconds.
func (n RequestNumber) Time() time.Time { return time.UnixMilli(int64(n) >> idBits).UTC() }

// String returns 16 hex characters: something to find a request by, not a secret.
func (n RequestNumber) String() string {
	const digits = "0123456789abcdef"
	var text [requestIDLength]byte
	for i, rest := len(text)-1, uint64(n); i >= 0; i, rest = i-1, rest>>4 {
		text[i] = digits[rest&15]
	}
	return string(text[:])
}
