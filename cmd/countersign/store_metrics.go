package main

import (
	"context"

	"github.com/countersign/countersign/internal/measure"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/usage"
	"github.com/countersign/countersign/internal/web"
)

// addMetrics adds what the store alone has.
func (s *storeServer) addMetrics(m *web.Metrics) {
	addRequestLog(m, s.store.Requests)
	addUses(m, map[string]func() usage.Figures{"keys": s.store.Validation.Uses})
	m.Counter("countersign_damage_total", "Purchases found by the digest of another code: the database is damaged.",
		func() float64 { return float64(s.store.Validation.Damages()) })
	media := readEvery(&s.server, measure.Seldom, func(ctx context.Context) (bool, error) { return s.store.Media.Bucket().Check(ctx) == nil, nil })
	addGauge(m, media, "countersign_media_writable", "0 if uploaded files could not be written the last time; tried every ten minutes.", oneIf)
	m.Gauge("countersign_limits_alone", "1 while the counts of limits can't be exchanged with other servers and with the database.",
		func() float64 { return oneIf(s.store.LimitsAlone()) })
}

// addRequestLog adds the figures of the log of API requests to the metrics.
func addRequestLog(m *web.Metrics, log *requests.Log) {
	m.Counter("countersign_request_log_written_total", "API requests written to the log.", func() float64 { return float64(log.Written()) })
	m.Counter("countersign_request_log_dropped_total", "API requests that could not be logged.", func() float64 { return float64(log.Dropped()) })
	m.Gauge("countersign_request_log_waiting", "API requests that wait to be logged; from 16,384 on they are dropped.", func() float64 { return float64(log.Waiting()) })
	m.Gauge("countersign_request_log_failing", "1 while the log of API requests can't be written.", func() float64 { return oneIf(log.Failing() != nil) })
}
