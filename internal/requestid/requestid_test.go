package requestid

import (
	"sync"
	"testing"
	"time"
)

func TestRequestNumbersSortByTimeAndDoNotRepeat(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 123_000_000, time.UTC)
	ids := NewSource()
	seen := map[Number]bool{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for range 10_000 {
				n := ids.Next(at)
				mu.Lock()
				if seen[n] || n < First(at) || n >= First(at.Add(time.Millisecond)) || !n.Time().Equal(at) {
					t.Errorf("%d repeats or is of another time", n)
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	work.Wait()
}

func TestARequestNumberIsReadFromItsText(t *testing.T) {
	for _, at := range []time.Time{time.Unix(0, 0), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), time.Date(2109, 1, 1, 0, 0, 0, 0, time.UTC)} {
		n := NewSource().Next(at)
		if got, ok := Parse(n.String()); !ok || got != n {
			t.Errorf("%v: %s is read as %d, %t", at, n, got, ok)
		}
	}
	for _, text := range []string{"", "0", "00000000000000000", "000000000000000g", "000000000000000A", "-00000000000000f", "ffffffffffffffff", "+00000000000000f"} {
		if n, ok := Parse(text); ok {
			t.Errorf("%q is read as %d", text, n)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("3417a0b2c4d5e6f7")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if n, ok := Parse(text); ok && n.String() != text {
			t.Errorf("%q is read as %d, which is %s", text, n, n)
		}
	})
}
