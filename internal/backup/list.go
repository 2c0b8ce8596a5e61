package backup

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/blob"
)

// File is a backup in a folder or a bucket.
type File struct {
	// Path is its path, or its name in the bucket.
	Path      string
	Size      int64
	CreatedAt time.Time
	Encrypted bool
}

var fileName = regexp.MustCompile(`^[a-z]+-([0-9]{8}T[0-9]{6}Z)(\.[0-9]+)?\.backup(\.age)?$`)

// List lists the backups of the service in a bucket, or in the folder of backups for nil. The
// newest comes first.
func (s *Service) List(ctx context.Context, in *blob.Bucket) (list []File, err error) {
	add := func(path, name string, size int64) {
		match := fileName.FindStringSubmatch(name)
		if match == nil || !strings.HasPrefix(name, string(s.Location.Service)+"-") {
			return
		}
		if at, err := time.Parse(nameTime, match[1]); err == nil {
			list = append(list, File{Path: path, Size: size, CreatedAt: at, Encrypted: match[3] != ""})
		}
	}
	if in != nil {
		err = in.Each(ctx, func(key string, size int64) error {
			add(key, key, size)
			return nil
		})
	} else {
		err = s.eachFile(add)
	}
	slices.SortStableFunc(list, func(a, b File) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list, err
}

func (s *Service) eachFile(fn func(path, name string, size int64)) error {
	entries, err := os.ReadDir(s.Folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return folderError(s.Folder(), err)
	}
	slices.Reverse(entries) // of one second, the last comes first
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			fn(filepath.Join(s.Folder(), e.Name()), e.Name(), info.Size())
		}
	}
	return nil
}

// Prune removes backups of the service and returns them: those that are neither among the newest,
// which count says, nor younger than age. The newest always stays.
func (s *Service) Prune(ctx context.Context, in *blob.Bucket, count int, age time.Duration) (removed []File, err error) {
	list, err := s.List(ctx, in)
	for i, f := range list {
		if err != nil || i < max(count, 1) || s.Now().Sub(f.CreatedAt) < age {
			continue
		}
		if in != nil {
			err = in.Delete(ctx, f.Path)
		} else if err = os.Remove(f.Path); err != nil {
			err = folderError(s.Folder(), err)
		}
		if err == nil {
			removed = append(removed, f)
		}
	}
	return removed, err
}
