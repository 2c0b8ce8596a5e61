package sqldb

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// silent is the address of a server that lets nobody in.
func silent(t *testing.T) string {
	t.Helper()
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { listener.Close() })
	return listener.Addr().String()
}

// hosts puts other hosts before that of a URL.
func hosts(t *testing.T, text string, before ...string) string {
	return changeURL(t, text, func(u *url.URL) { u.Host = strings.Join(append(before, u.Host), ",") })
}

func ping(t *testing.T, db *DB) {
	t.Helper()
	expect.NoError(t, db.Ping(t.Context()))
}

// awaitPrimary returns when the prober has found the primary.
func awaitPrimary(t *testing.T, db *DB) {
	t.Helper()
	db.primary.probing.Wait()
	must.Do(t, db.reachable())
}

func TestWithoutAPrimaryOnlyTheProberConnects(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL})
	db.primary.lost(errors.New("the primary is gone")) // the prober finds it; then it is gone again, unseen
	awaitPrimary(t, db)
	before := proxy.Accepted()
	db.primary.outage.Store(&outage{unavailable("The database can't be reached", nil), time.Now()})
	for name, ask := range map[string]func() error{
		"a read":        func() error { return db.Ping(t.Context()) },
		"a transaction": func() error { return db.Tx(t.Context(), func(Queries) error { return nil }) },
		"a snapshot":    func() error { return db.Snapshot(t.Context(), func(Queries) error { return nil }) },
		"a session": func() error {
			return db.Session(t.Context(), func(s *DB) error { _, err := s.Queries().Exec(t.Context(), "SELECT 1"); return err })
		},
		"the feed": func() error { _, err := db.followPostgres(t.Context()); return err },
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, ask(), countersign.CodeUnavailable) })
	}
	expect.Equalf(t, proxy.Accepted()-before, 0, "connections were made")
}

func TestAServerThatComesBackIsFound(t *testing.T) {
	at := dbtest.New(t, dbtest.Postgres)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: proxy.URL})
	ping(t, db)
	proxy.Cut()
	for range 3 {
		wantUnavailable(t, db.Ping(t.Context()))
	}
	proxy.Restore()
	awaitPrimary(t, db)
	ping(t, db)
}

func TestSeveralHosts(t *testing.T) {
	t.Parallel()
	t.Run("those that do not answer are not waited for", func(t *testing.T) {
		at := dbtest.New(t, dbtest.Postgres)
		db := open(t, Options{URL: hosts(t, dbtest.NewProxy(t, at).URL, silent(t), silent(t))})
		ctx, cancel := context.WithTimeout(t.Context(), connectTimeout)
		defer cancel()
		for range 2 * readConnections {
			must.Do(t, db.Ping(ctx))
		}
	})
	t.Run("the next one is found when one has gone", func(t *testing.T) {
		at := dbtest.New(t, dbtest.Postgres)
		migrated(t, at)
		first, second := dbtest.NewProxy(t, at), dbtest.NewProxy(t, at)
		second.Cut()
		u := must.Get(url.Parse(second.URL))(t)
		db := open(t, Options{URL: hosts(t, first.URL, u.Host)})
		ping(t, db)
		first.Cut()
		second.Restore()
		wantUnavailable(t, db.Ping(t.Context()))
		awaitPrimary(t, db)
		expect.NoError(t, db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, 1) }))
	})
}

func TestAServerThatTakesNoWritesIsLeft(t *testing.T) {
	t.Parallel()
	at := dbtest.Alone(t)
	migrated(t, at)
	proxy := dbtest.NewProxy(t, at)
	db := open(t, Options{URL: withParam(t, proxy.URL, "target_session_attrs", "read-write")})
	notes := int64(0)
	write := func() error {
		notes++
		return db.Tx(t.Context(), func(q Queries) error { return addNote(t.Context(), q, notes) })
	}
	useAllConnections(t, db)
	must.Do(t, write())
	at.Set(t, "default_transaction_read_only", "on")
	for write() == nil { // the server takes the setting up after a while
	}
	expect.Equalf(t, db.read.Stats().Idle, 0, "connections are kept")
	wantUnavailable(t, write())
	at.Set(t, "default_transaction_read_only", "off")
	awaitPrimary(t, db)
	expect.NoError(t, write())
}

func TestWhatMeansThatThePrimaryIsGone(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	cases := []struct {
		name string
		ctx  context.Context
		err  error
		took time.Duration
		want bool
	}{
		{"a connection that is refused", t.Context(), refused, 0, true},
		{"a caller that left", ended, context.Canceled, connectTimeout, false},
		{"an attempt without time", ended, context.DeadlineExceeded, 0, false},
		{"a pooler that can't be used", t.Context(), poolerError(nil), 0, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			expect.Equal(t, meansGone(c.ctx, c.err, c.took), c.want)
		})
	}
}

// A password that was changed, for example: the next start needs the new one, and the
// connections that are open are as good as before.
func TestAServerThatRefusesTheSignInIsNotGone(t *testing.T) {
	at := dbtest.Alone(t)
	admin := open(t, optionsOf(at))
	exec(t, admin, `CREATE ROLE app LOGIN`)
	db := open(t, Options{URL: withUser(t, at.URL, url.User("app"))})
	ping(t, db)
	exec(t, admin, `ALTER ROLE app NOLOGIN`)
	conn := must.Get(db.read.Conn(t.Context()))(t)
	wantUnavailable(t, db.Ping(t.Context())) // it needs another connection
	must.Do(t, conn.Close())
	ping(t, db)
}

func TestAServerWithoutASpareConnectionIsNotGone(t *testing.T) {
	t.Parallel()
	at := dbtest.Alone(t)
	exec(t, open(t, optionsOf(at)), `CREATE ROLE single LOGIN CONNECTION LIMIT 1`)
	db := open(t, Options{URL: withUser(t, at.URL, url.User("single"))})
	conn := must.Get(db.read.Conn(t.Context()))(t)
	wantUnavailable(t, db.Ping(t.Context()))
	must.Do(t, conn.Close())
	ping(t, db)
}
