// Package blob keeps files outside the database: in a folder, or in a bucket of S3 and of
// services that speak its protocol. A file is there as a whole or not at all.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"path/filepath"
	"time"

	"github.com/countersign/countersign/internal/fault"
)

// ErrNotFound is the error of a key that has no file.
var ErrNotFound = errors.New("blob: no such file")

// ErrNoCredentials is the cause when this process has no credentials for a bucket. Another process may have some.
var ErrNoCredentials = errors.New("no credentials of AWS found")

// CodeUnavailable is the code of the error of kind Unavailable when a bucket can't be reached
// or written.
const CodeUnavailable = "media_unavailable"

// openTime bounds how long a bucket has to begin to answer.
const openTime = 10 * time.Second

// Bucket holds files under keys, which are paths with slashes. Its methods may be called from
// many goroutines.
type Bucket struct {
	name  string // for messages
	files files
}

// files are the files of a folder or of a bucket of S3. Its errors name neither.
type files interface {
	// exist is false for a key whose folder the first file creates.
	exist(key string) bool
	write(ctx context.Context, key string, from io.Reader) (size int64, err error)
	read(ctx context.Context, key string) (Reader, error)
	remove(ctx context.Context, key string) error
	// list yields the files whose keys begin with prefix, in the order of the keys.
	list(ctx context.Context, prefix string) iter.Seq2[file, error]
	close()
}

// file is an entry of a list.
type file struct {
	key  string
	size int64
}

// Folder returns the bucket of a folder, which the first file creates.
func Folder(dir string) *Bucket { return &Bucket{dir, folder(dir)} }

// Open returns the bucket of a URL: file:///a/folder, or s3://bucket with the parameters region,
// endpoint, use_path_style, prefix and profile. It calls nobody. The error says what is wrong with
// the URL, and quotes nothing of it.
func Open(text string) (*Bucket, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
	case u.Scheme == "file":
		if u.Host != "" || u.Path == "" || u.Path == "/" || u.RawQuery != "" {
			return nil, fmt.Errorf("a folder has a URL like file:///var/lib/countersign/media")
		}
		return Folder(filepath.FromSlash(u.Path)), nil
	case u.Scheme == "s3" && u.Host != "" && u.User == nil:
		bucket, err := openS3(u)
		if err != nil {
			return nil, err
		}
		return &Bucket{"s3://" + u.Host, bucket}, nil
	}
	return nil, fmt.Errorf("expected a URL like file:///var/lib/countersign/media or s3://bucket?region=eu-central-1")
}

// String names the bucket in messages, without parameters of its URL.
func (b *Bucket) String() string { return b.name }

// Close releases the connections.
func (b *Bucket) Close() error {
	b.files.close()
	return nil
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
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // without the address, which has parameters of the bucket's URL
	}
	return fault.FileReason(err)
}

// Write writes a file from a reader and returns its size in bytes. The file is there when all
// of it is. An error of the reader is returned as it is; one of the bucket is of kind
// Unavailable ([CodeUnavailable]).
func (b *Bucket) Write(ctx context.Context, key string, from io.Reader) (size int64, err error) {
	source := &watchedReader{from: from}
	size, err = b.files.write(ctx, key, source)
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

// errReader stands for the error of a reader. A library may take that of a client that has left,
// [io.ErrUnexpectedEOF], for the end of the file.
var errReader = errors.New("blob: the reader failed")

// Read implements [io.Reader].
func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && err != io.EOF {
		r.err, err = err, errReader
	}
	return n, err
}

// Reader reads a file, from any place of it. Close it.
type Reader struct {
	io.ReadSeekCloser
	size int64
}

// NewReader reads a file of a size in bytes from elsewhere.
func NewReader(from io.ReadSeekCloser, size int64) Reader { return Reader{from, size} }

// Size returns the size of the file in bytes.
func (r Reader) Size() int64 { return r.size }

// Read opens a file, or returns [ErrNotFound]. An error of the bucket is of kind Unavailable
// ([CodeUnavailable]).
func (b *Bucket) Read(ctx context.Context, key string) (Reader, error) {
	r, err := b.files.read(ctx, key)
	switch {
	case err == nil || errors.Is(err, ErrNotFound):
		return r, err
	case ctx.Err() != nil:
		return Reader{}, ctx.Err()
	}
	return Reader{}, b.unavailable("read from", err)
}

// Delete removes a file, if it is there, and what a killed process left of writing it.
func (b *Bucket) Delete(ctx context.Context, key string) error {
	if err := b.files.remove(ctx, key); err != nil {
		return b.unavailable("removed from", err)
	}
	return nil
}

// checkKey is the file that [Bucket.Check] writes.
const checkKey = "check"

// Check is an error of kind Unavailable ([CodeUnavailable]) unless files can be written and
// removed. It does not create a folder.
func (b *Bucket) Check(ctx context.Context) error {
	if !b.HasFolder(checkKey) {
		return nil
	}
	return b.Try(ctx)
}

// Try is [Bucket.Check], and creates a folder.
func (b *Bucket) Try(ctx context.Context) error {
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

// HasFolder reports whether the folder of a key exists; in a bucket of S3 it always does. A disk that is not mounted has none.
func (b *Bucket) HasFolder(key string) bool { return b.files.exist(key) }

// Each calls fn with the key and the size in bytes of every file whose key begins with prefix, in the
// order of the keys.
func (b *Bucket) Each(ctx context.Context, prefix string, fn func(key string, size int64) error) error {
	for f, err := range b.files.list(ctx, prefix) {
		if err != nil {
			return b.unavailable("read from", err)
		}
		if err := fn(f.key, f.size); err != nil {
			return err
		}
	}
	return nil
}
