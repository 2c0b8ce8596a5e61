package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Service is what is backed up: a store or an addon.
type Service struct {
	Location *keyfile.Location
	// Database says where the database is, and has the schemas.
	Database sqldb.Options
	// Media is where uploaded files are, nil for a service without any.
	Media *blob.Bucket
	// Files lists the uploaded files that content refers to, nil for a service without any.
	Files func(ctx context.Context, c *sqldb.Content) ([]blob.Expected, error)
	Now   func() time.Time

	// reached is told of each step of a restore, and when a backup is verified next; nil for nobody.
	reached func(step string)
}

// CreateOptions say what goes into a backup, and where it goes.
type CreateOptions struct {
	// Folder is where it goes, "" for the folder of backups in the data folder.
	Folder string
	// File is the path of the file in place of Folder.
	File string
	// Bucket is where it goes in place of a folder, nil for none.
	Bucket *blob.Bucket
	// KeyFile puts the key file into it, NoMedia leaves uploaded files out.
	KeyFile, NoMedia bool
	// Recipients can read it; without any it is not encrypted.
	Recipients []age.Recipient
}

func (s *Service) log() *slog.Logger {
	if s.Database.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return s.Database.Log
}

// Created is a new backup.
type Created struct {
	// File is its path, or its name in the bucket.
	File string
	Size int64
	Info Info
	// Unrecorded is why the audit log has no entry of it, nil for a backup with one.
	Unrecorded error
}

// Folder is where backups go by default.
func (s *Service) Folder() string { return filepath.Join(s.Location.Dir, "backups") }

// Create writes a backup of an open database. The service may go on with its work, also in other
// processes. A file that is there is a whole backup.
func (s *Service) Create(ctx context.Context, db *sqldb.DB, o CreateOptions) (Created, error) {
	return s.create(ctx, db, o, func(string, Created) error { return nil })
}

// create writes a backup, and then calls then with the folder of temporary files, while no other
// backup is written there. With an error of then, it also returns the backup.
func (s *Service) create(ctx context.Context, db *sqldb.DB, o CreateOptions, then func(scratch string, made Created) error) (Created, error) {
	folder := s.Folder()
	if o.Folder != "" {
		folder = o.Folder
	}
	if o.File != "" {
		folder = filepath.Dir(o.File)
	}
	scratch := folder // of copies that are not encrypted
	if o.Bucket != nil || len(o.Recipients) > 0 {
		scratch = s.Folder()
	}
	locked := []string{scratch}
	if o.Bucket == nil && folder != scratch {
		locked = append(locked, folder)
	}
	unlock, err := s.lock(locked)
	if err != nil {
		return Created{}, err
	}
	defer unlock()
	check, err := db.Queries().Meta(ctx, keyfile.CheckName)
	if err != nil {
		return Created{}, err
	}
	name := fileName{service: s.Location.Service, at: s.Now(), key: keyfile.KeyName(check), encrypted: len(o.Recipients) > 0}
	made := Created{File: o.File}
	write := func(to io.Writer) (err error) {
		made.Info, err = s.write(ctx, db, scratch, to, o)
		return err
	}
	switch {
	case o.Bucket != nil:
		if made.File, err = freeKey(ctx, o.Bucket, name); err == nil {
			made.Size, err = writeBucket(ctx, s.log(), o.Bucket, made.File, write)
		}
	case o.File != "":
		made.Size, err = writeFile(o.File, write)
	default:
		made.File, made.Size, err = writeNew(folder, name, write)
	}
	if err != nil {
		return Created{}, err
	}
	return made, then(scratch, made)
}

// lock creates folders, lets nobody else write backups there until unlock is called, and removes
// what killed ones left.
func (s *Service) lock(folders []string) (unlock func(), err error) {
	var locks []func()
	unlock = func() {
		for _, unlock := range locks {
			unlock()
		}
	}
	service := string(s.Location.Service)
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			unlock()
			return nil, folderError(dir, err)
		}
		one, err := lockFolder(dir, service)
		if err != nil {
			unlock()
			return nil, err
		}
		locks = append(locks, one)
		removeLeftOver(dir, service)
	}
	return unlock, nil
}

// tidy removes what killed ones left in the folder of backups, unless a backup is being written there.
func (s *Service) tidy() {
	if _, err := os.Stat(s.Folder()); err != nil {
		return
	}
	if unlock, err := s.lock([]string{s.Folder()}); err == nil { // or the next backup does it, or says what is wrong
		unlock()
	}
}

// write writes a backup, encrypted or not.
func (s *Service) write(ctx context.Context, db *sqldb.DB, scratch string, to io.Writer, o CreateOptions) (Info, error) {
	if len(o.Recipients) == 0 {
		return s.writePlain(ctx, db, scratch, to, o)
	}
	sealed, err := age.Encrypt(to, o.Recipients...)
	if err != nil {
		return Info{}, fmt.Errorf("backup: encrypt: %w", err)
	}
	info, err := s.writePlain(ctx, db, scratch, sealed, o)
	info.Encrypted = true
	if err == nil {
		err = sealed.Close()
	}
	return info, err
}

func (s *Service) writePlain(ctx context.Context, db *sqldb.DB, scratch string, to io.Writer, o CreateOptions) (info Info, err error) {
	err = db.Content(ctx, scratch, func(c *sqldb.Content) error {
		h := Header{
			Format: formatVersion, Service: s.Location.Service, Engine: db.Engine(), CreatedAt: s.Now().UTC().Truncate(time.Second),
			KeyFile: o.KeyFile, Media: s.Media != nil && !o.NoMedia, Versions: c.Versions, Sequences: c.Sequences, Tables: c.Tables,
		}
		if h.Key, err = c.Meta(ctx, keyfile.CheckName); err != nil {
			return err
		}
		a, err := newArchive(to, h)
		if err != nil {
			return err
		}
		info, err = s.fill(ctx, a, c, h)
		return err
	})
	return info, err
}

// fill writes what follows the header.
func (s *Service) fill(ctx context.Context, a *archive, c *sqldb.Content, h Header) (info Info, err error) {
	info.Header = h
	for _, t := range c.Tables {
		if err := a.addTable(ctx, c, t); err != nil {
			return info, err
		}
	}
	if h.Media {
		if info.Lacks, err = s.addMedia(ctx, a, c); err != nil {
			return info, err
		}
	}
	if h.KeyFile {
		if err := s.addKeyFile(a, h.Key); err != nil {
			return info, err
		}
	}
	if box, err := s.Location.Load(); err == nil && box.Matches(h.Key) {
		a.box, info.Authenticity = box, Authentic
	}
	err = a.close()
	info.Manifest = a.manifest
	return info, err
}

// addMedia adds the uploaded files. It returns those that the content refers to and that are not there as they were
// uploaded. It is an error of kind Unavailable ([CodeFilesMissing]) when their whole folder is missing: the disk may not
// be mounted.
func (s *Service) addMedia(ctx context.Context, a *archive, c *sqldb.Content) ([]blob.Lack, error) {
	files, err := s.comparison(ctx, c)
	if err != nil {
		return nil, err
	}
	err = s.Media.Each(ctx, "", func(key string, _ int64) error {
		if !validKey(key) {
			return nil // not one of ours
		}
		return s.addFile(ctx, a, files, key)
	})
	if err != nil {
		return nil, err
	}
	for _, key := range files.Left() {
		if !s.Media.HasFolder(key) {
			return nil, fault.Unavailable(CodeFilesMissing, fmt.Sprintf("The folder of uploaded files is missing in %s: %s", s.Media, blob.LacksText(files.Lacks())))
		}
	}
	return files.Lacks(), nil
}

func (s *Service) addFile(ctx context.Context, a *archive, files *blob.Comparison, key string) error {
	from, err := s.Media.Read(ctx, key)
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return nil // it was removed meanwhile, or is missing
	case blob.IsUnreadable(err):
		files.Lack(key, "can't be read")
		return nil
	case err != nil:
		return err
	}
	defer from.Close()
	read := blob.NewDigestReader(from, from.Size())
	if err := a.addUploadedFile(key, from.Size(), read); err != nil {
		return err
	}
	files.Found(key, read)
	return nil
}

// comparison is with the uploaded files that content refers to.
func (s *Service) comparison(ctx context.Context, c *sqldb.Content) (*blob.Comparison, error) {
	if s.Files == nil {
		return blob.NewComparison(nil), nil
	}
	list, err := s.Files(ctx, c)
	return blob.NewComparison(list), err
}

func (s *Service) addKeyFile(a *archive, check string) error {
	text, err := s.Location.Text(check)
	if err != nil {
		return err
	}
	return a.add(keyMember, int64(len(text)), strings.NewReader(text))
}

func folderError(dir string, err error) error {
	return fault.WithCause(fault.Unavailable("backup_folder", fmt.Sprintf("Backups can't be written to %s (%v)", dir, fault.FileReason(err))), err)
}
