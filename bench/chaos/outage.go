//go:build linux

package main

import (
	"slices"
	"time"
)

// reconnectLimit is how long after the end of an outage validations may still fail: a
// server that is cut off answers nobody, so an attempt to connect to it ends with its
// timeout of 3 s before another is begun.
const reconnectLimit = 5 * time.Second

// underWay is how long a validation may have been under way when an outage begins. One
// that waited longer was held up by something else.
const underWay = 2 * time.Second

// outage is a time in which no server took connections that write.
type outage struct{ from, to time.Time }

// excuses reports whether a validation may fail that began and ended then.
func (o outage) excuses(f failure) bool {
	return !f.ended.Before(o.from) && !f.began.Before(o.from.Add(-underWay)) && !f.began.After(o.to.Add(reconnectLimit))
}

// refusals are the times that answers of 503 took whose requests were sent in outages, but
// not in their first two seconds, when a store does not know yet; sorted.
func (r *record) refusals(outages []outage) []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []time.Duration
	for _, a := range r.unavailable {
		for _, o := range outages {
			if a.began.After(o.from.Add(2*time.Second)) && a.began.Before(o.to) {
				all = append(all, a.took())
			}
		}
	}
	slices.Sort(all)
	return all
}

// classify counts the validations that failed while a server took connections, and returns
// how long after the end of an outage the last excused one began.
func (r *record) classify(outages []outage) (back time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.failures {
		excused := false
		for _, o := range outages {
			if o.excuses(f) {
				excused = true
				back = max(back, f.began.Sub(o.to))
			}
		}
		if !excused {
			r.violated(&r.counts[f.kind].early, "%s, while a server took connections", f.text)
		}
	}
	return back
}
