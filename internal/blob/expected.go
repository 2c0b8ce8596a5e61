package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/countersign/countersign/internal/wording"
)

// Expected is a file as it was written.
type Expected struct {
	Key string
	// Size is in bytes, and Digest the SHA-256 in hexadecimal digits.
	Size   int64
	Digest string
}

// Lack is a file that is not there as it was written.
type Lack struct {
	Key string
	// Why is "missing", "damaged", or "can't be read".
	Why string
}

// LacksText names the first of some files.
func LacksText(lacks []Lack) string {
	var named []string
	for _, l := range lacks[:min(len(lacks), 3)] {
		named = append(named, fmt.Sprintf("%s (%s)", l.Key, l.Why))
	}
	text := wording.Count(int64(len(lacks)), "uploaded file", "uploaded files") + ": " + strings.Join(named, ", ")
	if more := len(lacks) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Comparison compares files with those that were written.
type Comparison struct {
	expected map[string]Expected // those that were not found yet
	lacks    []Lack
}

// NewComparison returns a comparison with files, of which none is found yet.
func NewComparison(list []Expected) *Comparison {
	c := &Comparison{expected: map[string]Expected{}}
	for _, one := range list {
		c.expected[one.Key] = one
	}
	return c
}

// Of returns what was written under a key and is not found yet, with no digest for another one.
func (c *Comparison) Of(key string) Expected {
	want := c.expected[key]
	want.Key = key
	return want
}

// Left returns the keys that are not found yet, in order.
func (c *Comparison) Left() []string { return slices.Sorted(maps.Keys(c.expected)) }

// Lack notes why a file is not there as it was written. One that is not expected does not matter.
func (c *Comparison) Lack(key, why string) {
	if _, ok := c.expected[key]; ok {
		c.lacks = append(c.lacks, Lack{key, why})
		delete(c.expected, key)
	}
}

// Found compares a file that was read to its end.
func (c *Comparison) Found(key string, read *DigestReader) {
	if !read.Is(c.expected[key]) {
		c.Lack(key, "damaged")
	}
	delete(c.expected, key)
}

// Skip leaves a file out.
func (c *Comparison) Skip(key string) { delete(c.expected, key) }

// Lacks returns what is lacking, with the files that were not found.
func (c *Comparison) Lacks() []Lack {
	for _, key := range c.Left() {
		c.Lack(key, "missing")
	}
	return c.lacks
}

// IsUnreadable reports whether an error of [Bucket.Read] is about that file alone.
func IsUnreadable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EIO)
}

// DigestReader makes the digest of what is read. What a disk can't read are zeros, and no digest is that of the file: one
// such file must not stop a backup.
type DigestReader struct {
	from io.Reader
	hash hash.Hash
	size int64 // read so far
	want int64 // in all
}

// NewDigestReader reads a file of a size.
func NewDigestReader(from io.Reader, size int64) *DigestReader {
	return &DigestReader{from: from, hash: sha256.New(), want: size}
}

// Read implements [io.Reader].
func (r *DigestReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if errors.Is(err, syscall.EIO) {
		clear(p)
		n, err = int(min(int64(len(p)), r.want-r.size)), nil
		r.hash.Write([]byte("unreadable"))
		if n == 0 {
			err = io.EOF
		}
	}
	r.hash.Write(p[:n])
	r.size += int64(n)
	return n, err
}

// Is reports whether what was read is what was written.
func (r *DigestReader) Is(want Expected) bool {
	return want.Size == r.size && want.Digest == hex.EncodeToString(r.hash.Sum(nil))
}
