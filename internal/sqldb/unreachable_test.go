package sqldb

import (
	"errors"
	"fmt"
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

func TestPostgresThatCannotBeReached(t *testing.T) {
	t.Parallel()
	at := dbtest.New(t, dbtest.Postgres)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close() // accepts nobody: a server that does not answer
	cases := []struct{ name, url string }{
		{"the connection is refused", "postgres://me:geheim@127.0.0.1:1/shop"},
		{"the server does not answer", "postgres://me:geheim@" + listener.Addr().String() + "/shop?connect_timeout=1"},
		{"the host has no address", "postgres://me:geheim@countersign.invalid/shop?connect_timeout=1"},
		{"the database does not exist", withPath(t, at.URL, "/countersign_no_such_database")},
		{"the user may not sign in", withUser(t, at.URL, url.UserPassword("countersign_nobody", "geheim"))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, Options{URL: c.url, Schemas: []Schema{twoSteps()}})
			err := db.Ping(t.Context())
			wantUnavailable(t, err)
			wantNoPassword(t, err)
			if strings.Contains(c.url, "connect_timeout") {
				return // one second for every attempt
			}
			_, err = db.State(t.Context())
			wantUnavailable(t, err)
			wantNoPassword(t, err)
			wantUnavailable(t, db.Migrate(t.Context()))
			wantUnavailable(t, db.Tx(t.Context(), func(Queries) error { return nil }))
			wantUnavailable(t, db.Snapshot(t.Context(), func(Queries) error { return nil }))
		})
	}
}

func TestMalformedURLIsAnErrorWithoutTheURL(t *testing.T) {
	for _, text := range []string{
		"postgres://me:geheim@[::1/shop", "postgres://me:geheim@host:port/shop", "postgres://me:geheim@host/shop?sslmode=odd",
		"geheim", "me:geheim@host", "postgres://me:ge%zzheim@host/shop",
	} {
		_, err := Open(t.Context(), Options{URL: text})
		var apiErr *countersign.Error
		if !errors.As(err, &apiErr) || apiErr.Kind != countersign.KindInvalid {
			t.Errorf("%s: %v, want one of kind Invalid", text, err)
		}
		wantNoPassword(t, err)
	}
}

func TestServerThatGoesAwayDuringAQuery(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		away func(*dbtest.Proxy, dbtest.DB)
	}{
		{"the connection breaks", func(p *dbtest.Proxy, _ dbtest.DB) { p.Cut() }},
		{"the operator ends the connection", func(_ *dbtest.Proxy, at dbtest.DB) { at.Terminate(t) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Postgres)
			proxy := dbtest.NewProxy(t, at)
			db := open(t, Options{URL: proxy.URL})
			err := db.Snapshot(t.Context(), func(q Queries) error {
				return Each(t.Context(), q, Value[int64], func(n int64) error {
					if n > 1 {
						return nil
					}
					c.away(proxy, at)
					return nil
				}, `SELECT g FROM generate_series(1, 5000000) g`)
			})
			wantUnavailable(t, err)
			if err := db.Ping(t.Context()); c.name != "the connection breaks" && err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// A network that swallows everything breaks no connection by itself.
func TestServerThatStopsAnswering(t *testing.T) {
	t.Parallel()
	reads := map[string]func(*DB) error{
		"one row": func(db *DB) error {
			_, err := One(t.Context(), db.Queries(), Value[int64], `SELECT count(*) FROM notes`)
			return err
		},
		"a list": func(db *DB) error {
			_, err := List(t.Context(), db.Queries(), Value[int64], `SELECT id FROM notes`)
			return err
		},
		"a look-up": func(db *DB) error {
			var n int64
			return db.Lookup(`SELECT count(*) FROM notes WHERE `+anyNumber+` AND id >= $2`).Row(t.Context(), 1, 0, &n)
		},
		"a sign of life": func(db *DB) error { return db.Ping(t.Context()) },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) {
			at := dbtest.New(t, dbtest.Postgres)
			migrated(t, at)
			proxy := dbtest.NewProxy(t, at)
			db := open(t, Options{URL: proxy.URL})
			must.Do(t, read(db))
			db.queryTimeout, db.readTimeout = 50*time.Millisecond, 50*time.Millisecond
			proxy.Freeze()
			wantUnavailable(t, read(db))
			proxy.Restore()
			db.queryTimeout, db.readTimeout = time.Minute, time.Minute
			expect.NoErrorf(t, read(db), "afterwards")
		})
	}
}

// wantNoPassword looks into an error and everything it wraps.
func wantNoPassword(t testing.TB, err error) {
	t.Helper()
	for _, format := range []string{"%v", "%+v", "%#v"} {
		if strings.Contains(fmt.Sprintf(format, err), "geheim") {
			t.Errorf("the error repeats the password: "+format, err)
		}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		wantNoPassword(t, e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			wantNoPassword(t, one)
		}
	}
}

func changeURL(t testing.TB, text string, change func(*url.URL)) string {
	t.Helper()
	u := must.Get(url.Parse(text))(t)
	change(u)
	return u.String()
}

func withParam(t testing.TB, text, name, value string) string {
	return changeURL(t, text, func(u *url.URL) {
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
	})
}

func withPath(t testing.TB, text, path string) string {
	return changeURL(t, text, func(u *url.URL) { u.Path = path })
}

func withUser(t testing.TB, text string, user *url.Userinfo) string {
	return changeURL(t, text, func(u *url.URL) { u.User = user })
}
