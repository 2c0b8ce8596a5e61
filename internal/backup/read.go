package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// What a reader accepts at most, so that a small file can't fill memory or the disk.
const (
	maxJSON         = 4 << 20
	maxChunk        = 64 << 20
	maxKeyFile      = 4 << 10
	maxUploadedFile = 64 << 30
	// maxRatio is how many times larger than the file its content may be, above freeBytes.
	maxRatio  = 500
	freeBytes = 64 << 20
)

// Reader reads a backup from its begin to its end. What it returns is not known to be whole before
// [Reader.End] has returned nil.
type Reader struct {
	Header Header

	source  *countingReader
	gzip    *gzip.Reader
	tar     *tar.Reader
	read    int64 // bytes of content
	content hash.Hash
	next    *tar.Header // the member that comes next, nil at the end
	media   Sum
	counts  map[string]int64
}

// NewReader begins to read a backup that is not encrypted.
func NewReader(from io.Reader) (*Reader, error) {
	r := &Reader{source: &countingReader{from: bufio.NewReaderSize(from, 1<<16)}, content: sha256.New(), counts: map[string]int64{}}
	var err error
	if r.gzip, err = gzip.NewReader(r.source); err != nil {
		return nil, damaged("it is not a backup file", err)
	}
	r.gzip.Multistream(false)
	r.tar = tar.NewReader(r.limited())
	if err := r.advance(); err != nil {
		return nil, err
	}
	if r.next == nil || r.next.Name != headerMember {
		return nil, damaged("it does not begin with a header", nil)
	}
	if err := r.readJSON(&r.Header); err != nil {
		return nil, err
	}
	if r.Header.Format > formatVersion {
		return nil, r.unlessDamaged(fault.Conflict(CodeNewer, "The backup was written by a newer version of countersign"))
	}
	if r.Header.Format != formatVersion {
		return nil, damaged(fmt.Sprintf("it has the unknown format %d", r.Header.Format), nil)
	}
	return r, nil
}

// unlessDamaged returns an error about a header, but that of a damaged file if the header may be the damage: the file has a
// sum at its end.
func (r *Reader) unlessDamaged(err error) error {
	if err == nil {
		return nil
	}
	if _, broken := io.Copy(io.Discard, r.limited()); broken != nil {
		return damaged("it can't be read to its end", broken)
	}
	return err
}

// countingReader counts bytes. Its ReadByte keeps gzip from reading beyond its end.
type countingReader struct {
	from *bufio.Reader
	n    int64
}

// Read implements [io.Reader].
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// ReadByte implements [io.ByteReader].
func (c *countingReader) ReadByte() (byte, error) {
	b, err := c.from.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

var errExpands = errors.New("backup: the content is much larger than the file")

// limited reads the content, and ends with an error when it is much larger than the file.
func (r *Reader) limited() io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		if r.read > freeBytes && r.read/maxRatio > r.source.n {
			return 0, errExpands
		}
		n, err := r.gzip.Read(p)
		r.read += int64(n)
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// advance goes to the next member.
func (r *Reader) advance() error {
	h, err := r.tar.Next()
	if errors.Is(err, io.EOF) {
		r.next = nil
		return nil
	}
	if err != nil {
		return damaged("it can't be read to its end", err)
	}
	limit := int64(maxJSON)
	switch {
	case strings.HasPrefix(h.Name, tablesFolder):
		limit = maxChunk
	case strings.HasPrefix(h.Name, mediaFolder):
		limit = maxUploadedFile
	case h.Name == keyMember:
		limit = maxKeyFile
	}
	if h.Typeflag != tar.TypeReg || !fs.ValidPath(h.Name) || h.Size > limit {
		return damaged(fmt.Sprintf("it has an unexpected member %.100q", h.Name), nil)
	}
	r.next = h
	if h.Name != manifestMember {
		hashName(r.content, h.Name, h.Size)
	}
	return nil
}

// readMember reads a small member and goes to the next.
func (r *Reader) readMember() ([]byte, error) {
	isManifest := r.next.Name == manifestMember
	var text bytes.Buffer
	if _, err := io.Copy(&text, r.tar); err != nil {
		return nil, damaged("it can't be read to its end", err)
	}
	if !isManifest {
		r.content.Write(text.Bytes())
	}
	return text.Bytes(), r.advance()
}

func (r *Reader) readJSON(value any) error {
	name := r.next.Name
	text, err := r.readMember()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return damaged(name+" can't be read", err)
	}
	return nil
}

// Tables calls fn for every table in turn. next returns the values of the next row, nil after the
// last; fn has to call it until then.
func (r *Reader) Tables(fn func(t sqldb.Table, next func() ([]any, error)) error) error {
	for _, t := range r.Header.Tables {
		rows := &rows{reader: r, table: t}
		if err := fn(t, rows.next); err != nil {
			return err
		}
	}
	return nil
}

// rows reads the rows of a table, which may be in several members.
type rows struct {
	reader  *Reader
	table   sqldb.Table
	member  int
	lines   *json.Decoder // of the member that is being read
	current []any
}

func (s *rows) next() ([]any, error) {
	r := s.reader
	for {
		if s.lines == nil {
			if r.next == nil || r.next.Name != chunkName(s.table.Name, s.member+1) {
				return nil, nil
			}
			s.member++
			s.lines = json.NewDecoder(io.TeeReader(r.tar, r.content))
			s.lines.UseNumber()
		}
		values, err := readRow(s.lines, s.current)
		if errors.Is(err, io.EOF) {
			s.lines = nil
			if err := r.advance(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, damaged("a row of the table "+s.table.Name+" can't be read", err)
		}
		s.current = values
		r.counts[s.table.Name]++
		return values, nil
	}
}

// Media calls fn for every uploaded file, after the tables. A key is a path with slashes inside the
// bucket.
func (r *Reader) Media(fn func(key string, size int64, from io.Reader) error) error {
	for r.next != nil && strings.HasPrefix(r.next.Name, mediaFolder) {
		key, size := strings.TrimPrefix(r.next.Name, mediaFolder), r.next.Size
		if !validKey(key) {
			return damaged(fmt.Sprintf("it has an unexpected member %.100q", r.next.Name), nil)
		}
		one := sha256.New()
		hashName(one, key, size)
		from := io.TeeReader(r.tar, io.MultiWriter(one, r.content))
		if err := fn(key, size, from); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, from); err != nil {
			return damaged("it can't be read to its end", err)
		}
		r.media.add([sha256.Size]byte(one.Sum(nil)))
		if err := r.advance(); err != nil {
			return err
		}
	}
	return nil
}

// validKey reports whether a key is one of an uploaded file: public/NAME or private/NAME.
func validKey(key string) bool {
	folder, name := path.Split(key)
	return slices.Contains([]string{"public/", "private/"}, folder) && name != "" && name[0] != '.' && !strings.ContainsAny(name, "\\:\x00")
}

// KeyFile returns the text of the key file, after the media, "" when the backup does not hold it.
func (r *Reader) KeyFile() (string, error) {
	if r.next == nil || r.next.Name != keyMember {
		return "", nil
	}
	text, err := r.readMember()
	return string(text), err
}

// End reads the end of the backup, after the key file. It is an error unless the backup is whole.
func (r *Reader) End() (Manifest, error) {
	var m Manifest
	if r.next == nil || r.next.Name != manifestMember {
		return m, damaged("its end is missing, or in another place", nil)
	}
	sum := hex.EncodeToString(r.content.Sum(nil))
	if err := r.readJSON(&m); err != nil {
		return m, err
	}
	if r.next != nil || m.Content != sum {
		return m, damaged("its content is not what was written", nil)
	}
	if _, err := io.Copy(io.Discard, r.limited()); err != nil { // gzip's own sum
		return m, damaged("it can't be read to its end", err)
	}
	if _, err := r.source.ReadByte(); !errors.Is(err, io.EOF) {
		return m, damaged("something follows its end", err)
	}
	for _, t := range r.Header.Tables {
		if m.Tables[t.Name].Count != r.counts[t.Name] {
			return m, damaged(fmt.Sprintf("the table %s has %d rows, expected %d", t.Name, r.counts[t.Name], m.Tables[t.Name].Count), nil)
		}
	}
	if len(m.Tables) != len(r.Header.Tables) || m.Media != r.media {
		return m, damaged("its content is not what was written", nil)
	}
	return m, nil
}
