package dbtest

import (
	"context"
	"errors"
	"flag"
	"net"
	"os"
	"runtime/debug"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// Setup prepares the process of a package whose tests use databases: six parallel tests run at
// once, unless -parallel says otherwise, because most wait for a database or a process; the folders
// of tests are in memory where that is possible; and the garbage collector, which has much to do for them,
// runs less often while there is room. No name server is asked. It belongs in TestMain.
func Setup() {
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	debug.SetGCPercent(1000)
	debug.SetMemoryLimit(2 << 30)
	if memory() != "" {
		os.Setenv("TMPDIR", memory())
	}
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("tests ask no name server")
	}}
}

// TempDir is [testing.T.TempDir], in memory where that is possible.
func TempDir(t testing.TB) string {
	t.Helper()
	if memory() == "" {
		return t.TempDir()
	}
	dir := must.Get(os.MkdirTemp(memory(), "countersign-test-"))(t)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
