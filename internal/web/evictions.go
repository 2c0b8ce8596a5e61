package web

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// evictions counts connections that were closed, or responses that were broken off, to make room for others. The first
// is logged with a text, and then one line a minute.
type evictions struct {
	text  string
	log   *slog.Logger
	count *prometheus.CounterVec // may be nil
	limit int
	lines outages
}

func (e *evictions) note(why reason) {
	if e.count != nil {
		e.count.WithLabelValues(string(why)).Inc()
	}
	omitted, shouldLog := e.lines.shouldLog(e.text, time.Now())
	if e.log == nil || !shouldLog {
		return
	}
	e.log.Warn(e.text, "limit", e.limit, "reason", string(why), "not_told_before", omitted)
}
