package media_test

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestUnusedFilesAreSweptAfterADay(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		upload := func(slot media.Slot) string {
			t.Helper()
			u := storetest.Picture(t, 3)
			i := must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, slot, u))(t)
			if slot == media.File {
				m, _, err := f.Media.ItemFile(t.Context(), storetest.Operator, 1)
				must.Do(t, err)
				return "private/" + m.Name
			}
			return "public/" + strings.TrimPrefix(i.Media.Thumbnail, "/media/")
		}
		sweep := func(later time.Duration) {
			t.Helper()
			f.Clock.Set(f.Clock.Now().Add(later))
			must.Do(t, f.Media.Sweep(t.Context()))
		}
		old, oldFile := upload(media.Thumbnail), upload(media.File)
		present, file := upload(media.Thumbnail), upload(media.File)
		shared, err := f.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error {
			i.Media.Screenshots = nil
			return nil
		})
		if err != nil || shared.Media.Thumbnail == "" {
			t.Fatal(err)
		}
		all := []string{old, oldFile, present, file}
		slices.Sort(all)
		sweep(0)
		if sweep(23 * time.Hour); !slices.Equal(stored(t, f), all) {
			t.Errorf("%q, want all of %q", stored(t, f), all)
		}
		foreign := filepath.Join(f.At.Dir, "media", "public", "of-somebody-else.txt")
		must.Do(t, os.WriteFile(foreign, nil, 0o600))
		sweep(2 * time.Hour)
		want := []string{present, file, "public/of-somebody-else.txt"}
		if slices.Sort(want); !slices.Equal(stored(t, f), want) {
			t.Errorf("%q, want %q", stored(t, f), want)
		}
		// What is used again is kept.
		must.Get(f.Media.RemoveItem(t.Context(), storetest.Operator, 1, media.Thumbnail))(t)
		sweep(0)
		must.Get(f.EditItem(t.Context(), storetest.Operator, 2, "", func(i *store.Item, _ string) error { i.Media.Thumbnail = shared.Media.Thumbnail; return nil }))(t)
		sweep(25 * time.Hour)
		if sweep(25 * time.Hour); !slices.Equal(stored(t, f), want) {
			t.Errorf("%q, want %q", stored(t, f), want)
		}
	})
}

func TestAnUploadThatWasKilledIsSwept(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		started, ended := make(chan struct{}), make(chan error)
		r, w := io.Pipe()
		go func() {
			_, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, media.File, media.Upload{Name: "rain.zip", From: r})
			ended <- err
		}()
		go func() {
			_, _ = w.Write(make([]byte, 1<<20))
			close(started)
		}()
		<-started
		unfinished := stored(t, f)
		if len(unfinished) != 1 || !strings.HasSuffix(unfinished[0], ".tmp") {
			t.Fatalf("%q", unfinished)
		}
		path := filepath.Join(f.At.Dir, "media", filepath.FromSlash(unfinished[0]))
		copied := path[:len(path)-len(".tmp")] + "0.tmp" // what a kill would have left
		must.Do(t, os.WriteFile(copied, nil, 0o600))
		f.Clock.Set(f.Clock.Now().Add(25 * time.Hour))
		must.Do(t, f.Media.Sweep(t.Context()))
		if got := stored(t, f); len(got) > 0 {
			t.Errorf("%q are left", got)
		}
		w.CloseWithError(io.ErrUnexpectedEOF)
		if err := <-ended; !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
	})
}

// A sweep that has nothing to write does not wait for others who write.
func TestASweepReadsOutsideOfATransaction(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.Thumbnail, storetest.Picture(t, 3)))(t)
		err := f.DB().Tx(t.Context(), func(*storedb.DB) error { return f.Media.Sweep(t.Context()) })
		if err != nil {
			t.Error(err)
		}
	})
}

func TestASweepOfManyFilesIsDoneInPieces(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		must.Do(t, f.DB().Tx(t.Context(), func(tx *storedb.DB) (err error) {
			for range 201 { // more than two pieces
				m := media.UploadedFile{Name: strings.ToLower(rand.Text()) + ".png", WorkspaceID: 1, Kind: media.KindPicture, CreatedAt: sqldb.Time{Time: f.Clock.Now()}}
				err = errors.Join(err, tx.AddUploadedFile(t.Context(), m))
			}
			return err
		}))
		f.Clock.Set(f.Clock.Now().Add(25 * time.Hour))
		must.Do(t, f.Media.Sweep(t.Context()))
		expect.Equalf(t, f.Rows(t, "media"), 0, "files are left")
	})
}
