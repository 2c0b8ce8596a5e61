package media_test

import (
	"bytes"
	"errors"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/storetest"
)

// soundFile is the beginning of an MP3.
func soundFile() media.Upload {
	return media.Upload{Name: "rain.mp3", From: strings.NewReader("ID3\x04\x00\x00\x00\x00\x02\x01" + strings.Repeat("\x00", 600))}
}

// stored are the files of the folder of uploads.
func stored(t *testing.T, f *storetest.Fixture) (all []string) {
	t.Helper()
	root := filepath.Join(f.At.Dir, "media")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(root, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// setKind makes item 1 one of a kind.
func setKind(t *testing.T, f *storetest.Fixture, kind store.Kind) {
	t.Helper()
	must.Get(f.EditItem(t.Context(), storetest.Operator, 1, "", func(i *store.Item, _ string) error { i.Kind = kind; return nil }))(t)
}

// read reads an uploaded file by the address that an item has.
func read(t *testing.T, f *storetest.Fixture, address string) (media.UploadedFile, []byte) {
	t.Helper()
	m, r, err := f.Media.Open(t.Context(), strings.TrimPrefix(address, "/media/"))
	must.Do(t, err)
	defer r.Close()
	content := must.Get(io.ReadAll(r))(t)
	return m, content
}

func TestAnUploadedPictureIsWhatTheAPIAnswers(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		actor := f.ActorOf(t, token)
		i := must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.Thumbnail, storetest.Picture(t, 7)))(t)
		m, content := read(t, f, i.Media.Thumbnail)
		if c, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || c.Width != 7 || m.Width != 7 || m.Type != "image/png" || m.Size != int64(len(content)) || len(m.Digest) != 64 || m.Kind != media.KindPicture {
			t.Errorf("%+v, %v", m, err)
		}
		if strings.Contains(i.Media.Thumbnail, "rain") || !strings.HasSuffix(i.Media.Thumbnail, ".png") {
			t.Errorf("the address is %s", i.Media.Thumbnail)
		}
		item, err := f.Validation.Item(t.Context(), actor, 1)
		if err != nil || item.Complete() || !strings.Contains(item.With("https://shop.example"), `"thumbnail":"https://shop.example`+i.Media.Thumbnail+`"`) {
			t.Errorf("%s, %v", item.With("https://shop.example"), err)
		}
		if e := f.NewestAudit(t); e.Action != "item.set_media" || e.Workspace != "ada" || e.Subject != "1" || e.Detail != "thumbnail" || !strings.Contains(e.After, "7 × 2 pixels") || !strings.Contains(e.After, `"rain.png"`) {
			t.Errorf("%+v", e)
		}
		if i, err = f.Media.RemoveItem(t.Context(), storetest.Operator, 1, media.Thumbnail); err != nil || i.Media.Thumbnail != "" {
			t.Error(i.Media.Thumbnail, err)
		}
		if e := f.NewestAudit(t); e.Action != "item.remove_media" || e.Before != "/media/"+m.Name {
			t.Errorf("%+v", e)
		}
	})
}

func TestEachKindOfItemHasItsSlots(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		all := []media.Slot{media.Thumbnail, media.PreviewImage, media.PreviewVideo, media.PreviewAudio, media.File}
		for kind, want := range map[store.Kind]string{store.KindAudio: "thumbnail preview_audio file", store.KindVideo: "thumbnail preview_image preview_video file", store.KindOther: "thumbnail preview_image file"} {
			setKind(t, f, kind)
			for _, slot := range all {
				u := map[media.Kind]media.Upload{
					media.KindPicture: storetest.Picture(t, 3), media.KindAudio: soundFile(), media.KindFile: {Name: "rain.zip", From: strings.NewReader("PK")},
					media.KindVideo: {From: strings.NewReader("\x00\x00\x00\x20ftypisom\x00\x00\x02\x00" + strings.Repeat("\x00", 600))},
				}[slot.Kind()]
				i, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, slot, u)
				if slices.Contains(strings.Fields(want), string(slot)) {
					if err != nil || slot != media.File && !media.Uploaded(media.ItemAddress(i, slot)) {
						t.Errorf("%s, %s: %v", kind, slot, err)
					}
				} else if !fault.HasCode(err, "slot_kind") {
					t.Errorf("%s, %s: %v, want a refusal", kind, slot, err)
				}
			}
		}
		if _, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, "../x", storetest.Picture(t, 3)); !fault.HasCode(err, "slot_unknown") {
			t.Error(err)
		}
		if _, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, media.Avatar, storetest.Picture(t, 3)); !fault.HasCode(err, "slot_unknown") {
			t.Error(err)
		}
	})
}

func TestPicturesOfAProfileAreUploaded(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		for _, slot := range media.ProfileSlots() {
			w, err := f.Media.SetProfile(t.Context(), storetest.Operator, "ada", slot, storetest.Picture(t, 5))
			if err != nil || !media.Uploaded(media.ProfileAddress(w, slot)) {
				t.Fatalf("%s: %v", slot, err)
			}
			if e := f.NewestAudit(t); e.Action != "workspace.set_media" || e.Workspace != "ada" || e.Detail != string(slot) {
				t.Errorf("%+v", e)
			}
			if w, err = f.Media.RemoveProfile(t.Context(), storetest.Operator, "ada", slot); err != nil || media.ProfileAddress(w, slot) != "" {
				t.Error(err)
			}
		}
		if _, err := f.Media.SetProfile(t.Context(), storetest.Operator, "ada", media.Thumbnail, storetest.Picture(t, 5)); !fault.HasCode(err, "slot_unknown") {
			t.Error(err)
		}
	})
}

func TestTheFileOfAnItemIsNeverPublic(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		must.Get(f.Media.SetItem(t.Context(), storetest.Operator, 1, media.File, media.Upload{Name: `..\rain.zip`, From: strings.NewReader("<script>")}))(t)
		m, ok, err := f.Media.ItemFile(t.Context(), storetest.Operator, 1)
		if err != nil || !ok || m.Title != "rain.zip" || m.Size != 8 || m.Type != "application/octet-stream" {
			t.Fatalf("%+v, %v", m, err)
		}
		if _, _, err := f.Media.Open(t.Context(), m.Name); !errors.Is(err, media.ErrNotFound) {
			t.Errorf("anybody reads it: %v", err)
		}
		if got := stored(t, f); !slices.Equal(got, []string{"private/" + m.Name}) {
			t.Errorf("%q are stored", got)
		}
	})
}

func TestWhatIsRefusedLeavesNothingBehind(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		setKind(t, f, store.KindAudio)
		broken := errors.New("the client has left")
		many := func(n int64) io.Reader { return io.LimitReader(zeros{}, n) }
		cases := []struct {
			name string
			slot media.Slot
			u    media.Upload
			want string
		}{
			{"a page that is called a picture", media.Thumbnail, media.Upload{Name: "a.png", From: strings.NewReader("<html><script>")}, "media_type"},
			{"a picture for a sound", media.PreviewAudio, storetest.Picture(t, 3), "media_type"},
			{"nothing", media.File, media.Upload{From: strings.NewReader("")}, "media_empty"},
			{"a picture that says that it is too large", media.Thumbnail, media.Upload{Size: 11 << 20, From: iotest.ErrReader(broken)}, "body_too_large"},
			{"a picture that is too large", media.Thumbnail, media.Upload{From: io.MultiReader(storetest.Picture(t, 3).From, many(11<<20))}, "body_too_large"},
			{"a sound that is too large", media.PreviewAudio, media.Upload{From: io.MultiReader(soundFile().From, many(51<<20))}, "body_too_large"},
		}
		before := len(f.Audits(t))
		for _, c := range cases {
			if _, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, c.slot, c.u); storetest.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %s", c.name, err, c.want)
			}
		}
		if _, err := f.Media.SetItem(t.Context(), storetest.Operator, 1, media.PreviewAudio, media.Upload{From: io.MultiReader(soundFile().From, iotest.ErrReader(broken))}); !errors.Is(err, broken) {
			t.Error(err)
		}
		if got := stored(t, f); len(got) > 0 || len(f.Audits(t)) != before {
			t.Errorf("%q are left, %d entries", got, len(f.Audits(t))-before)
		}
		if i, err := f.ShowItem(t.Context(), storetest.Operator, 1); err != nil || media.Uploaded(i.Media.Thumbnail) {
			t.Error(i.Media.Thumbnail, err)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestABucketOutOfReachRefusesUploadsAlone(t *testing.T) {
	storetest.TwoShopsStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		file := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		o := storetest.OptionsOf(db, storetest.NewClock())
		o.Media = "file://" + filepath.ToSlash(file)
		s := storetest.Open(t, db, o)
		if _, err := s.Media.SetItem(t.Context(), storetest.Operator, 1, media.Thumbnail, storetest.Picture(t, 3)); !fault.HasCode(err, "media_unavailable") || !fault.IsUnavailable(err) {
			t.Error(err)
		}
		if _, err := s.ShowItem(t.Context(), storetest.Operator, 1); err != nil {
			t.Error(err)
		}
		found := false
		for _, one := range s.Doctor(t.Context()) {
			found = found || one.Name == "uploaded files" && one.Level == "fail" && strings.Contains(one.What, file)
		}
		if !found {
			t.Error("doctor does not find it")
		}
		o.Media = "gs://bucket"
		if _, err := store.Open(t.Context(), o); !fault.HasCode(err, "media_url") {
			t.Error(err)
		}
	})
}
