package dbtest

import (
	"testing"
	"time"
)

// Again pauses between two looks at what a server or another goroutine changes, so that a test that
// waits leaves the processor to it. It reports false once the test has ended.
func Again(t testing.TB) bool {
	select {
	case <-t.Context().Done():
		return false
	case <-time.After(5 * time.Millisecond):
		return true
	}
}
