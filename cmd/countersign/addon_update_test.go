package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

// onText calls fn once text was written.
type onText struct {
	bytes.Buffer
	text string
	fn   func()
}

// Write implements [io.Writer].
func (w *onText) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(w.text)) {
		w.fn()
	}
	return w.Buffer.Write(p)
}

// A package is upgraded while cron writes a backup.
func TestAnUpdateWaitsForTheBackupOfAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	mustRunAt(t, dir, "", "addon", "update")
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{Path: filepath.Join(dir, "addon.db")}))(t)
	_, err := db.Queries().Exec(t.Context(), `DELETE FROM credentials`) // so that there is something to do
	if closed := db.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	folder := filepath.Join(dir, "backups")
	mkdir(t, folder)
	other := flock.New(filepath.Join(folder, "addon.lock"))
	if locked, err := other.TryLock(); err != nil || !locked {
		t.Fatal(locked, err)
	}
	var out bytes.Buffer
	said := &onText{text: "Another backup is being written. The update waits for it", fn: func() {
		expect.NoError(t, other.Unlock())
	}}
	code := run(t.Context(), []string{"addon", "update"}, environment{envAddonData: dir}.lookup, strings.NewReader(""), &out, said)
	if code != 0 || strings.Count(said.String(), said.text) != 1 || !strings.Contains(out.String(), "✓ Back up the database") {
		t.Errorf("exit code %d: %s%s", code, out.String(), said.String())
	}
}
