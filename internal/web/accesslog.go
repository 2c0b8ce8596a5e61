package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/countersign/countersign/internal/group"
)

// LogMode selects the requests that the access log writes, and their form.
type LogMode string

// The modes of the access log.
const (
	LogOff  LogMode = "off"  // only answers of 500 and above, as text, unless the error log has them
	LogText LogMode = "text" // every request, as key=value
	LogJSON LogMode = "json" // every request, one JSON object a line
)

// ParseLogMode reads what --log was given.
func ParseLogMode(s string) (LogMode, error) {
	switch m := LogMode(s); m {
	case LogOff, LogText, LogJSON:
		return m, nil
	}
	return "", fmt.Errorf("%q is not a log mode: choose off, text or json", s)
}

const (
	// accessRoom is how many entries wait at most to be written; more are dropped and counted.
	accessRoom = 8192
	// flushEvery is how long an entry waits at most.
	flushEvery = 250 * time.Millisecond
)

// AccessLog writes one line for each request: its time, id, method, route, status, size and duration, the client's
// address, the key's label and the error code. The URL, the query, keys and codes are never in it. Requests only leave
// an entry behind; [AccessLog.Run] writes the lines.
type AccessLog struct {
	mode    LogMode
	out     io.Writer
	text    bytes.Buffer // lines that are ready to be written; of Run alone
	handler slog.Handler // writes into text

	mu      sync.Mutex
	waiting []accessEntry
	spare   []accessEntry
	dropped int           // since the last flush, for the log
	lost    int64         // since the start, for metrics
	half    chan struct{} // says that half of the buffer is full
}

// An accessEntry is one request, not yet formatted.
type accessEntry struct {
	at                           time.Time
	took                         time.Duration
	id, method, route, key, code string
	addr                         netip.Addr
	status                       int
	bytes                        int64
}

// NewAccessLog creates an access log that writes to out; nothing is written until [AccessLog.Run] runs.
func NewAccessLog(out io.Writer, mode LogMode) *AccessLog {
	l := &AccessLog{mode: mode, out: out, half: make(chan struct{}, 1)}
	if mode == LogJSON {
		l.handler = slog.NewJSONHandler(&l.text, nil)
	} else {
		l.handler = slog.NewTextHandler(&l.text, nil)
	}
	return l
}

// put leaves an entry to be written.
func (l *AccessLog) put(e accessEntry) {
	l.mu.Lock()
	if len(l.waiting) >= accessRoom {
		l.dropped++
		l.lost++
		l.mu.Unlock()
		return
	}
	l.waiting = append(l.waiting, e)
	wake := len(l.waiting) == accessRoom/2
	l.mu.Unlock()
	if wake {
		select {
		case l.half <- struct{}{}:
		default:
		}
	}
}

// Run writes what requests leave behind, several times a second, until ctx ends; then it writes the rest and returns.
// End ctx after the last request is answered. It goes on when writing fails, and
// returns the first such error.
func (l *AccessLog) Run(ctx context.Context) error {
	var failed error
	for group.Sleep(ctx, flushEvery, l.half) {
		failed = cmp.Or(failed, l.flush())
	}
	return cmp.Or(failed, l.flush())
}

// flush writes everything that waits.
func (l *AccessLog) flush() error {
	entries, dropped := l.take()
	for i := range entries {
		_ = l.handler.Handle(context.Background(), entries[i].record()) // writing to memory does not fail
	}
	if dropped > 0 {
		slog.New(l.handler).Warn("access log lines dropped", "dropped", dropped)
	}
	clear(entries) // or their strings would live as long as the buffer
	if l.text.Len() == 0 {
		return nil
	}
	_, err := l.out.Write(l.text.Bytes())
	l.text.Reset()
	if err != nil {
		l.lose(len(entries))
		return fmt.Errorf("web: access log: %w", err)
	}
	return nil
}

// lose counts lines that could not be written.
func (l *AccessLog) lose(lines int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost += int64(lines)
}

// Dropped counts the lines that are missing: there was no room for them, or they could not be written.
func (l *AccessLog) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// take exchanges the two halves of the buffer.
func (l *AccessLog) take() (entries []accessEntry, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	entries, dropped = l.waiting, l.dropped
	l.waiting, l.spare, l.dropped = l.spare[:0], entries, 0
	return entries, dropped
}

// record formats an entry. slog quotes what a client may have chosen, so that it can't forge a line.
func (e *accessEntry) record() slog.Record {
	r := slog.NewRecord(e.at, slog.LevelInfo, "request", 0)
	if e.status >= 500 && e.status != 503 { // an outage is told once, as a warning
		r.Level = slog.LevelError
	}
	r.AddAttrs(
		slog.String("request_id", e.id),
		slog.String("method", e.method),
		slog.String("route", routeLabel(e.route)),
		slog.Int("status", e.status),
		slog.Int64("bytes", e.bytes),
		slog.Float64("ms", float64(e.took.Microseconds())/1000),
		slog.String("client", e.addr.String()),
	)
	if e.key != "" {
		r.AddAttrs(slog.String("key", e.key))
	}
	if e.code != "" {
		r.AddAttrs(slog.String("code", e.code))
	}
	return r
}
