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
		return info, folderError(folder, err)
	}
	defer os.RemoveAll(dir)
	r, encrypted, file, err := from.open(ctx)
	if err != nil {
		return info, err
	}
	defer file.Close()
	if err := s.check(r.Header); err != nil {
		return info, err
	}
	var m Manifest
	o := sqldb.Options{Path: filepath.Join(dir, verifyFile), Schemas: s.Database.Schemas}
	err = sqldb.BuildFile(ctx, o, r.Header.build(func(l sqldb.Load) error {
		m, err = s.load(ctx, r, l, files{
			medium:  func(string, int64, io.Reader) error { return nil },
			keyFile: func(string) error { return nil },
		})
		return err
	}))
	return Info{Header: r.Header, Manifest: m, Encrypted: encrypted}, unfit(err)
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
	medium  func(key string, size int64, from io.Reader) error
	keyFile func(text string) error
}

// load reads a whole backup, loads its rows, and compares what was loaded with what was written.
func (s *Service) load(ctx context.Context, r *Reader, l sqldb.Load, f files) (m Manifest, err error) {
	empty, err := l.Content(ctx)
	if err != nil {
		return m, err
	}
	if err := sameTables(empty.Tables, r.Header.Tables); err != nil {
		return m, err
	}
	if err := r.Tables(func(t sqldb.Table, next func() ([]any, error)) error { return l.Table(ctx, t, next) }); err != nil {
		return m, err
	}
	if err := r.Media(f.medium); err != nil {
		return m, err
	}
	text, err := r.KeyFile()
	if err != nil {
		return m, err
	}
	if m, err = r.End(); err != nil {
		return m, err
	}
	if err := s.checkKeyText(r.Header, text); err != nil {
		return m, err
	}
	c, err := l.Content(ctx)
	if err != nil {
		return m, err
	}
	for _, t := range r.Header.Tables {
		sum, err := sumTable(ctx, c, t, func() {})
		if err != nil {
			return m, err
		}
		if sum != m.Tables[t.Name] {
			return m, damaged(fmt.Sprintf("the table %s has other rows than were written", t.Name), nil)
		}
	}
	if check, err := c.Meta(ctx, keyfile.CheckName); err != nil || check != r.Header.Key {
		return m, damaged("its rows belong to another key file than it says", err)
	}
	return m, f.keyFile(text)
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
