package media_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storetest"
)

// spoil changes the last byte of a file, as a disk may do.
func spoil(t *testing.T, path string) {
	t.Helper()
	text := must.Get(os.ReadFile(path))(t)
	text[len(text)-1] ^= 1
	must.Do(t, os.WriteFile(path, text, 0o600))
}

func TestADamagedFileIsNotServedAsWhole(t *testing.T) {
	storetest.EitherShops(t, func(t *testing.T, f *storetest.Fixture) {
		sold := must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{ItemID: 1, License: "Regular"}))(t)
		for _, c := range []struct {
			name  string
			size  int
			spoil func(t *testing.T, path string)
		}{
			{"a small file", 10, spoil},
			{"a large file", 1<<20 + 1, spoil},
			{"a file that was cut", 10, func(t *testing.T, path string) {
				must.Do(t, os.Truncate(path, 9))
			}},
			{"a file that is missing", 10, func(t *testing.T, path string) {
				must.Do(t, os.Remove(path))
			}},
		} {
			t.Run(c.name, func(t *testing.T) {
				content := strings.Repeat("x", c.size)
				must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader(content)}))(t)
				token, _, err := f.Media.CreateLink(t.Context(), storetest.Operator, sold.ID, time.Hour)
				must.Do(t, err)
				read := func() ([]byte, error) {
					_, r, err := f.Media.Download(t.Context(), token)
					if err != nil {
						return nil, err
					}
					defer r.Close()
					for _, whence := range []int{io.SeekEnd, io.SeekStart} { // as a server finds the size
						must.Get(r.Seek(0, whence))(t)
					}
					return io.ReadAll(r)
				}
				if got, err := read(); err != nil || string(got) != content {
					t.Errorf("whole: %d bytes, %v", len(got), err)
				}
				m, _, err := f.Media.ItemFile(t.Context(), storetest.Operator, 1)
				must.Do(t, err)
				c.spoil(t, filepath.Join(f.At.Dir, "media", "private", m.Name))
				if got, err := read(); err == nil || len(got) >= c.size || fault.HasCode(err, "download_no_file") {
					t.Errorf("damaged: %d bytes, %v", len(got), err)
				}
				if _, r, err := f.Media.Download(t.Context(), token); err == nil {
					r.Close()
					t.Error("a client that resumes gets the rest of what is damaged")
				}
			})
		}
	})
}

func TestFilesAreComparedWithWhatWasUploaded(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		if files, compared, lacks, err := f.Media.Compare(t.Context(), 1<<20); files+compared+len(lacks) != 0 || err != nil {
			t.Errorf("without files: %d, %d, %v, %v", files, compared, lacks, err)
		}
		var paths []string
		var want []blob.Lack
		for _, slot := range []media.Slot{media.Avatar, media.Cover} {
			w := must.Get(f.Media.SetProfile(t.Context(), storetest.Operator, "ada", slot, storetest.Picture(t, 8)))(t)
			name := filepath.Base(media.ProfileAddress(w, slot))
			paths = append(paths, filepath.Join(f.At.Dir, "media", "public", name))
			want = append(want, blob.Lack{Key: "public/" + name, Why: map[media.Slot]string{media.Avatar: "damaged", media.Cover: "missing"}[slot]})
		}
		if files, compared, lacks, err := f.Media.Compare(t.Context(), 1<<20); files != 2 || compared != 2 || len(lacks) > 0 || err != nil {
			t.Errorf("whole: %d, %d, %v, %v", files, compared, lacks, err)
		}
		spoil(t, paths[0])
		must.Do(t, os.Remove(paths[1]))
		if _, _, lacks, err := f.Media.Compare(t.Context(), 1<<20); !slices.Equal(lacks, want) || err != nil {
			t.Errorf("%v, %v, want %v", lacks, err, want)
		}
	})
}
