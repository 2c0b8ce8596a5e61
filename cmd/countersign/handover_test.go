package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/must"
)

// The service of a package runs as a user of its own, and somebody forgets to name that user after sudo.
func TestACommandOfRootLeavesNoFileThatTheServiceCannotWrite(t *testing.T) {
	if os.Geteuid() != 0 {
		dbtest.Skip(t, errors.New("only root can change owners"))
	}
	const service = 4711
	dir := filepath.Join(t.TempDir(), "data")
	outside := filepath.Join(t.TempDir(), "outside")
	earlier, linked := filepath.Join(dir, "earlier"), filepath.Join(dir, "linked")
	mustRunAt(t, dir, "", "store", "workspace", "create", "ada", "--email", "ada@shop.example")
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, service, service))
	})
	err = errors.Join(err, os.WriteFile(earlier, nil, 0o600), os.Chtimes(earlier, time.Unix(1, 0), time.Unix(1, 0)), os.WriteFile(outside, nil, 0o600), os.Link(outside, linked))
	must.Do(t, err)
	mustRunAt(t, dir, "", "store", "backup", "create")
	mustRunAt(t, dir, "", "store", "rekey", "--yes")
	beside := filepath.Join(filepath.Dir(dir), "store.toml")
	for _, file := range []string{beside, filepath.Join(dir, "store.toml")} {
		mustRunAt(t, dir, "", "store", "init", "--data", dir, "--out", file)
	}
	info := must.Get(os.Stat(beside))(t)
	if uid, gid, _ := health.Owner(info); uid != 0 || gid != service || info.Mode() != 0o640 {
		t.Errorf("the configuration beside the folder belongs to %d:%d, %v", uid, gid, info.Mode())
	}
	roots := map[string]bool{earlier: true, linked: true}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		info, statErr := e.Info()
		if err != nil || statErr != nil {
			t.Fatal(err, statErr)
		}
		if uid, _, _ := health.Owner(info); (uid == 0) != roots[path] {
			t.Errorf("%s belongs to %d", path, uid)
		}
		return nil
	})
}
