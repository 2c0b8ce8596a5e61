package sqldb

// Status is what a database says of itself for the operator's metrics. Counts are since
// it was opened.
type Status struct {
	// Reachable is false while PostgreSQL is known to be out of reach.
	Reachable bool
	// FeedLive reports whether changes by other processes arrive; while they do not,
	// nothing is answered from memory.
	FeedLive   bool
	FeedLosses int64
	// WritesWaiting is how many transactions wait for a connection.
	WritesWaiting int64
	// OutcomesUnknown is how many commits were answered before their outcome was known.
	OutcomesUnknown int64
}

// Status reads the present status. It asks nobody.
func (db *DB) Status() Status {
	return Status{
		Reachable: db.reachable() == nil, FeedLive: db.feed.live.Load(), FeedLosses: db.feed.losses.Load(),
		WritesWaiting: db.writers.waiting.Load(), OutcomesUnknown: db.writers.unknown.Load(),
	}
}
