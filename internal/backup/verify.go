package backup

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filippo.io/age"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Verify restores a backup into a temporary file and compares what is there with what was written.
// The temporary file is removed. A backup that can't be restored is an error.
func (s *Service) Verify(ctx context.Context, from Source) (Info, error) {
	return s.verifyIn(ctx, os.TempDir(), "countersign-", from)
}

// verifyFolder is in the names of folders in which backups are verified, verifyFile is the database there.
const (
	verifyFolder = "verify-"
	verifyFile   = "verify.db"
)

// verifyIn is Verify with temporary files in a folder, under a name that begins with prefix.
func (s *Service) verifyIn(ctx context.Context, folder, prefix string, from Source) (info Info, err error) {
	dir, err := os.MkdirTemp(folder, prefix+verifyFolder)
	if err != nil {
		return info, temporaryError(folder, fault.FileReason(err).Error(), err)
	}
	defer os.RemoveAll(dir)
	r, encrypted, file, err := from.open(ctx)
	if err != nil {
		return info, err
	}
	defer file.Close()
	if err := r.unlessDamaged(s.check(r.Header)); err != nil {
		return info, err
	}
	o := sqldb.Options{Path: filepath.Join(dir, verifyFile), Schemas: s.Database.Schemas}
	err = sqldb.BuildFile(ctx, o, r.Header.build(func(l sqldb.Load) error {
		info, err = s.load(ctx, from, r, l, files{
			uploadedFile: func(blob.Expected, int64, io.Reader) error { return nil },
			keyFile:      func(string) error { return nil },
		})
		return err
	}))
	info.Header, info.Encrypted = r.Header, encrypted
	if fault.HasCode(err, sqldb.CodeFull) {
		err = temporaryError(folder, "its disk is full", err)
	}
	return info, unfit(err)
}

// temporaryError is the error of a folder in which a backup can't be restored to verify it.
func temporaryError(dir, why string, cause error) error {
	return fault.WithCause(fault.Unavailable("temporary_folder", fmt.Sprintf("The backup can't be verified: its rows can't be written to the temporary folder %s (%s)", dir, why)), cause)
}

// CreateVerified is Create, calls written, and then verifies the file. A backup that was written and
// could not be verified is returned with the error.
//
// An encrypted backup is also encrypted for a key that exists only for this run.
func (s *Service) CreateVerified(ctx context.Context, db *sqldb.DB, o CreateOptions, written func(Created) error) (Created, error) {
	var identities []age.Identity
	if len(o.Recipients) > 0 {
		identity, recipient, err := newIdentity(o.Recipients)
		if err != nil {
			return Created{}, fmt.Errorf("backup: %w", err)
		}
		identities, o.Recipients = []age.Identity{identity}, append(slices.Clone(o.Recipients), recipient)
	}
	return s.create(ctx, db, o, func(scratch string, made Created) error {
		if err := written(made); err != nil {
			return err
		}
		s.step("written")
		_, err := s.verifyIn(ctx, scratch, string(s.Location.Service)+"-", Source{File: made.File, Bucket: o.Bucket, Identities: identities})
		return err
	})
}

// newIdentity creates a key of the kind that goes together with recipients.
func newIdentity(with []age.Recipient) (age.Identity, age.Recipient, error) {
	if _, hybrid := with[0].(*age.HybridRecipient); hybrid {
		identity, err := age.GenerateHybridIdentity()
		if err != nil {
			return nil, nil, err
		}
		return identity, identity.Recipient(), nil
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, nil, err
	}
	return identity, identity.Recipient(), nil
}

// unfit is the error of a backup whose rows do not fit the tables.
func unfit(err error) error {
	if fault.HasCode(err, sqldb.CodeBadContent) {
		return damaged(strings.TrimPrefix(fault.Of(err).Message, "The content "), err)
	}
	return err
}

// check is an error when a backup is another service's, or of a version that this program does not know.
func (s *Service) check(h Header) error {
	if h.Service != s.Location.Service {
		return fault.Conflict("other_service", fmt.Sprintf("The backup is of another service: it is of %.20q, expected %q", h.Service, s.Location.Service))
	}
	known, err := s.Database.Latest()
	if err != nil {
		return err
	}
	for schema, version := range h.Versions {
		if version > known[schema] {
			return fault.Conflict(CodeNewer, "The backup was written by a newer version of countersign")
		}
		if version < 0 {
			return damaged("it has a version below zero", nil)
		}
	}
	return nil
}

// files takes what a backup holds beside rows.
type files struct {
	// uploadedFile takes an uploaded file. Its digest is "" when no row refers to it.
	uploadedFile func(want blob.Expected, size int64, from io.Reader) error
	keyFile      func(text string) error
}

// load reads a whole backup, loads its rows, and compares what was loaded with what was written.
func (s *Service) load(ctx context.Context, from Source, r *Reader, l sqldb.Load, f files) (info Info, err error) {
	info.Header = r.Header
	empty, err := l.Content(ctx)
	if err != nil {
		return info, err
	}
	if err := sameTables(empty.Tables, r.Header.Tables); err != nil {
		return info, err
	}
	if err := r.Tables(func(t sqldb.Table, next func() ([]any, error)) error { return l.Table(ctx, t, next) }); err != nil {
		return info, err
	}
	c, err := l.Content(ctx)
	if err != nil {
		return info, err
	}
	if info.Lacks, err = s.loadMedia(ctx, r, c, f); err != nil {
		return info, err
	}
	text, err := r.KeyFile()
	if err != nil {
		return info, err
	}
	if info.Manifest, err = r.End(); err != nil {
		return info, err
	}
	if info.Authenticity, err = s.authenticate(from, r.Header, info.Manifest); err != nil {
		return info, err
	}
	if err := s.checkKeyText(r.Header, text); err != nil {
		return info, err
	}
	if err := checkRows(ctx, c, info); err != nil {
		return info, err
	}
	return info, f.keyFile(text)
}

// loadMedia reads the uploaded files, and returns those that the backup does not have as they were uploaded.
func (s *Service) loadMedia(ctx context.Context, r *Reader, c *sqldb.Content, f files) ([]blob.Lack, error) {
	comparison, err := s.comparison(ctx, c)
	if err != nil {
		return nil, err
	}
	err = r.Media(func(key string, size int64, from io.Reader) error {
		read := blob.NewDigestReader(from, size)
		if err := f.uploadedFile(comparison.Of(key), size, read); err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, read); err != nil {
			return damaged("it can't be read to its end", err)
		}
		comparison.Found(key, read)
		return nil
	})
	if err != nil || !r.Header.Media {
		return nil, err
	}
	return comparison.Lacks(), nil
}

// checkRows is an error unless the rows that were loaded are those that were written.
func checkRows(ctx context.Context, c *sqldb.Content, info Info) error {
	for _, t := range info.Header.Tables {
		sum, err := sumTable(ctx, c, t, func() {})
		if err != nil {
			return err
		}
		if sum != info.Manifest.Tables[t.Name] {
			return damaged(fmt.Sprintf("the table %s has other rows than were written", t.Name), nil)
		}
	}
	if check, err := c.Meta(ctx, keyfile.CheckName); err != nil || check != info.Header.Key {
		return damaged("its rows belong to another key file than it says", err)
	}
	return nil
}

// checkKeyText is an error when the key file in a backup is not the one that its rows belong to.
func (s *Service) checkKeyText(h Header, text string) error {
	if h.KeyFile != (text != "") {
		return damaged("it says that it holds the key file, and does not, or the reverse", nil)
	}
	if text == "" {
		return nil
	}
	box, err := keyfile.Parse(text)
	if err != nil || !box.Matches(h.Key) {
		return damaged("the key file in it does not belong to its rows", nil)
	}
	return nil
}

// sameTables is an error unless the tables of a backup are those that the schemas have.
func sameTables(want, got []sqldb.Table) error {
	name := func(t sqldb.Table) string { return t.Name }
	a, b := sqldb.Convert(want, name), sqldb.Convert(got, name)
	slices.Sort(a)
	slices.Sort(b)
	if !slices.Equal(a, b) {
		return damaged(fmt.Sprintf("it has %d tables, expected the %d of its version", len(b), len(a)), nil)
	}
	return nil
}
