package sqldb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// NewestBackup is the newest backup of the SQLite database at a path in the folder of backups
// beside it, "" without one.
func NewestBackup(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	entries, _ := os.ReadDir(filepath.Join(filepath.Dir(path), "backups")) // sorted
	for _, e := range slices.Backward(entries) {
		end := filepath.Ext(strings.TrimSuffix(e.Name(), ".age"))
		if strings.HasPrefix(e.Name(), name+"-") && (end == ".backup" || end == ".db") { // .db is of earlier versions
			return filepath.Join(filepath.Dir(path), "backups", e.Name())
		}
	}
	return ""
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}
