package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// today is when the scripts in testdata play.
var today = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)

func now() time.Time { return today }

// shopStore is a store that holds testdata/shop.jsonl.
var shopStore = storetest.NewTemplate("testdata/shop.jsonl", store.Options{Options: instance.Options{Now: now}})

// openShop opens a copy of shopStore.
func openShop(t *testing.T, db dbtest.DB) *store.Store {
	t.Helper()
	return storetest.Open(t, db, store.Options{Options: instance.Options{Now: now, Longer: time.Hour}, CacheBytes: 8 << 20})
}

// background does a store's background work until the test ends, as a server does.
func background(t *testing.T, s *store.Store) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		expect.NoError(t, <-done)
	})
}

// newHandler is the API as a proxy on this machine reaches it.
func newHandler(s *store.Store, failLimit int) http.Handler {
	return api.New(s, api.Options{
		Limits: web.NewRateLimits(limit.NewGuesses(limit.Options{Failures: failLimit, Now: now})), Now: now, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
}

var readOracle = sync.OnceValues(func() (*webtest.Oracle, error) {
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		return nil, err
	}
	return webtest.NewOracle(document)
})

func newOracle(t *testing.T) *webtest.Oracle {
	t.Helper()
	return must.Get(readOracle())(t)
}

func scripts(t *testing.T, pattern string) []string {
	t.Helper()
	return must.Get(filepath.Glob(pattern))(t)
}

func TestContract(t *testing.T) {
	t.Parallel()
	oracle := newOracle(t)
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		webtest.Run(t, newHandler(openShop(t, db), 0), scripts(t, "testdata/*.txt"), oracle.Check)
	})
}

// TestContractOfLimits runs each script with a server that has counted nothing.
func TestContractOfLimits(t *testing.T) {
	t.Parallel()
	oracle := newOracle(t)
	for _, file := range scripts(t, "testdata/limits/*.txt") {
		shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
			webtest.Run(t, newHandler(openShop(t, db), 3), []string{file}, oracle.Check)
		})
	}
}

// TestContractOfAServer runs the scripts while the store does its background
// work and holds keys and answers in memory.
func TestContractOfAServer(t *testing.T) {
	t.Parallel()
	oracle := newOracle(t)
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		background(t, s)
		webtest.Run(t, newHandler(s, 0), scripts(t, "testdata/*.txt"), oracle.Check)
	})
}
