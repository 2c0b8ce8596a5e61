package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// The names of members.
const (
	headerMember   = "header.json"
	tablesFolder   = "tables/"
	mediaFolder    = "media/"
	keyMember      = "countersign.key"
	manifestMember = "manifest.json"
)

// chunkBytes is the size from which rows go into a member of their own: a member's size comes
// before its content, which is kept in memory so long.
const chunkBytes = 1 << 20

// archive writes a backup.
type archive struct {
	gzip     *gzip.Writer
	tar      *tar.Writer
	at       time.Time
	content  hash.Hash
	manifest Manifest
	box      *keyfile.Box // authenticates it, nil for none
}

func newArchive(to io.Writer, h Header) (*archive, error) {
	compressed, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	a := &archive{gzip: compressed, tar: tar.NewWriter(compressed), at: h.CreatedAt, content: sha256.New(), manifest: Manifest{Tables: map[string]Sum{}}}
	return a, a.addJSON(headerMember, h)
}

// close writes the manifest, with which the backup is complete.
func (a *archive) close() error {
	a.manifest.Content = hex.EncodeToString(a.content.Sum(nil))
	if a.box != nil {
		a.manifest.MAC = mac(a.box, a.manifest.Content)
	}
	if err := a.addJSON(manifestMember, a.manifest); err != nil {
		return err
	}
	return errors.Join(a.tar.Close(), a.gzip.Close())
}

func (a *archive) addJSON(name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return a.add(name, int64(len(text)), bytes.NewReader(text))
}

// add adds a member of a size.
func (a *archive) add(name string, size int64, from io.Reader) error {
	err := a.tar.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.at})
	if err != nil {
		return fmt.Errorf("backup: write %s: %w", name, err)
	}
	hashName(a.content, name, size)
	n, err := io.Copy(io.MultiWriter(a.tar, a.content), from)
	if err == nil && n != size {
		err = fmt.Errorf("backup: %s has %d bytes, expected %d", name, n, size)
	}
	return err
}

// hashName adds to a hash what separates a member from the one before.
func hashName(h hash.Hash, name string, size int64) {
	fmt.Fprintf(h, "%d %s %d\n", len(name), name, size)
}

// addTable adds the rows of a table.
func (a *archive) addTable(ctx context.Context, c *sqldb.Content, t sqldb.Table) error {
	var sum Sum
	var chunk []byte
	members := 0
	flush := func() error {
		if len(chunk) == 0 {
			return nil
		}
		members++
		err := a.add(chunkName(t.Name, members), int64(len(chunk)), bytes.NewReader(chunk))
		chunk = chunk[:0]
		return err
	}
	err := c.Rows(ctx, t, func(values []any) (err error) {
		begin := len(chunk)
		if chunk, err = appendRow(chunk, values); err != nil {
			return err
		}
		sum.add(sha256.Sum256(chunk[begin:]))
		if len(chunk) < chunkBytes {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	a.manifest.Tables[t.Name] = sum
	return err
}

func chunkName(table string, number int) string {
	return fmt.Sprintf("%s%s/%06d.jsonl", tablesFolder, table, number)
}

// addUploadedFile adds an uploaded file.
func (a *archive) addUploadedFile(key string, size int64, from io.Reader) error {
	one := sha256.New()
	hashName(one, key, size)
	err := a.add(mediaFolder+key, size, io.TeeReader(from, one))
	a.manifest.Media.add([sha256.Size]byte(one.Sum(nil)))
	return err
}

// sumTable is the sum of a table's rows. It calls each after every row.
func sumTable(ctx context.Context, c *sqldb.Content, t sqldb.Table, each func()) (sum Sum, err error) {
	var line []byte
	err = c.Rows(ctx, t, func(values []any) (err error) {
		if line, err = appendRow(line[:0], values); err != nil {
			return err
		}
		sum.add(sha256.Sum256(line))
		each()
		return nil
	})
	return sum, err
}
