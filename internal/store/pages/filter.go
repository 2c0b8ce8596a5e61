package pages

import (
	"maps"
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

// address is the list at an address with the filter.
func (f filter) address(path string) string {
	if !f.narrowed() {
		return path
	}
	return path + "?" + url.Values(f).Encode()
}

// with is the filter with another value of a name. An empty value removes the name.
func (f filter) with(name, value string) filter {
	changed := filter(maps.Clone(url.Values(f)))
	delete(changed, name)
	if value != "" {
		changed[name] = []string{value}
	}
	return changed
}

// path is the list at an address from a place on, with the same filter. place is after or
// before, and id the row that it is beside.
func (f filter) path(address, place, id string) string {
	return f.with(place, id).address(address)
}

// upTo is a number that was counted up to a limit.
func upTo(n, limit int64) string {
	if n == limit {
		return frame.Thousands(n) + " or more"
	}
	return frame.Thousands(n)
}

// counted says how many rows a list has, as far as they are counted.
func counted(n int64, noun string) string {
	if n == store.MaxCount {
		return frame.Thousands(n) + " " + noun + "s or more"
	}
	return frame.Count(int(n), noun)
}
