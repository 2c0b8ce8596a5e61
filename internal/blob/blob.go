// Package blob keeps files outside the database: in a folder, or in a bucket of S3 and of
// services that speak its protocol. A file is there as a whole or not at all.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob" // s3://
	"gocloud.dev/gcerrors"

	"github.com/countersign/countersign/internal/fault"
)

// ErrNotFound is the error of a key that has no file.
var ErrNotFound = errors.New("blob: no such file")

// CodeUnavailable is the code of the error of kind Unavailable when a bucket can't be reached
// or written.
const CodeUnavailable = "media_unavailable"

// openTime bounds how long a bucket has to begin to answer.
const openTime = 10 * time.Second

// Bucket holds files under keys, which are paths with slashes. Its methods may be called from
// many goroutines.
type Bucket struct {
	name   string // for messages
	dir    string // of a folder, "" for others
	mu     sync.Mutex
	bucket *gocloud.Bucket // nil for a folder that was not used yet
}

// Folder returns the bucket of a folder, which the first file creates.
func Folder(dir string) *Bucket { return &Bucket{name: dir, dir: dir} }

// Open returns the bucket of a URL: file:///a/folder or s3://bucket?region=… with the
// parameters of gocloud.dev. It calls nobody. The error says what is wrong with the URL.
func Open(ctx context.Context, text string) (*Bucket, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case u.Scheme == "file":
		if u.Host != "" || u.Path == "" || u.Path == "/" || u.RawQuery != "" {
			return nil, fmt.Errorf("a folder has a URL like file:///var/lib/countersign/media")
		}
		return Folder(filepath.FromSlash(u.Path)), nil
	case u.Scheme == "s3" && u.Host != "" && u.User == nil:
		bucket, err := gocloud.OpenBucket(ctx, text)
		if err != nil {
			return nil, errors.New("the parameters of the URL are not valid: expected some like region=eu-central-1") // the library quotes them
		}
		return &Bucket{name: "s3://" + u.Host, bucket: bucket}, nil
	}
	return nil, fmt.Errorf("expected a URL like file:///var/lib/countersign/media or s3://bucket?region=eu-central-1")
}

// String names the bucket in messages, without parameters of its URL.
func (b *Bucket) String() string { return b.name }

// Close releases the connections.
func (b *Bucket) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bucket == nil {
		return nil
	}
	return b.bucket.Close()
}

// opened returns the open bucket; create makes a folder that is missing.
func (b *Bucket) opened(create bool) (*gocloud.Bucket, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bucket != nil {
		return b.bucket, nil
	}
	// A temporary file lies beside its end: it can't be renamed from another disk.
	bucket, err := fileblob.OpenBucket(b.dir, &fileblob.Options{
		CreateDir: create, DirFileMode: 0o700, NoTempDir: true, Metadata: fileblob.MetadataDontWrite,
	})
	if err != nil {
		return nil, err
	}
	b.bucket = bucket
	return bucket, nil
}

// unavailable is the error of a bucket that failed.
func (b *Bucket) unavailable(what string, err error) error {
	return fault.WithCause(fault.Unavailable(CodeUnavailable, fmt.Sprintf("Files can't be %s %s (%v)", what, b.name, reason(err))), err)
}

// reason is the part of an error that an operator can use.
func reason(err error) error {
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("no answer within %v", openTime)
	}
	return fault.FileReason(err)
}

// Write writes a file from a reader and returns its size in bytes. The file is there when all
// of it is. An error of the reader is returned as it is; one of the bucket is of kind
// Unavailable ([CodeUnavailable]).
func (b *Bucket) Write(ctx context.Context, key string, from io.Reader) (size int64, err error) {
	bucket, err := b.opened(true)
	if err != nil {
		return 0, b.unavailable("written to", err)
	}
	writing, abandon := context.WithCancel(ctx)
	defer abandon()
	var file *os.File
	w, err := bucket.NewWriter(writing, key, &gocloud.WriterOptions{
		ContentType: "application/octet-stream", // whatever it is, no other server shows it as a page
		BeforeWrite: func(as func(any) bool) error {
			if as(&file) {
				return file.Chmod(0o600)
			}
			return nil
		},
	})
	if err != nil {
		return 0, b.unavailable("written to", err)
	}
	source := &watchedReader{from: from}
	size, err = io.Copy(w, source)
	if err == nil && file != nil {
		err = file.Sync() // the row that names the file will be on the disk, too
	}
	if err != nil {
		abandon() // Close then removes what was written
		_ = w.Close()
	} else {
		err = w.Close()
	}
	switch {
	case err == nil:
		return size, nil
	case source.err != nil:
		return 0, source.err
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return 0, b.unavailable("written to", err)
}

// watchedReader remembers why it ended, to tell an error of the reader from one of the writer.
type watchedReader struct {
	from io.Reader
	err  error
}

// Read implements [io.Reader].
func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Reader reads a file, from any place of it. Close it.
type Reader struct {
	*gocloud.Reader
	end context.CancelFunc
}

// Close ends the reading.
func (r Reader) Close() error {
	defer r.end()
	return r.Reader.Close()
}

// Read opens a file, or returns [ErrNotFound]. An error of the bucket is of kind Unavailable
// ([CodeUnavailable]).
func (b *Bucket) Read(ctx context.Context, key string) (Reader, error) {
	bucket, err := b.opened(false)
	if errors.Is(err, fs.ErrNotExist) {
		return Reader{}, ErrNotFound
	}
	if err != nil {
		return Reader{}, b.unavailable("read from", err)
	}
	reading, end := context.WithCancel(ctx)
	late := time.AfterFunc(openTime, end)
	r, err := bucket.NewReader(reading, key, nil)
	if err == nil && late.Stop() {
		return Reader{r, end}, nil
	}
	end()
	if err == nil {
		err = errors.Join(context.Canceled, r.Close())
	}
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound:
		return Reader{}, ErrNotFound
	case ctx.Err() != nil:
		return Reader{}, ctx.Err()
	}
	return Reader{}, b.unavailable("read from", err)
}

// unfinished is how the name of a file in a folder goes on while it is written.
var unfinished = regexp.MustCompile(`^\.[0-9a-f]+\.tmp$`)

// Delete removes a file, if it is there, and what a killed process left of writing it.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	bucket, err := b.opened(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return b.unavailable("removed from", err)
	}
	for list := bucket.List(&gocloud.ListOptions{Prefix: key}); ; {
		one, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil && (one.Key == key || unfinished.MatchString(one.Key[len(key):])) {
			err = bucket.Delete(ctx, one.Key)
		}
		if err != nil && gcerrors.Code(err) != gcerrors.NotFound {
			return b.unavailable("removed from", err)
		}
	}
}

// checkKey is the file that [Bucket.Check] writes.
const checkKey = "check"

// Check is an error of kind Unavailable ([CodeUnavailable]) unless files can be written and
// removed. It does not create a folder.
func (b *Bucket) Check(ctx context.Context) error {
	if _, err := b.opened(false); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	checking, end := context.WithCancel(ctx)
	defer end()
	defer time.AfterFunc(openTime, end).Stop()
	_, err := b.Write(checking, checkKey, &io.LimitedReader{})
	if err == nil {
		err = b.Delete(checking, checkKey)
	}
	if errors.Is(err, context.Canceled) && fault.Of(err) == nil && ctx.Err() == nil {
		err = b.unavailable("written to", err)
	}
	return err
}

// Each calls fn with the key and the size in bytes of every file whose key begins with prefix, in the
// order of the keys.
func (b *Bucket) Each(ctx context.Context, prefix string, fn func(key string, size int64) error) error {
	bucket, err := b.opened(false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return b.unavailable("read from", err)
	}
	for list := bucket.List(&gocloud.ListOptions{Prefix: prefix}); ; {
		one, err := list.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return b.unavailable("read from", err)
		}
		if err := fn(one.Key, one.Size); err != nil {
			return err
		}
	}
}
