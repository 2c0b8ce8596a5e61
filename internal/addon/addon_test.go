package addon_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/sqldb"
)

var (
	operator, user, program = addontest.Operator, addontest.User, addontest.Program
	client, noon            = addontest.Client, addontest.Noon
)

// This test binary is also the program that is killed while it pulls.
func TestMain(m *testing.M) { dbtest.Main(m, pullAndWait) }

// places runs fn with an empty place on each engine.
func places(t *testing.T, fn func(t *testing.T, at dbtest.DB)) {
	t.Helper()
	t.Parallel()
	dbtest.Engines(t, fn)
}

// feedLive reports when changes by other processes arrive.
func feedLive(f *addontest.Fixture) <-chan struct{} {
	live := make(chan struct{}, 8)
	f.Instance.Database.Watch(sqldb.Watcher{Changed: func(string, string) {}, Lost: func() {}, Live: func() { live <- struct{}{} }})
	return live
}
