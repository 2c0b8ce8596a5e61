package sqldb

import "time"

// Status is what a database says of itself for the operator's metrics. Counts are since
// it was opened.
type Status struct {
	// Reachable is false while PostgreSQL is known to be out of reach, which DownFor
	// says the length of.
	Reachable bool
	DownFor   time.Duration
	// FeedLive reports whether changes by other processes arrive; while they do not,
	// nothing is answered from memory.
	FeedLive   bool
	FeedLosses int64
	// FeedSilence is how long ago it was certain that no change was missed. It also grows
	// while the feed is stuck and not yet known to be lost. It is 0 before [DB.Feed] runs.
	FeedSilence time.Duration
	// CachesBypassed is for how long in all caches were bypassed since [DB.Feed] ran.
	CachesBypassed time.Duration
	// WritesWaiting is how many transactions wait for a connection.
	WritesWaiting int64
	// CommitsStalled is how many commits hold a connection without a confirmation.
	CommitsStalled int
	// OutcomesUnknown is how many commits were answered before their outcome was known.
	OutcomesUnknown int64
	// WritesOff is why nothing more is written until a restart, "" when writes are on.
	WritesOff WritesOff
	// ReadFault reports that a page of a SQLite file could not be read. Only a restart ends it.
	ReadFault bool
	// CommitFileBehind reports that the number of commits could not be written to its file
	// the last time. Lost commits would not be noticed.
	CommitFileBehind bool
	// WriteFault is why a write failed since the last one that succeeded, "" for none.
	// WriteFaultCounts counts the failures, in the order of [WriteFaults].
	WriteFault       WriteFault
	WriteFaultCounts [len(WriteFaults)]int64
}

// Status reads the present status. It asks nobody.
func (db *DB) Status() Status {
	s := Status{
		Reachable: true, FeedLive: db.feed.live.Load(), FeedLosses: db.feed.losses.Load(),
		FeedSilence: db.feed.silence(), CachesBypassed: db.feed.bypassed(),
		WritesWaiting: db.writers.waiting.Load(), CommitsStalled: db.writers.countStalled(), OutcomesUnknown: db.writers.unknown.Load(),
		ReadFault: db.unmapped.Load(), CommitFileBehind: db.commits.fileBehind.Load(), WriteFault: db.writeFaults.present(),
	}
	for i := range WriteFaults {
		s.WriteFaultCounts[i] = db.writeFaults.counts[i].Load()
	}
	if why := db.writesOff.Load(); why != nil {
		s.WritesOff = why.reason
	}
	if db.primary != nil {
		s.Reachable, s.DownFor = db.primary.downFor()
	}
	return s
}
