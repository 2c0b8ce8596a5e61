package sqldb

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

func TestLongLogIsToldOnceForEachDoubling(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var said lines
	db := must.Get(Open(t.Context(), Options{Path: path, Log: slog.New(slog.NewTextHandler(&said, nil))}))(t)
	t.Cleanup(func() { _ = db.Close() })
	must.Do(t, db.Migrate(t.Context()))
	told, want := int64(0), 0
	for _, step := range []struct {
		size int64
		told bool
	}{
		{logLimit, false}, {longLog, true}, {longLog + pageBytes, false}, {2 * longLog, true}, {3 * longLog, false},
		{logLimit, false}, {longLog, true},
	} {
		if err := os.Truncate(path+"-wal", step.size); err != nil { // zeros are no frames
			t.Fatal(err)
		}
		told = db.logLongWAL(told)
		if step.told {
			want++
		}
		if n := said.count("write-ahead log grows"); n != want {
			t.Errorf("told %d times at %d bytes, want %d", n, step.size, want)
		}
	}
}
