package webtest

import (
	"strings"
	"sync"
)

// Log keeps what is written to a log. It may be read meanwhile.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements [io.Writer].
func (l *Log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
