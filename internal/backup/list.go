package backup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/blob"
)

// File is a backup in a folder or a bucket.
type File struct {
	// Path is its path, or its name in the bucket.
	Path      string
	Size      int64
	CreatedAt time.Time
	// Key names the key file of the content, "" for one without.
	Key       string
	Encrypted bool
	// nth counts the backups of one second.
	nth int
}

// Destination is where backups are: a bucket, or a folder, "" for the one in the data folder.
type Destination struct {
	Folder string
	Bucket *blob.Bucket
}

// recordedName names a file of the place in records.
func (p Destination) recordedName(f File) string {
	return Source{File: f.Path, Bucket: p.Bucket}.recordedName()
}

// folder is the folder of a place that is not a bucket.
func (s *Service) folder(in Destination) string { return cmp.Or(in.Folder, s.Folder()) }

// List lists the backups of a service in a place, also those of other stores or addons that share
// it. The newest comes first.
func (s *Service) List(ctx context.Context, in Destination) (list []File, err error) {
	add := func(path, name string, size int64) {
		if n, ok := parseFileName(name); ok && n.service == s.Location.Service {
			list = append(list, File{Path: path, Size: size, CreatedAt: n.at, Key: n.key, Encrypted: n.encrypted, nth: n.nth})
		}
	}
	if in.Bucket != nil {
		err = in.Bucket.Each(ctx, string(s.Location.Service)+"-", func(key string, size int64) error {
			add(key, key, size)
			return nil
		})
	} else {
		err = eachFile(s.folder(in), add)
	}
	slices.SortStableFunc(list, func(a, b File) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), b.nth-a.nth)
	})
	return list, err
}

func eachFile(folder string, fn func(path, name string, size int64)) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return folderError(folder, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			fn(filepath.Join(folder, e.Name()), e.Name(), info.Size())
		}
	}
	return nil
}
