package limit

import "time"

// tally is a key with a number of events and the end of their window.
type tally[K comparable] struct {
	key  K
	n    int
	ends time.Time
}

// unsent lists the keys that have at least worth events of which the other servers do not know, most of them at most.
// It leaves out what is over.
func (w *Window[K]) unsent(worth, most int) (list []tally[K]) {
	if w.keys.Load() == 0 {
		return nil
	}
	now := w.now()
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, c := range w.counts {
		if len(list) < most && c.unsent >= max(worth, 1) && w.left(c, now) > 0 {
			list = append(list, tally[K]{key, c.unsent, c.start.Add(w.length)})
		}
	}
	return list
}

// sent notes that the other servers can know of n of the key's events from now on.
func (w *Window[K]) sent(key K, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c, ok := w.counts[key]; ok {
		c.unsent = max(0, c.unsent-n)
		w.counts[key] = c
	}
}

// merge makes the key's window that of all servers: n events, this server's own among them that were sent. What this
// server has not sent comes on top. A count never sinks before its window is over.
func (w *Window[K]) merge(t tally[K]) {
	now := w.now()
	if latest := now.Add(w.length); t.ends.After(latest) { // by the clock of a server that is ahead
		t.ends = latest
	}
	if !t.ends.After(now) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.counts[t.key]
	if w.left(c, now) <= 0 {
		c = windowCount{}
	}
	if t.n+c.unsent <= c.n {
		return
	}
	if !ok {
		w.makeRoom(now)
	}
	c.n, c.start = t.n+c.unsent, t.ends.Add(-w.length)
	if c.start.After(w.latest) {
		w.latest = c.start
	}
	w.counts[t.key] = c
}
