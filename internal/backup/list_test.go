package backup_test

import (
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
)

func TestOfOneSecondTheLastBackupIsTheNewest(t *testing.T) {
	t.Parallel()
	bucket, err := backup.OpenBucket("file://" + filepath.ToSlash(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	for name, in := range map[string]backup.Place{"in a folder": {}, "in a bucket": {Bucket: bucket}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			var last string
			for range 11 { // .10 is before .2 by its text
				made, err := s.store.Backups.Create(t.Context(), operator, backup.CreateOptions{Bucket: in.Bucket})
				if err != nil {
					t.Fatal(err)
				}
				last = made.File
			}
			if list := s.files(in); len(list) != 11 || list[0].Path != last {
				t.Errorf("the newest of %d is %s, want %s", len(list), list[0].Path, last)
			}
			if _, err := s.store.Backups.Prune(t.Context(), operator, in, backup.Keep{Count: 1}); err != nil {
				t.Fatal(err)
			}
			if left := s.files(in); len(left) != 1 || left[0].Path != last {
				t.Errorf("left: %+v, want %s", left, last)
			}
		})
	}
}
