package pages

import (
	"net/url"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/store"
)

// filter is what a list is narrowed by, as its address has it.
type filter url.Values

// filterOf are those of the named values of an address that are set.
func filterOf(q url.Values, names ...string) filter {
	f := filter{}
	for _, name := range names {
		if value := q.Get(name); value != "" {
			url.Values(f).Set(name, value)
		}
	}
	return f
}

// narrowed reports whether the list does not have everything.
func (f filter) narrowed() bool { return len(f) > 0 }

// path is the list at an address from a place on, with the same filter. place is after or
// before, and id the row that it is beside.
func (f filter) path(address, place, id string) string {
	q := url.Values{place: {id}}
	for name, values := range f {
		q[name] = values
	}
	return address + "?" + q.Encode()
}

// counted says how many rows a list has, as far as they are counted.
func counted(n int64, noun string) string {
	if n == store.MaxCount {
		return frame.Thousands(n) + " " + noun + "s or more"
	}
	return frame.Count(int(n), noun)
}
