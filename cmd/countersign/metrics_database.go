package main

import (
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/web"
)

// addDatabase adds the figures of a database to the metrics.
func addDatabase(m *web.Metrics, status func() sqldb.Status) {
	m.Gauge("countersign_database_reachable", "0 while PostgreSQL is known to be out of reach.",
		func() float64 { return oneIf(status().Reachable) })
	m.Gauge("countersign_database_feed_live", "0 while changes by other processes do not arrive and nothing is answered from memory.",
		func() float64 { return oneIf(status().FeedLive) })
	m.Counter("countersign_database_feed_losses_total", "How often the feed of changes was lost.",
		func() float64 { return float64(status().FeedLosses) })
	m.Gauge("countersign_database_writes_waiting", "Transactions that wait for a connection.",
		func() float64 { return float64(status().WritesWaiting) })
	m.Counter("countersign_database_outcomes_unknown_total", "Commits that were answered before their outcome was known.",
		func() float64 { return float64(status().OutcomesUnknown) })
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
