package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
)

// Restored is what a restore did.
type Restored struct {
	Info Info
	// Before is the backup of what was there before, "" when nothing was.
	Before string
	// Aside are damaged files of the database before, which were kept.
	Aside []string
	// KeyFile reports that the key file of the backup is in use now.
	KeyFile bool
	// Older reports that the tables are of an older version than this program's.
	Older bool
}

// Restore replaces the database, the key file and the uploaded files by those of a backup. What is
// there is backed up first. The caller has the lock of the data folder.
//
// It is all or nothing: a process that is killed leaves the old database or the new one, each
// with its key file. Uploaded files are added before, and none is removed.
func (s *Service) Restore(ctx context.Context, from Source) (done Restored, err error) {
	r, encrypted, file, err := from.open(ctx)
	if err != nil {
		return done, err
	}
	defer file.Close()
	if err := r.unlessDamaged(s.check(r.Header)); err != nil {
		return done, err
	}
	if err := s.Location.Check(ctx, s.Database); err != nil && !keyfile.IsDatabaseMissing(err) {
		return done, err
	}
	if err := s.finishRekey(ctx); err != nil {
		return done, err
	}
	if err := r.unlessDamaged(s.checkKey(from, r.Header)); err != nil {
		return done, err
	}
	if err := keyfile.MakeFolder(s.Location.Dir); err != nil {
		return done, err
	}
	before, damaged, err := s.backUpFirst(ctx)
	if err != nil {
		return done, err
	}
	done.Before = before
	s.step("read")
	done.Aside, err = sqldb.Replace(ctx, s.Database, r.Header.build(func(l sqldb.Load) error {
		done.Info, err = s.load(ctx, from, r, l, files{
			uploadedFile: func(want blob.Expected, size int64, from io.Reader) error {
				return s.addUploadedFile(ctx, want, size, from)
			},
			keyFile: func(text string) error { return s.stageKey(r.Header, text) },
		})
		s.step("loaded")
		return err
	}))
	if err != nil {
		if damaged != "" && !dropName(damaged, s.Database.Path) {
			done.Aside = append(done.Aside, damaged)
		}
		return done, unfit(err)
	}
	if damaged != "" && !slices.Contains(done.Aside, damaged) {
		done.Aside = append(done.Aside, damaged)
	}
	s.step("replaced")
	box, err := s.Location.FinishReplace(r.Header.Key)
	if err != nil {
		return done, err
	}
	done.KeyFile = r.Header.KeyFile && box != nil
	done.Info.Encrypted = encrypted
	done.Older, err = s.older(r.Header)
	s.step("done")
	return done, err
}

// finishRekey puts a new key file in its place if the database already belongs to it: a replacement that
// was interrupted. The restore would take its place.
func (s *Service) finishRekey(ctx context.Context) error {
	o := s.Database
	o.NoCreate = true
	db, err := sqldb.Open(ctx, o)
	if err != nil {
		return nil //nolint:nilerr // what can't be opened is dealt with when it is backed up
	}
	defer db.Close()
	check, err := db.Queries().Meta(ctx, keyfile.CheckName)
	if err != nil || check == "" {
		return nil //nolint:nilerr // as above
	}
	_, err = s.Location.FinishReplace(check)
	return err
}

// dropName removes a name of a file if the file still has the other one.
func dropName(name, other string) bool {
	one, errOne := os.Stat(name)
	two, errTwo := os.Stat(other)
	return errOne == nil && errTwo == nil && os.SameFile(one, two) && os.Remove(name) == nil
}

func (s *Service) step(name string) {
	if s.reached != nil {
		s.reached(name)
	}
}

// older reports whether a backup is of an older version than this program's.
func (s *Service) older(h Header) (bool, error) {
	known, err := s.Database.Latest()
	for schema, version := range known {
		if h.Versions[schema] < version {
			return true, err
		}
	}
	return false, err
}

// checkKey is a conflict when the key file that a backup belongs to is neither there nor in the
// backup. Where there is another key file, nothing says that the backup was not changed.
func (s *Service) checkKey(from Source, h Header) error {
	box, err := s.Location.Load()
	switch {
	case err == nil && box.Matches(h.Key):
		return nil
	case err == nil && !from.WithoutCode && (h.Key == "" || h.KeyFile && s.Location.KeyText == ""):
		return errOtherKey
	case h.Key == "": // it was made before the service had one
		return nil
	case h.KeyFile && s.Location.KeyText == "":
		return nil
	case h.KeyFile:
		return fault.Conflict(CodeKeyFile, fmt.Sprintf("The backup belongs to the key file named %s, but %s has another key", keyfile.KeyName(h.Key), s.Location.KeyVariable))
	case errors.Is(err, os.ErrNotExist):
		return fault.Conflict(CodeKeyFile, fmt.Sprintf("The backup belongs to the key file named %s and does not hold it; place that key file at %s first", keyfile.KeyName(h.Key), s.Location.Path()))
	case err != nil:
		return s.Location.Unusable(err)
	}
	return fault.Conflict(CodeKeyFile, fmt.Sprintf("The backup belongs to the key file named %s and does not hold it; %s is the one named %s",
		keyfile.KeyName(h.Key), s.Location.Path(), keyfile.KeyName(box.Check())))
}

// stageKey places the key file of a backup beside the one in use, which it replaces when the
// database belongs to it.
func (s *Service) stageKey(h Header, text string) error {
	if box, err := s.Location.Load(); text == "" || (err == nil && box.Matches(h.Key)) {
		return nil
	}
	return keyfile.StageText(s.Location.Dir, text)
}

// backUpFirst backs up what is there. A SQLite file that is too damaged for that is kept under
// another name.
func (s *Service) backUpFirst(ctx context.Context) (file, damaged string, err error) {
	o := s.Database
	o.NoCreate = true
	db, err := sqldb.Open(ctx, o)
	if err == nil {
		defer db.Close()
		var state sqldb.State
		if state, err = db.State(ctx); err == nil && state == sqldb.StateEmpty {
			return "", "", nil
		}
		if state == sqldb.StateNewer {
			return "", "", fault.Conflict("schema_newer", "The database was written by a newer version of countersign; install that version or a later one")
		}
	}
	if err == nil {
		var made Created
		made, err = s.Create(ctx, db, CreateOptions{NoMedia: true})
		file = made.File
	}
	if fault.HasCode(err, sqldb.CodeDamaged) {
		damaged, err = sqldb.KeepDamaged(s.Database.Path)
		return "", damaged, err
	}
	return file, "", err
}

// addUploadedFile adds an uploaded file unless it is there as it was uploaded, or was not compared and has the same size. A name
// is never used for another content.
func (s *Service) addUploadedFile(ctx context.Context, want blob.Expected, size int64, from io.Reader) error {
	if s.Media == nil {
		return nil
	}
	there, err := s.Media.Read(ctx, want.Key)
	if err == nil {
		same := there.Size() == size
		if same && want.Digest != "" {
			read := blob.NewDigestReader(there, size)
			_, err = io.Copy(io.Discard, read)
			same = err == nil && read.Is(want)
		}
		_ = there.Close()
		if same {
			return nil
		}
	} else if !errors.Is(err, blob.ErrNotFound) {
		return err
	}
	_, err = s.Media.Write(ctx, want.Key, from)
	return err
}
