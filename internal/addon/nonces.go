package addon

import (
	"maps"
	"sync"
	"time"
)

// nonce names a signed call: the same text may be used with different pairs.
type nonce struct {
	credential int64
	text       string
}

// nonces remembers the nonces of valid calls until their time is out of
// the window: at most twice [SignedWindow], ten minutes. Only who holds a secret
// can add to it.
type nonces struct {
	mu    sync.Mutex
	until map[nonce]time.Time
	swept time.Time
}

// add remembers a nonce and reports whether it was new.
func (n *nonces) add(one nonce, now, until time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.until == nil {
		n.until = make(map[nonce]time.Time)
	}
	if now.Sub(n.swept) >= time.Minute {
		n.swept = now
		maps.DeleteFunc(n.until, func(_ nonce, end time.Time) bool { return now.After(end) })
	}
	// A time that is just within the window is still good at its end.
	if end, known := n.until[one]; known && !now.After(end) {
		return false
	}
	n.until[one] = until
	return true
}
