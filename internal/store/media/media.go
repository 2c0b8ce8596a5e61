// Package media keeps the uploaded files of workspaces: the pictures, sounds and videos that
// the API names (spec 2.2, 2.3), and the files that buyers download. A row of the database
// describes each file; its content is in a bucket, under a random name.
package media

import (
	"context"
	"errors"
	"log/slog"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/validation"
)

// UploadedFile is an uploaded file.
type UploadedFile = storedb.UploadedFile

// Kind is what an uploaded file is.
type Kind = storedb.MediaKind

// The kinds of uploaded files. A file is private: it is what buyers download.
const (
	KindPicture = storedb.MediaPicture
	KindAudio   = storedb.MediaAudio
	KindVideo   = storedb.MediaVideo
	KindFile    = storedb.MediaFile
)

// Service keeps uploaded files. Its methods may be called from many goroutines.
type Service struct {
	db         *storedb.DB
	gate       *instance.Gate
	validation *validation.Validator
	bucket     *blob.Bucket
	dir        string // for temporary files
	quota      int64  // bytes of a workspace, 0 for any number
	now        func() time.Time
	log        *slog.Logger
	decodings  *decodings
	inspecting sync.Mutex
	// found are the names of large files that were found damaged.
	found sync.Map
}

// New returns the uploaded files of a store, which are in a bucket. A picture is in dir until it was read. The files of a
// workspace take at most quota bytes, 0 for any number.
func New(db *storedb.DB, gate *instance.Gate, v *validation.Validator, bucket *blob.Bucket, dir string, quota int64, now func() time.Time, log *slog.Logger) *Service {
	return &Service{db: db, gate: gate, validation: v, bucket: bucket, dir: dir, quota: quota, now: now, log: log, decodings: newDecodings()}
}

// What this package writes into the audit log.
const (
	actionSetItem         people.Action = "item.set_media"
	actionRemoveItem      people.Action = "item.remove_media"
	actionSetWorkspace    people.Action = "workspace.set_media"
	actionRemoveWorkspace people.Action = "workspace.remove_media"
	actionCreateLink      people.Action = "purchase.create_download_link"
	actionDownload        people.Action = "purchase.download"
)

// Actions lists the actions that this package writes into the audit log.
func Actions() []people.Action {
	return []people.Action{actionSetItem, actionRemoveItem, actionSetWorkspace, actionRemoveWorkspace, actionCreateLink, actionDownload}
}

// Bucket is where the files are.
func (s *Service) Bucket() *blob.Bucket { return s.bucket }

func (s *Service) timestamp() countersign.Timestamp { return countersign.At(s.now()) }

// Path is the path at which the store serves an uploaded file, also as items and profiles keep it.
func Path(m UploadedFile) string { return rules.MediaPath + m.Name }

// key is where the bucket has an uploaded file. Private files have a folder of their own, so that an
// operator who publishes a bucket can publish the rest alone.
func key(m UploadedFile) string {
	if m.Kind == KindFile {
		return path.Join("private", m.Name)
	}
	return path.Join("public", m.Name)
}

var fileName = regexp.MustCompile(`^` + rules.MediaName + `$`)

// ErrNotFound is the error about an uploaded file that does not exist, or is private.
var ErrNotFound error = fault.NotFound(countersign.CodeNotFound, "")

// Open opens an uploaded file that everybody may see. Close the reader. Other names are [ErrNotFound].
func (s *Service) Open(ctx context.Context, name string) (UploadedFile, blob.Reader, error) {
	if err := s.gate.Ready(); err != nil {
		return UploadedFile{}, blob.Reader{}, err
	}
	if !fileName.MatchString(name) {
		return UploadedFile{}, blob.Reader{}, ErrNotFound
	}
	m, err := s.db.UploadedFile(ctx, name)
	if err == nil && m.Kind == KindFile {
		err = ErrNotFound
	}
	if err != nil {
		return UploadedFile{}, blob.Reader{}, sqldb.IfNotFound(err, ErrNotFound)
	}
	return s.open(ctx, m)
}

func (s *Service) open(ctx context.Context, m UploadedFile) (UploadedFile, blob.Reader, error) {
	r, err := s.bucket.Read(ctx, key(m))
	if errors.Is(err, blob.ErrNotFound) {
		err = ErrNotFound
	}
	if err == nil {
		r, err = s.intact(m, r)
	}
	return m, r, err
}

// ItemFile returns the file that buyers of an item download, for those who see the item. ok is
// false for an item without one.
func (s *Service) ItemFile(ctx context.Context, a people.Actor, item int64) (m UploadedFile, ok bool, err error) {
	workspace, err := s.db.ItemWorkspace(ctx, item)
	if err == nil {
		err = access.In(ctx, s.db, a, workspace, access.View, rules.NoItem(item))
	}
	if err != nil {
		return UploadedFile{}, false, sqldb.IfNotFound(err, rules.NoItem(item))
	}
	m, err = s.db.ItemFile(ctx, item)
	if errors.Is(err, sqldb.ErrNotFound) {
		return UploadedFile{}, false, nil
	}
	return m, err == nil, err
}

// Uploaded reports whether an address is that of an uploaded file of this store.
func Uploaded(address string) bool { return strings.HasPrefix(address, rules.MediaPath) }
