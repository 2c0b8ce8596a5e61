// Package sample is a small shop as import lines: what the demo shows, what the
// documentation quotes and what tests and load tests import. Nothing in it is
// random: the same call gives the same bytes on every machine.
package sample

import (
	_ "embed"
	"errors"
	"io"
	"time"
)

// Options choose what Reader writes besides workspaces, items and
// purchases.
type Options struct {
	Keys bool // also write the well-known demo keys; never for a store that others can reach
	// Until is when the story ends; zero is [End]. Sales and publications keep their distance to it.
	Until time.Time
}

// later is by how much the story moves.
func (o Options) later() time.Duration {
	if o.Until.IsZero() {
		return 0
	}
	return o.Until.UTC().Sub(End()).Truncate(time.Second)
}

// Reader returns the shop as JSON Lines: workspaces, then keys when asked for, then
// items, then purchases by date. It can seek to its start.
func Reader(o Options) io.ReadSeeker {
	lines := shop(o)
	return &lineReader{count: len(lines), line: func(i int) string { return lines[i] }}
}

func shop(o Options) []string {
	lines := embedded(workspaceLines)
	if o.Keys {
		lines = append(lines, keyLines()...)
	}
	if o.later() == 0 {
		lines = append(lines, embedded(itemLines)...)
	} else {
		for _, it := range decoded[item](itemLines) {
			lines = append(lines, it.moved(o.later()).line())
		}
	}
	for _, p := range purchases() {
		lines = append(lines, p.moved(o.later()).line())
	}
	return lines
}

// lineReader reads numbered lines, which it asks for one at a time.
type lineReader struct {
	line        func(i int) string
	next, count int
	rest        []byte // of the current line
}

// Read implements io.Reader. Its only error is io.EOF.
func (r *lineReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.rest) == 0 {
			if r.next == r.count {
				break
			}
			r.rest = append(append(r.rest[:0], r.line(r.next)...), '\n')
			r.next++
		}
		c := copy(p[n:], r.rest)
		n, r.rest = n+c, r.rest[c:]
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Seek implements io.Seeker for the start alone, which is all that a second reading
// needs.
func (r *lineReader) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("sample: these lines can only be read from their start")
	}
	r.next, r.rest = 0, nil
	return 0, nil
}
