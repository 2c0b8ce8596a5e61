package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/web"
)

// Writes that have to wait too long are refused in time, all of them, while reads go on.
func TestEveryWriterBehindALockIsAnswered(t *testing.T) {
	t.Parallel()
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		openShop(t, db)
		s := must.Get(store.Open(t.Context(), store.Options{Options: instance.Options{Dir: db.Dir, URL: db.URL, Now: now}, CacheBytes: 0}))(t)
		defer s.Close()
		must.Do(t, s.Prepare(t.Context()))
		address := serveShop(t, s)
		locker := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: db.URL, Path: filepath.Join(db.Dir, store.Product.DatabaseName())}))(t)
		defer locker.Close()
		must.Do(t, locker.Session(t.Context(), func(session *sqldb.DB) error {
			return session.Tx(t.Context(), func(q sqldb.Queries) error { // which has no deadline
				if err := q.Lock(t.Context(), "purchases", "code", "license-fresh"); err != nil {
					return err
				}
				var all sync.WaitGroup
				for i := range 10 {
					all.Go(func() { wantBusy(t, address, fmt.Sprintf("shop%d.example", i)) })
				}
				all.Wait()
				answer, err := http.PostForm(address+"/api/licenses", url.Values{"purchase_code": {"nobody-sold-this"}, "domain": {"shop.example"}})
				if err != nil {
					return err
				}
				defer answer.Body.Close()
				expect.Equalf(t, answer.StatusCode, http.StatusNotFound, "a read beside the lock: %s", answer.Status)
				return nil
			})
		}))
	})
}

// serveShop serves a store until the test ends and returns its address.
func serveShop(t *testing.T, s *store.Store) (address string) {
	t.Helper()
	listener := must.Get(web.Listen("127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- web.Serve(ctx, listener, newHandler(s, 0), web.ServerOptions{}) }()
	t.Cleanup(func() {
		stop()
		expect.NoError(t, <-served)
	})
	return "http://" + listener.Addr().String()
}

func wantBusy(t *testing.T, address, domain string) {
	answer, err := http.PostForm(address+"/api/licenses", url.Values{"purchase_code": {"license-fresh"}, "domain": {domain}})
	if err != nil {
		t.Error(err)
		return
	}
	defer answer.Body.Close()
	code := answer.Header.Get("X-Error-Code")
	if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" ||
		code != countersign.CodeBusy && code != countersign.CodeUnavailable {
		t.Errorf("%s, %s, Retry-After %q", answer.Status, code, answer.Header.Get("Retry-After"))
	}
}
