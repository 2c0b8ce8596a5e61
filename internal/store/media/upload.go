package media

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"strings"
	"unicode"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Upload is a file as a client sends it.
type Upload struct {
	// Name is what the client calls it. It says nothing about its content, and no file is
	// called like that; those who download the file of an item get it under this name.
	Name string
	// Size is the length that the client announced, in bytes; 0 when it did not.
	Size int64
	From io.Reader
}

// maxTitle is how many characters of a file's name are kept.
const maxTitle = 120

// title is the name of a file without what could make a path or an end of a header of it.
func title(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune(`"/\:*?<>|`, r) {
			return -1
		}
		return r
	}, name)
	name = strings.Trim(name, ". ")
	if all := []rune(name); len(all) > maxTitle {
		end := path.Ext(name)
		if len(end) > 10 {
			end = ""
		}
		name = string(all[:maxTitle-len(end)]) + end
	}
	return cmp.Or(name, "download")
}

// keep writes the row that describes an uploaded file, and then the file to the bucket: so the
// database knows every file in the bucket. The caller uses the file or discards it.
func (s *Service) keep(ctx context.Context, workspace int64, slot Slot, u Upload) (UploadedFile, error) {
	if err := s.gate.Ready(); err != nil {
		return UploadedFile{}, err
	}
	if u.Size > slot.Limit() {
		return UploadedFile{}, slot.TooLarge()
	}
	room, err := s.usage(ctx, s.db, workspace)
	if err != nil {
		return UploadedFile{}, err
	}
	if left := room.left(); left <= 0 || u.Size > left {
		return UploadedFile{}, room.refused()
	}
	from := &limited{from: group.Reader(ctx, u.From), left: slot.Limit(), over: slot.TooLarge()}
	if left := room.left(); left < from.left {
		from.left, from.over = left, room.refused()
	}
	head := make([]byte, headLength)
	n, err := io.ReadFull(from, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return UploadedFile{}, err
	}
	if n == 0 {
		return UploadedFile{}, fault.Invalid("media_empty", "The file is empty")
	}
	f, err := recognize(slot.Kind(), head[:n])
	if err != nil {
		return UploadedFile{}, err
	}
	m := UploadedFile{WorkspaceID: workspace, Kind: slot.Kind(), Size: u.Size, Title: title(u.Name), CreatedAt: sqldb.Time{Time: s.now()}}
	content := io.MultiReader(bytes.NewReader(head[:n]), from)
	if m.Kind == KindPicture {
		file, p, err := s.picture(ctx, workspace, content)
		if err != nil {
			return UploadedFile{}, err
		}
		defer file.remove()
		f, content = p.format, file
		m.Width, m.Height = int64(p.width), int64(p.height)
	}
	m.Name, m.Type = newName(f.end), f.mediaType
	if err := s.db.Tx(ctx, func(tx *storedb.DB) error { return tx.AddUploadedFile(ctx, m) }); err != nil {
		return UploadedFile{}, err
	}
	counted := &digested{from: content, hash: sha256.New()}
	if m.Size, err = s.bucket.Write(ctx, key(m), counted); err != nil {
		s.discard(ctx, m, err)
		return UploadedFile{}, err
	}
	m.Digest = hex.EncodeToString(counted.hash.Sum(nil))
	return m, nil
}

// newName returns a random name for a file.
func newName(end string) string { return strings.ToLower(rand.Text()) + end }

// use makes an uploaded file whose file is complete one that something refers to. The errors are of kind
// Conflict: media_expired for an upload that took so long that it was swept, and upload_quota when others took the room.
func (s *Service) use(ctx context.Context, tx *storedb.DB, m UploadedFile) error {
	if err := tx.UseUploadedFile(ctx, m); err != nil {
		return sqldb.IfNotFound(err, errExpired)
	}
	room, err := s.usage(ctx, tx, m.WorkspaceID)
	if err == nil && room.left() < 0 {
		room.Used -= m.Size
		err = room.refused()
	}
	return err
}

var errExpired = fault.Conflict("media_expired", "The upload took longer than a day, and was removed. Upload the file again")

// discard removes an uploaded file that nothing refers to. What is left when this fails is swept.
func (s *Service) discard(ctx context.Context, m UploadedFile, cause error) {
	if !fault.HasCode(cause, countersign.CodeOutcomeUnknown) {
		_ = s.remove(context.WithoutCancel(ctx), m)
	}
}

// remove removes the file of an uploaded file, and then its row.
func (s *Service) remove(ctx context.Context, m UploadedFile) error {
	if err := s.bucket.Delete(ctx, key(m)); err != nil {
		return err
	}
	return s.db.Tx(ctx, func(tx *storedb.DB) error { return tx.DeleteUploadedFile(ctx, m.Name) })
}

// describe says what was uploaded, for the audit log.
func (m uploaded) describe() string {
	text := fmt.Sprintf("%s: %q, %s, %d bytes", m.slot, m.Title, m.Type, m.Size)
	if m.Width > 0 {
		text += fmt.Sprintf(", %d × %d pixels", m.Width, m.Height)
	}
	return text
}

// uploaded is an uploaded file and its slot.
type uploaded struct {
	UploadedFile
	slot Slot
}

// limited reads up to a number of bytes, and returns the error over for more.
type limited struct {
	from io.Reader
	left int64
	over error
}

// Read implements [io.Reader].
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, l.over
	}
	return n, err
}

// digested reads on and makes a digest of what was read.
type digested struct {
	from io.Reader
	hash hash.Hash
}

// Read implements [io.Reader].
func (d *digested) Read(p []byte) (int, error) {
	n, err := d.from.Read(p)
	d.hash.Write(p[:n])
	return n, err
}
