package blob

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folder is the path of a folder. The path of a file in it is its key.
type folder string

// path returns the path of a key. Keys that are not paths below the folder are refused.
func (f folder) path(key string) (string, error) {
	name, err := filepath.Localize(key)
	if err != nil || key == "." {
		return "", fmt.Errorf("invalid key %q", key)
	}
	return filepath.Join(string(f), name), nil
}

func (f folder) exist(key string) bool {
	path, err := f.path(key)
	if err == nil {
		_, err = os.Stat(filepath.Dir(path))
	}
	return !errors.Is(err, fs.ErrNotExist)
}

// write writes a file under another name first. This one is beside it, because a file can't be
// renamed from another disk.
func (f folder) write(ctx context.Context, key string, from io.Reader) (size int64, err error) {
	path, err := f.path(key)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return 0, err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // of mode 0600
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(temp, from)
	if err == nil {
		err = temp.Sync() // the row that names the file will be on the disk, too
	}
	if err = cmp.Or(err, temp.Close(), ctx.Err()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return 0, err
	}
	return size, nil
}

// unfinished is how the name of a file goes on while it is written.
var unfinished = regexp.MustCompile(`^\.[0-9a-f]+\.tmp$`)

func (f folder) remove(_ context.Context, key string) error {
	path, err := f.path(key)
	if err != nil {
		return err
	}
	dir, name := filepath.Split(path)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), name)
		if !ok || e.IsDir() || rest != "" && !unfinished.MatchString(rest) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (f folder) read(_ context.Context, key string) (Reader, error) {
	path, err := f.path(key)
	if err != nil {
		return Reader{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.IsDir() {
		return Reader{}, ErrNotFound
	}
	if err != nil {
		return Reader{}, err
	}
	from, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
		return Reader{}, ErrNotFound
	}
	return Reader{from, info.Size()}, err
}

func (f folder) list(_ context.Context, prefix string) iter.Seq2[file, error] {
	return func(yield func(file, error) bool) { f.walk("", prefix, yield) }
}

// walk yields the files in one of the folders, whose key is empty or ends with a slash. It is
// false when yield was.
func (f folder) walk(dir, prefix string, yield func(file, error) bool) bool {
	entries, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
	if err != nil {
		locked := dir != "" && errors.Is(err, fs.ErrPermission) // such as lost+found of a disk
		return locked || errors.Is(err, fs.ErrNotExist) || yield(file{}, err)
	}
	// The slash is part of the order of keys: "a-b" is before "a/b".
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(nameInKey(a), nameInKey(b)) })
	for _, e := range entries {
		key := dir + nameInKey(e)
		if e.IsDir() {
			if (strings.HasPrefix(key, prefix) || strings.HasPrefix(prefix, key)) && !f.walk(key, prefix, yield) {
				return false
			}
			continue
		}
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			continue
		}
		if err != nil {
			return yield(file{}, err)
		}
		if !yield(file{key, info.Size()}, nil) {
			return false
		}
	}
	return true
}

// nameInKey returns the name of an entry as it is in keys.
func nameInKey(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

func (f folder) close() {}
