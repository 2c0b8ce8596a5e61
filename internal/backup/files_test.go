package backup_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
)

func picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))))
	return b.Bytes()
}

// upload uploads a picture, and returns the name of its file.
func upload(ctx context.Context, t testing.TB, s *store.Store, slot media.Slot) string {
	t.Helper()
	w := must.Get(s.Media.SetProfile(ctx, operator, "maker", slot, media.Upload{Name: "picture.png", From: bytes.NewReader(picture(t))}))(t)
	return filepath.Base(media.ProfileAddress(w, slot))
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	must.Do(t, os.Rename(from, to))
}

// backUp creates a backup that lacks files.
func backUp(ctx context.Context, t testing.TB, s *store.Store, lacks ...blob.Lack) backup.Created {
	t.Helper()
	made, err := s.Instance.Backups.Create(ctx, operator, backup.CreateOptions{})
	if err != nil || !slices.Equal(made.Info.Lacks, lacks) {
		t.Errorf("lacks %v, %v, want %v", made.Info.Lacks, err, lacks)
	}
	return made
}

func TestABackupNamesTheUploadedFilesThatItLacks(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		folder, moved := filepath.Join(db.Dir, "media", "public"), t.TempDir()
		with(t, db, func(ctx context.Context, s *store.Store) error {
			replaced, avatar, cover := upload(ctx, t, s, media.Avatar), upload(ctx, t, s, media.Avatar), upload(ctx, t, s, media.Cover)
			if err := s.Media.Sweep(ctx); err != nil { // it notes that nothing refers to the first one
				return err
			}
			rename(t, filepath.Join(folder, replaced), filepath.Join(moved, replaced))
			if made := backUp(ctx, t, s); made.Info.Manifest.Media.Count != 3 { // with the one that no row names
				t.Errorf("without a file that will be removed: %d files", made.Info.Manifest.Media.Count)
			}
			whole := backUp(ctx, t, s)
			rename(t, filepath.Join(folder, cover), filepath.Join(moved, cover))
			missing := blob.Lack{Key: "public/" + cover, Why: "missing"}
			backUp(ctx, t, s, missing)
			spoil(t, filepath.Join(folder, avatar))
			lacks := []blob.Lack{{Key: "public/" + avatar, Why: "damaged"}, missing}
			lacking := backUp(ctx, t, s, lacks...)
			info, err := s.Instance.Backups.Service.Verify(ctx, backup.Source{File: lacking.File})
			if err != nil || !slices.Equal(info.Lacks, lacks) {
				t.Errorf("verified: lacks %v, %v", info.Lacks, err)
			}
			wantRecorded(ctx, t, s, lacking, info)
			rename(t, folder, filepath.Join(moved, "public")) // a disk that is not mounted has none of its folders
			_, err = s.Instance.Backups.Create(ctx, operator, backup.CreateOptions{})
			wantCode(t, err, countersign.KindUnavailable, backup.CodeFilesMissing)
			_, err = s.Instance.Backups.Create(ctx, operator, backup.CreateOptions{NoMedia: true})
			rename(t, filepath.Join(moved, "public"), folder)
			wantHealed(t, db, whole, filepath.Join(folder, avatar), filepath.Join(folder, cover))
			return err
		})
	})
}

// spoil changes a byte of a file.
func spoil(t testing.TB, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, flipped(text, len(text)/2), 0o600)
	}
	must.Do(t, err)
}

// wantRecorded checks that doctor can say what a verified backup lacks.
func wantRecorded(ctx context.Context, t testing.TB, s *store.Store, made backup.Created, info backup.Info) {
	t.Helper()
	must.Get(s.Instance.Backups.RecordVerification(ctx, operator, backup.Source{File: made.File}, info, nil))(t)
	list, err := s.Instance.Backups.Verifications(ctx, operator)
	if err != nil || len(list) != 1 || !strings.HasPrefix(list[0].Lacks, "2 uploaded files: ") {
		t.Errorf("%+v, %v", list, err)
	}
}

// wantHealed checks that a restore brings files back, also one of the same size.
func wantHealed(t testing.TB, db dbtest.DB, whole backup.Created, paths ...string) {
	t.Helper()
	other := at(t, dbtest.New(t, dbtest.SQLite)) // the database of the other place is open
	copyFile(t, filepath.Join(db.Dir, keyfile.FileName), filepath.Join(other.db.Dir, keyfile.FileName))
	other.backups.Media = blob.Folder(filepath.Join(db.Dir, "media"))
	if done := other.restore(t, whole.File); len(done.Info.Lacks) > 0 {
		t.Errorf("the restored backup lacks %v", done.Info.Lacks)
	}
	for _, path := range paths {
		if f, err := os.ReadFile(path); err != nil || !bytes.Equal(f, picture(t)) {
			t.Errorf("%s: %d bytes, %v", path, len(f), err)
		}
	}
}
