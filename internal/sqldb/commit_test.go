package sqldb

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

func wantCode(t testing.TB, err error, code string) {
	t.Helper()
	wantUnavailable(t, err)
	if apiErr, ok := errors.AsType[*countersign.Error](err); ok && apiErr.Code != code {
		t.Errorf("code %q, want %q: %v", apiErr.Code, code, err)
	}
}

// held is a database on a server whose commits wait for a standby.
type held struct {
	*DB
	at    dbtest.DB
	proxy *dbtest.Proxy
	other *DB // reads by itself
}

func newHeld(t *testing.T, at dbtest.DB) *held {
	exec(t, migrated(t, at), `DELETE FROM notes`)
	proxy := dbtest.NewProxy(t, at)
	h := &held{DB: open(t, Options{URL: proxy.URL, Schemas: []Schema{twoSteps()}}), at: at, proxy: proxy, other: open(t, optionsOf(at))}
	for range 2 { // connections that are there do not disturb the counting
		count(t, h.Queries(), `SELECT count(*) FROM notes`)
	}
	at.HoldCommits(t)
	t.Cleanup(func() { at.ReleaseCommits(t) })
	return h
}

// add adds a note in the background and marks it.
func (h *held) add(ctx context.Context, id int64) <-chan error {
	return h.begin(ctx, func(q Queries) error { return errors.Join(addNote(ctx, q, id), q.Mark(ctx, "notes", "one")) })
}

// addUnmarked is add without a mark: the server lets only one commit at a time send
// notifications, and that holds the next one up before it waits for a standby.
func (h *held) addUnmarked(ctx context.Context, id int64) <-chan error {
	return h.begin(ctx, func(q Queries) error { return addNote(ctx, q, id) })
}

func (h *held) begin(ctx context.Context, fn func(Queries) error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- h.Tx(ctx, fn) }()
	return result
}

func (h *held) notes(t testing.TB) int64 {
	t.Helper()
	return count(t, h.other.Queries(), `SELECT count(*) FROM notes`)
}

// awaitNotes returns when as many notes are visible.
func (h *held) awaitNotes(t testing.TB, n int64) {
	t.Helper()
	for h.notes(t) != n {
	}
}

func TestACommitIsNotTakenBackByItsCaller(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		give   func(h *held, leave func())
		commit time.Duration
	}{
		{"a client that leaves", func(_ *held, leave func()) { leave() }, time.Hour},
		{"a bound that is over", func(*held, func()) {}, time.Millisecond},
		{"a connection that breaks", func(h *held, _ func()) { h.proxy.Break() }, time.Hour},
		{"a server that is out of reach", func(h *held, _ func()) { h.proxy.Cut() }, time.Hour},
	}
	at := dbtest.Alone(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := newHeld(t, at)
			h.limits.commit = c.commit
			told := watch(h.DB)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			result := h.add(ctx, 1)
			h.at.AwaitHeldCommits(t, 1)
			c.give(h, leave)
			wantCode(t, await(t, result), countersign.CodeOutcomeUnknown)
			if got := await(t, told); got != "changed notes one" {
				t.Errorf("told %q with the answer", got)
			}
			if n, waits := h.notes(t), h.at.HeldCommits(t); n != 0 || waits != 1 {
				t.Errorf("%d notes are visible, %d commits wait; want 0 and 1", n, waits)
			}
			h.at.ReleaseCommits(t)
			h.awaitNotes(t, 1)
		})
	}
}

func TestWatchersAreToldOnceMoreWhenALateCommitHasEnded(t *testing.T) {
	t.Parallel()
	h := newHeld(t, dbtest.Alone(t))
	h.limits.commit = time.Millisecond
	told := watch(h.DB)
	wantCode(t, await(t, h.add(t.Context(), 1)), countersign.CodeOutcomeUnknown)
	await(t, told)
	h.at.ReleaseCommits(t)
	if got := await(t, told); got != "changed notes one" {
		t.Errorf("told %q at the end", got)
	}
	expect.Equalf(t, h.notes(t), 1, "notes when the watchers were told")
}

// The server shows a commit whose wait was cancelled, and reports success with a warning.
func TestACommitThatTheOperatorCancelsIsNotASuccess(t *testing.T) {
	t.Parallel()
	h := newHeld(t, dbtest.Alone(t))
	result := h.add(t.Context(), 1)
	h.at.AwaitHeldCommits(t, 1)
	h.at.CancelCommits(t)
	wantCode(t, await(t, result), countersign.CodeOutcomeUnknown)
	h.at.ReleaseCommits(t)
	expect.NoErrorf(t, await(t, h.add(t.Context(), 2)), "the next one")
}

func TestReadsGoOnWhileAllWritesWait(t *testing.T) {
	t.Parallel()
	h := newHeld(t, dbtest.Alone(t))
	h.limits.commit = time.Millisecond
	h.limits.begin = time.Hour
	for i := range writeConnections {
		wantCode(t, await(t, h.addUnmarked(t.Context(), int64(i))), countersign.CodeOutcomeUnknown)
	}
	h.at.AwaitHeldCommits(t, writeConnections)
	var n int64
	expect.NoErrorf(t, h.Lookup(`SELECT count(*) FROM notes WHERE `+anyNumber+` AND id >= $2`).Row(t.Context(), 1, 0, &n), "a look-up")
	for range 2 * writeConnections {
		wantCode(t, await(t, h.addUnmarked(t.Context(), 100)), countersign.CodeUnavailable) // at once: the wait would be an hour
	}
	h.at.ReleaseCommits(t)
	h.awaitNotes(t, writeConnections)
	h.writers.awaitCommits(time.Hour)
	h.limits.commit = time.Hour
	expect.NoErrorf(t, await(t, h.addUnmarked(t.Context(), 100)), "afterwards")
}

// A failover leaves commits behind on a server that never answers.
func TestStalledCommitsDoNotHoldTheirConnectionsForGood(t *testing.T) {
	t.Parallel()
	h := newHeld(t, dbtest.Alone(t))
	h.limits.commit = time.Millisecond
	wantCode(t, await(t, h.add(t.Context(), 1)), countersign.CodeOutcomeUnknown)
	h.primary.lost(errors.New("the primary is gone"))
	h.writers.awaitCommits(time.Hour)
	if n, waits := h.notes(t), h.at.HeldCommits(t); n != 0 || waits != 1 {
		t.Errorf("%d notes are visible, %d commits wait; want 0 and 1", n, waits)
	}
}

func TestARefusedCommitIsNoUnknownOutcome(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	db := open(t, optionsOf(at))
	exec(t, db, `CREATE TABLE marks (id bigint UNIQUE DEFERRABLE INITIALLY DEFERRED)`)
	err := db.Tx(t.Context(), func(q Queries) error {
		_, err := q.Exec(t.Context(), `INSERT INTO marks (id) VALUES (1), (1)`)
		return err
	})
	if !errors.Is(err, ErrExists) {
		t.Errorf("error %v, want ErrExists", err)
	}
	conn := must.Get(db.write.Conn(t.Context()))(t)
	defer conn.Close()
	if w := wireOf(db, conn); w.committing.Load() {
		t.Error("what its connection does next can't be called off")
	}
}
