package pages_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
)

const (
	mediaPath   = itemPath + "/media"
	profileArea = "/w/ada/settings/profile/media"
)

func TestAnUploadBeyondTheQuotaIsRefused(t *testing.T) {
	t.Parallel()
	teamStore.AnEngine(t, func(t *testing.T, db dbtest.DB) {
		s := openTeamAs(t, db, store.Options{UploadQuota: 2 << 20})
		sendFile(s.as(t, "manager"), mediaPath+"/file", "rain.zip", "", strings.Repeat("x", 1<<20)).LeadsTo(mediaPath)
		s.as(t, "manager").Get(mediaPath).Says("The uploaded files of the workspace take 1 MB of 2 MB.")
		sendFile(s.as(t, "manager"), mediaPath+"/file", "rain.zip", "", strings.Repeat("x", 1<<20+1)).
			Status(http.StatusConflict).Says("may take 2 MB together, and 1 MB is left", "take 1 MB of 2 MB.")
		s.as(t, "owner").Get(profileArea).Says("take 1 MB of 2 MB.")
	})
}

// picture is a PNG, with what may stand behind it.
func picture(t *testing.T, behind string) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 6, 4))))
	return b.String() + behind
}

// sendFile sends the form of a slot as a browser does, whatever its file says that it is.
func sendFile(b *webtest.Browser, path, name, kind, content string) *webtest.Page {
	b.T.Helper()
	slot := path[strings.LastIndexByte(path, '/')+1:]
	quoted := strings.NewReplacer("\\", "\\\\", `"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name)
	body := "--b\r\nContent-Disposition: form-data; name=\"" + slot + "\"; filename=\"" + quoted + "\"\r\nContent-Type: " + kind + "\r\n\r\n" + content + "\r\n--b--\r\n"
	return b.Send("POST", path, strings.NewReader(body), "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
}

func TestAManagerUploadsAndRemovesAPicture(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		b.Get(editPath).Says("Upload files for this item")
		b.Get(mediaPath).Says("Thumbnail", "Preview image", "File for buyers", "At most 10 MB", "At most 2 GB").SilentAbout("Preview video", "Preview audio")
		sendFile(b, mediaPath+"/thumbnail", "rain.png", "image/png", picture(t, "<script>")).LeadsTo(mediaPath)
		address := s.item(t, 1229).Media.Thumbnail
		shown := b.Get(mediaPath).Says("Uploaded: Thumbnail.", address)
		if imgs := shown.All("img"); len(imgs) != 1 || webtest.Attr(imgs[0], "src") != address || webtest.Attr(imgs[0], "alt") == "" {
			t.Error("the picture is not shown")
		}
		b.Get(itemPath).Says(address)
		if preview := previewOf(b.Get(editPath)); !strings.Contains(preview, `"thumbnail": "http://`) || !strings.Contains(preview, address) {
			t.Errorf("the API answers %s", preview)
		}
		b.Get(mediaPath + "/thumbnail").LeadsTo(mediaPath)
		b.Get(mediaPath+"/thumbnail/remove").Says("Remove: Thumbnail", "deleted")
		b.Fill(mediaPath+"/thumbnail/remove", mediaPath+"/thumbnail/remove").LeadsTo(mediaPath)
		expect.Equalf(t, s.item(t, 1229).Media.Thumbnail, "", "is left")
	})
}

func TestThePageOfFilesFollowsTheKindOfTheItem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		for kind, texts := range map[store.Kind][2][]string{
			store.KindAudio: {{"Thumbnail", "Preview audio"}, {"Preview image", "Preview video"}},
			store.KindVideo: {{"Thumbnail", "Preview image", "Preview video"}, {"Preview audio"}},
		} {
			i := s.stock(t, "ada", func(i *store.Item) { i.Kind = kind })
			path := fmt.Sprintf("%s/%d/media", itemsPath, i.ID)
			page := b.Get(path)
			for _, want := range texts[0] {
				expect.Equalf(t, len(page.Having("id", "s-"+strings.ToLower(strings.ReplaceAll(want, " ", "-")))), 1, "%s: no %s", kind, want)
			}
			for _, other := range texts[1] {
				slot := strings.ToLower(strings.ReplaceAll(other, " ", "_"))
				if len(page.Having("name", slot)) > 0 {
					t.Errorf("%s: %s is there", kind, other)
				}
				sendFile(b, path+"/"+slot, "a.png", "image/png", picture(t, "")).Status(http.StatusNotFound)
			}
		}
		i := s.stock(t, "ada", func(i *store.Item) { i.Kind = store.KindAudio })
		path := fmt.Sprintf("%s/%d/media", itemsPath, i.ID)
		sendFile(b, path+"/preview_audio", "a.mp3", "text/html", "ID3\x04\x00\x00\x00\x00\x02\x01"+strings.Repeat("\x00", 100)).LeadsTo(path)
		if players := b.Get(path).All("audio"); len(players) != 1 {
			t.Error("the sound has no player")
		}
	})
}

func TestAnOwnerUploadsPicturesOfTheProfile(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		b.Get("/w/ada/settings/profile").Says("Upload an avatar or a cover")
		sendFile(b, profileArea+"/avatar", "me.png", "image/png", picture(t, "")).LeadsTo(profileArea)
		page := b.Get(profileArea).Says("Uploaded: Avatar.")
		address := webtest.Attr(page.All("img")[0], "src")
		if preview := previewOf(b.Get("/w/ada/settings/profile")); !strings.Contains(preview, `"avatar": "http://`) || !strings.Contains(preview, address) {
			t.Errorf("the API answers %s", preview)
		}
		b.Fill(profileArea+"/avatar/remove", profileArea+"/avatar/remove").LeadsTo(profileArea)
		b.Get(profileArea + "/cover").LeadsTo(profileArea)
		sendFile(b, profileArea+"/thumbnail", "me.png", "image/png", picture(t, "")).Status(http.StatusNotFound)
	})
}

func TestFilesThatLieAreRefusedOnTheirPage(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		before := s.item(t, 1229).Media.Thumbnail
		bomb := "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\xea\x60\x00\x00\xea\x60\x08\x06\x00\x00\x00\x80\xd2\x75\x42"
		for name, c := range map[string]struct{ file, kind, content, says string }{
			"a page":        {"rain.png", "image/png", "<!doctype html><script>alert(1)</script>", "Expected a picture"},
			"SVG":           {"rain.svg", "image/svg+xml", `<svg onload="alert(1)"/>`, "Expected a picture"},
			"a broken one":  {"rain.png", "image/png", picture(t, "")[:60], "damaged"},
			"a bomb":        {"rain.png", "image/png", bomb, "60000 × 60000 pixels"},
			"nothing":       {"rain.png", "image/png", "", "empty"},
			"none":          {"", "application/octet-stream", "", "Choose a file."},
			"a broken name": {"a\xff.png", "image/png", picture(t, ""), "invalid characters"},
		} {
			p := sendFile(b, mediaPath+"/thumbnail", c.file, c.kind, c.content)
			if p.StatusCode != http.StatusUnprocessableEntity && p.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: status %d", name, p.StatusCode)
			}
			p.Says(c.says)
		}
		expect.Equalf(t, s.item(t, 1229).Media.Thumbnail, before, "the thumbnail")
	})
}

func TestTheNameOfAFileIsText(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		for sent, want := range map[string]string{
			`../../<b>rain".zip`: "brain%22.zip", `..\..\thunder.zip`: "thunder.zip", "<script>alert(1)<_script>.zip": "scriptalert(1)_script.zip",
		} {
			sendFile(b, mediaPath+"/file", sent, "text/html", "anything").LeadsTo(mediaPath)
			p := b.Get(mediaPath).Says(want)
			if strings.Contains(p.Body, "<script>alert") || strings.Contains(p.Body, "../") && strings.Contains(p.Body, "..\\") {
				t.Errorf("%q is not text", sent)
			}
		}
		var paths []string
		_ = filepath.Walk(filepath.Join(s.Instance.Options.Dir, "media"), func(path string, _ os.FileInfo, _ error) error { paths = append(paths, path); return nil })
		for _, path := range paths {
			if strings.Contains(path, "zip") {
				t.Errorf("a client has named %s", path)
			}
		}
	})
}

// counted counts what is read of it.
type counted struct {
	io.Reader
	read int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += int64(n)
	return n, err
}

func TestALargeFileIsRefusedBeforeItArrives(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		start := "--b\r\nContent-Disposition: form-data; name=\"thumbnail\"; filename=\"a.png\"\r\n\r\n" + picture(t, "")
		length := int64(64 << 20)
		body := &counted{Reader: io.MultiReader(strings.NewReader(start), io.LimitReader(zeros{}, length-int64(len(start))))}
		r := must.Get(http.NewRequestWithContext(t.Context(), "POST", s.server.URL+mediaPath+"/thumbnail", body))(t)
		r.ContentLength = length
		r.Header.Set("Content-Type", "multipart/form-data; boundary=b")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("Expect", "100-continue")
		answer := must.Get((&http.Client{Jar: b.Jar, Transport: &http.Transport{ExpectContinueTimeout: 1e12}}).Do(r))(t)
		defer answer.Body.Close()
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != http.StatusRequestEntityTooLarge || body.read > 0 || !strings.Contains(string(text), "larger than 10 MB") {
			t.Errorf("status %d, %d bytes were read", answer.StatusCode, body.read)
		}
		// Without its length, it is refused while it arrives.
		p := b.Send("POST", mediaPath+"/thumbnail", io.MultiReader(strings.NewReader(start), io.LimitReader(zeros{}, 12<<20)), "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
		p.Status(http.StatusRequestEntityTooLarge).Says("larger than 10 MB")
	})
}

func TestAFormWithTwoFilesForOneSlotTakesTheFirst(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		part := func(name, content string) string {
			return "--b\r\nContent-Disposition: form-data; name=\"thumbnail\"; filename=\"" + name + "\"\r\n\r\n" + content + "\r\n"
		}
		send := func(body string) *webtest.Page {
			return b.Send("POST", mediaPath+"/thumbnail", strings.NewReader(body), "Content-Type", "multipart/form-data; boundary=b", "Sec-Fetch-Site", "same-origin")
		}
		send(part("a.png", picture(t, "")) + part("b.png", "<script>") + "--b--\r\n").LeadsTo(mediaPath)
		first := s.item(t, 1229).Media.Thumbnail
		send(part("b.png", "<script>") + part("a.png", picture(t, "")) + "--b--\r\n").Status(http.StatusUnprocessableEntity)
		if got := s.item(t, 1229).Media.Thumbnail; got != first || !strings.HasPrefix(got, "/media/") {
			t.Errorf("the thumbnail is %s, was %s", got, first)
		}
	})
}

func TestUploadsAre503WhileTheirFolderCanNotBeWritten(t *testing.T) {
	t.Parallel()
	teamStore.AnEngine(t, func(t *testing.T, db dbtest.DB) {
		file := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(file, nil, 0o600))
		s := openTeamAs(t, db, store.Options{Media: "file://" + filepath.ToSlash(file)})
		sendFile(s.as(t, "manager"), mediaPath+"/thumbnail", "rain.png", "image/png", picture(t, "")).Status(http.StatusServiceUnavailable).Says("Files can't be written")
		s.as(t, "manager").Get(mediaPath).Status(http.StatusOK)
		s.as(t, "administrator").Get("/health").Says("uploaded files")
	})
}
