package sqldb

import "time"

// How long the database is waited for. The waits of one request add up to less than
// the ten seconds in which it is to be answered: those of a read are over after
// readTimeout, those of a write after writeWait and commitWait.
const (
	// queryTimeout bounds the wait for one answer of PostgreSQL outside a transaction: a
	// network that swallows everything would otherwise hold a request for minutes.
	queryTimeout = 5 * time.Second
	// readTimeout bounds the wait for a connection that reads, and for its answer.
	readTimeout = 8 * time.Second
	// writeWait bounds, from the call of [DB.Tx], the wait in the queue of writers and
	// the wait for the database.
	writeWait = 5 * time.Second
	// commitWait bounds the wait for the answer to a COMMIT, which is on its way by then
	// and not taken back.
	commitWait = 4 * time.Second
	// sessionWait bounds the wait for the write lock in a session, such as an import's.
	sessionWait = time.Minute
	// abandonedWait is how long a commit is waited for whose caller gave up.
	abandonedWait = time.Second
	// closeWait is how long [DB.Close] waits for commits that are under way.
	closeWait = 3 * time.Second
)

// limits are the bounds of one kind of transaction.
type limits struct {
	// begin bounds the wait for the transaction's begin.
	begin time.Duration
	// statements reports that what is left of begin bounds the statements, too. Those of
	// SQLite have no bound in any case: their transaction has the lock, and nobody else
	// is waited for.
	statements bool
	// commit bounds the wait for the commit's outcome; 0 waits until the context ends.
	commit time.Duration
	// queue is how many may wait for a connection; 0 means any number.
	queue int64
}

func requestLimits(o Options) limits {
	return limits{begin: writeWait + o.Longer, statements: o.URL != "", commit: commitWait + o.Longer, queue: maxQueue}
}

func sessionLimits(o Options) limits { return limits{begin: sessionWait + o.Longer} }
