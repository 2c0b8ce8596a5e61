package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
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
	// Files lists the keys of the uploaded files that content refers to, nil for a service without any.
	Files func(ctx context.Context, c *sqldb.Content) ([]string, error)
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
		for _, t := range c.Tables {
			if err := a.addTable(ctx, c, t); err != nil {
				return err
			}
		}
		if h.Media {
			if err := s.addMedia(ctx, a, c); err != nil {
				return err
			}
		}
		if h.KeyFile {
			if err := s.addKeyFile(a, h.Key); err != nil {
				return err
			}
		}
		info = Info{Header: h, Manifest: a.manifest}
		return a.close()
	})
	return info, err
}

// addMedia adds the uploaded files. It is an error of kind Unavailable ([CodeFilesMissing]) when the
// content refers to others: a folder that can't be read looks like one that has none.
func (s *Service) addMedia(ctx context.Context, a *archive, c *sqldb.Content) error {
	missing := map[string]bool{}
	if s.Files != nil {
		keys, err := s.Files(ctx, c)
		if err != nil {
			return err
		}
		for _, key := range keys {
			missing[key] = true
		}
	}
	err := s.Media.Each(ctx, "", func(key string, _ int64) error {
		if !validKey(key) {
			return nil // not one of ours
		}
		from, err := s.Media.Read(ctx, key)
		if errors.Is(err, blob.ErrNotFound) {
			return nil // nothing referred to it any more
		}
		if err != nil {
			return err
		}
		defer from.Close()
		delete(missing, key)
		return a.addMedium(key, from.Size(), from)
	})
	if err != nil || len(missing) == 0 {
		return err
	}
	first := slices.Min(slices.Collect(maps.Keys(missing)))
	return fault.Unavailable(CodeFilesMissing, fmt.Sprintf("Uploaded files are missing in %s, or can't be read: %d, the first is %s", s.Media, len(missing), first))
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
