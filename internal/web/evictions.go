package web

import (
	"log/slog"
	"time"
)

// evictions counts connections that were closed to make room for others. The first is logged, and then one line a
// minute.
type evictions struct {
	log     *slog.Logger
	metrics *Metrics
	limit   int
	lines   outages
}

func (e *evictions) note(why reason) {
	if e.metrics != nil {
		e.metrics.evictions.WithLabelValues(string(why)).Inc()
	}
	omitted, shouldLog := e.lines.shouldLog("evictions", time.Now())
	if e.log == nil || !shouldLog {
		return
	}
	e.log.Warn("all connections are in use; closing silent ones for new ones",
		"limit", e.limit, "reason", string(why), "not_told_before", omitted)
}
