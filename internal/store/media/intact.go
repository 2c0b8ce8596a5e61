package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/blob"
)

// readFirst is up to which size, in bytes, a file is read before it is sent. A larger one is compared while it is sent.
const readFirst = 1 << 20

// errContent is the error of a file whose content is not what was uploaded.
var errContent = errors.New("media: the file is damaged: its content is not what was uploaded")

// expected is the file of an uploaded file as it was uploaded.
func expected(m UploadedFile) blob.Expected {
	return blob.Expected{Key: key(m), Size: m.Size, Digest: m.Digest}
}

// intact returns the content of an uploaded file that is not damaged. The end of a large damaged one is never read: whoever gets it
// sees that it is not complete.
func (s *Service) intact(m UploadedFile, r blob.Reader) (blob.Reader, error) {
	if r.Size() != m.Size {
		return blob.Reader{}, errors.Join(fmt.Errorf("%w: %s", errContent, key(m)), r.Close())
	}
	if m.Size > readFirst {
		if err := s.isWholeAgain(m, r); err != nil {
			return blob.Reader{}, errors.Join(err, r.Close())
		}
		return blob.NewReader(&watched{ReadSeekCloser: r, service: s, m: m, digest: blob.NewDigestReader(r, m.Size)}, m.Size), nil
	}
	digest := blob.NewDigestReader(r, m.Size)
	content, err := io.ReadAll(digest)
	if err = errors.Join(err, r.Close()); err != nil {
		return blob.Reader{}, err
	}
	if !digest.Is(expected(m)) {
		return blob.Reader{}, fmt.Errorf("%w: %s", errContent, key(m))
	}
	return blob.NewReader(inMemory{bytes.NewReader(content)}, m.Size), nil
}

// isWholeAgain reads a large file that was found damaged to its end before any of it is sent: a client that resumes its
// download would get the end that was held back. The error is of one that is still damaged.
func (s *Service) isWholeAgain(m UploadedFile, r blob.Reader) error {
	if _, found := s.found.Load(m.Name); !found {
		return nil
	}
	digest := blob.NewDigestReader(r, m.Size)
	if _, err := io.Copy(io.Discard, digest); err != nil {
		return err
	}
	if !digest.Is(expected(m)) {
		return fmt.Errorf("%w: %s", errContent, key(m))
	}
	s.found.Delete(m.Name)
	_, err := r.Seek(0, io.SeekStart)
	return err
}

// inMemory is content that needs no closing.
type inMemory struct{ *bytes.Reader }

// Close implements [io.Closer].
func (inMemory) Close() error { return nil }

// watched compares a file that is read from its begin to its end, and holds the end back when it is damaged.
type watched struct {
	io.ReadSeekCloser
	service *Service
	m       UploadedFile
	digest  *blob.DigestReader // nil once something was left out
	at      int64
}

// Seek implements [io.Seeker].
func (w *watched) Seek(offset int64, whence int) (int64, error) {
	at, err := w.ReadSeekCloser.Seek(offset, whence)
	if at == 0 {
		w.digest = blob.NewDigestReader(w.ReadSeekCloser, w.m.Size)
	} else if at != w.at {
		w.digest = nil
	}
	w.at = at
	return at, err
}

// Read implements [io.Reader].
func (w *watched) Read(p []byte) (int, error) {
	if w.digest == nil {
		return w.ReadSeekCloser.Read(p)
	}
	n, err := w.digest.Read(p)
	w.at += int64(n)
	if w.at == w.m.Size && !w.digest.Is(expected(w.m)) {
		w.service.found.Store(w.m.Name, true)
		w.service.log.Error("an uploaded file is damaged; what was sent of it is not complete", "file", key(w.m))
		return 0, errContent
	}
	return n, err
}

// Compare compares all files that something refers to with the database by their sizes, and some by their content: up to
// a number of bytes together. It returns how many it compared by content, and what is lacking.
func (s *Service) Compare(ctx context.Context, most int64) (files, compared int, lacks []blob.Lack, err error) {
	var list []blob.Expected
	err = s.db.EachUploadedFile(ctx, func(m UploadedFile, unused countersign.Timestamp) error {
		if m.Digest != "" && unused.IsZero() {
			list = append(list, expected(m))
		}
		return nil
	})
	if err != nil {
		return 0, 0, nil, err
	}
	c, left := blob.NewComparison(list), most
	err = s.bucket.Each(ctx, "", func(name string, size int64) error {
		want := c.Of(name)
		switch {
		case want.Digest == "":
		case want.Size != size:
			c.Lack(name, "damaged")
		case size > left:
			c.Skip(name)
		default:
			left -= size
			compared++
			return s.compare(ctx, c, want)
		}
		return nil
	})
	return len(list), compared, c.Lacks(), err
}

// compare compares a file by its content.
func (s *Service) compare(ctx context.Context, c *blob.Comparison, want blob.Expected) error {
	r, err := s.bucket.Read(ctx, want.Key)
	switch {
	case errors.Is(err, blob.ErrNotFound): // it was removed meanwhile
		c.Skip(want.Key)
		return nil
	case blob.IsUnreadable(err):
		c.Lack(want.Key, "can't be read")
		return nil
	case err != nil:
		return err
	}
	defer r.Close()
	read := blob.NewDigestReader(r, want.Size)
	if _, err := io.Copy(io.Discard, read); err != nil {
		return err
	}
	c.Found(want.Key, read)
	return nil
}
