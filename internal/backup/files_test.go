package backup_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
)

// upload uploads a picture, and returns the name of its file.
func upload(ctx context.Context, t testing.TB, s *store.Store, slot media.Slot) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	w, err := s.Media.SetProfile(ctx, operator, "maker", slot, media.Upload{Name: "picture.png", From: &b})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(media.ProfileAddress(w, slot))
}

func rename(t testing.TB, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// A folder that is not mounted, or can't be read, looks like one without files.
func TestABackupThatLacksUploadedFilesFails(t *testing.T) {
	t.Parallel()
	template.Engines(t, func(t *testing.T, db dbtest.DB) {
		t.Parallel()
		folder, elsewhere := filepath.Join(db.Dir, "media", "public"), t.TempDir()
		with(t, db, func(ctx context.Context, s *store.Store) error {
			replaced, avatar, cover := upload(ctx, t, s, media.Avatar), upload(ctx, t, s, media.Avatar), upload(ctx, t, s, media.Cover)
			if err := s.Media.Sweep(ctx); err != nil { // it notes that nothing refers to the first one
				return err
			}
			rename(t, filepath.Join(folder, replaced), filepath.Join(elsewhere, replaced))
			made, err := s.Backups.Create(ctx, operator, backup.CreateOptions{})
			if err != nil || made.Info.Manifest.Media.Count != 3 { // with the one that no row names
				t.Errorf("without a file that will be removed: %d files, %v", made.Info.Manifest.Media.Count, err)
			}
			rename(t, filepath.Join(folder, cover), filepath.Join(elsewhere, cover))
			wantMissing(ctx, t, s, "1, the first is public/"+cover)
			rename(t, folder, filepath.Join(elsewhere, "public"))
			wantMissing(ctx, t, s, "2, the first is public/"+min(avatar, cover))
			rename(t, filepath.Dir(folder), filepath.Join(elsewhere, "media"))
			wantMissing(ctx, t, s, "2, the first is public/"+min(avatar, cover))
			_, err = s.Backups.Create(ctx, operator, backup.CreateOptions{NoMedia: true})
			return err
		})
	})
}

// wantMissing checks that no backup is written, and why.
func wantMissing(ctx context.Context, t testing.TB, s *store.Store, why string) {
	t.Helper()
	_, err := s.Backups.Create(ctx, operator, backup.CreateOptions{})
	wantCode(t, err, countersign.KindUnavailable, backup.CodeFilesMissing)
	if err != nil && !strings.Contains(err.Error(), why) {
		t.Errorf("%v, want %s", err, why)
	}
	files, err := filepath.Glob(filepath.Join(s.Backups.Service.Folder(), "*.backup*"))
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v, want the one before", files, err)
	}
}
