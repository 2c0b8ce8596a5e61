package backup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestOfOneSecondTheLastBackupIsTheNewest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bucket := must.Get(backup.OpenBucket("file://" + filepath.ToSlash(dir)))(t)
	defer bucket.Close()
	for name, in := range map[string]backup.Destination{"in a folder": {}, "in a bucket": {Bucket: bucket}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, template.New(t, dbtest.SQLite))
			create := func() string {
				made := must.Get(s.store.Instance.Backups.Create(t.Context(), operator, backup.CreateOptions{Bucket: in.Bucket}))(t)
				return made.File
			}
			first := create()
			if in.Bucket != nil {
				first = filepath.Join(dir, first)
			}
			for n := 2; n <= 10; n++ { // .10 is before .2 by its text
				must.Do(t, os.Link(first, fmt.Sprintf("%s.%d%s", strings.TrimSuffix(first, backup.Extension), n, backup.Extension)))
			}
			last := create()
			if list := s.files(in); len(list) != 11 || list[0].Path != last {
				t.Errorf("the newest of %d is %s, want %s", len(list), list[0].Path, last)
			}
			must.Get(s.store.Instance.Backups.Prune(t.Context(), operator, in, backup.Keep{Count: 1}))(t)
			if left := s.files(in); len(left) != 1 || left[0].Path != last {
				t.Errorf("left: %+v, want %s", left, last)
			}
		})
	}
}
