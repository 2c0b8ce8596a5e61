package dbtest

import (
	"sync"
	"time"
)

// Clock is a time that stands still until it is moved.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that shows a time.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set makes the clock show a time.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}

// Move moves the clock on, or back when d is negative.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
