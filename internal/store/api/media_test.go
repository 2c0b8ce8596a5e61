package api_test

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
)

// uploaded puts a picture and a file in the slots of an item, and returns the picture's path.
func uploaded(t *testing.T, s *store.Store) (path string, file media.UploadedFile) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 6, 4))))
	operator := people.Operator("tester")
	must.Get(s.Media.SetItem(t.Context(), operator, 1229, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("secret")}))(t)
	i, err := s.Media.SetItem(t.Context(), operator, 1229, media.Thumbnail, media.Upload{Name: "rain.png", From: &b})
	must.Do(t, err)
	file, _, err = s.Media.ItemFile(t.Context(), operator, 1229)
	must.Do(t, err)
	return i.Media.Thumbnail, file
}

func TestUploadedFilesAreServedAsNothingElse(t *testing.T) {
	t.Parallel()
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		h := newHandler(s, 0)
		path, _ := uploaded(t, s)
		ask := func(method string, header ...string) (*http.Response, string) {
			t.Helper()
			r := call(h, method, path, "", header...)
			body := must.Get(io.ReadAll(r.Body))(t)
			return r, string(body)
		}
		whole, content := ask("GET")
		if c, err := png.DecodeConfig(strings.NewReader(content)); err != nil || c.Width != 6 {
			t.Error(err)
		}
		for name, want := range map[string]string{
			"Content-Type": "image/png", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox",
			"Cache-Control": "public, max-age=31536000, immutable", "Accept-Ranges": "bytes",
		} {
			expect.Equalf(t, whole.Header.Get(name), want, "%s", name)
		}
		etag := whole.Header.Get("ETag")
		expect.Equalf(t, len(etag), 66, "the ETag is %s", etag)
		if head, body := ask("HEAD"); head.StatusCode != http.StatusOK || body != "" || head.ContentLength != int64(len(content)) || head.Header.Get("ETag") != etag {
			t.Errorf("HEAD: %s, %d of %d bytes", head.Status, head.ContentLength, len(content))
		}
		if part, body := ask("GET", "Range", "bytes=1-3"); part.StatusCode != http.StatusPartialContent || body != "PNG" || part.Header.Get("Content-Type") != "image/png" {
			t.Errorf("a range: %s, %q", part.Status, body)
		}
		if end, body := ask("GET", "Range", "bytes=-12", "If-Range", etag); end.StatusCode != http.StatusPartialContent || body != content[len(content)-12:] {
			t.Errorf("the end: %s", end.Status)
		}
		if beyond, _ := ask("GET", "Range", "bytes=99999-"); beyond.StatusCode != http.StatusRequestedRangeNotSatisfiable {
			t.Errorf("beyond the end: %s", beyond.Status)
		}
		if same, body := ask("GET", "If-None-Match", etag); same.StatusCode != http.StatusNotModified || body != "" {
			t.Errorf("what a client has: %s", same.Status)
		}
		if posted, _ := ask("POST"); posted.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("POST: %s", posted.Status)
		}
	})
}

func TestNothingElseIsServedAsAnUploadedFile(t *testing.T) {
	t.Parallel()
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		h := newHandler(s, 0)
		path, file := uploaded(t, s)
		name := strings.TrimPrefix(path, "/media/")
		for _, target := range []string{
			"/media/" + file.Name, "/media/private/" + file.Name, "/media/private%2f" + file.Name, "/media/..%2fprivate%2f" + file.Name,
			"/media/..%2f..%2fstore.db", "/media/%2e%2e%2fstore.db", `/media/..%5cstore.db`, "/media/", "/media/.", "/media/..", "/media/check",
			"/media/public%2f" + name, "/media/" + strings.ToUpper(name), "/media/" + name + "%00", "/media/" + name + ".tmp", "/media/" + strings.TrimSuffix(name, ".png"),
			"/media/" + strings.TrimSuffix(name, ".png") + ".jpg", "/media/%ff%fe.png", "/media/aaaaaaaaaaaaaaaaaaaaaaaaaa.png",
		} {
			r := call(h, "GET", target, "")
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != http.StatusNotFound || bytes.Contains(body, []byte("secret")) || r.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %s, %q", target, r.Status, body)
			}
		}
	})
}

func TestTheAPINamesUploadedFilesByTheirWholeAddress(t *testing.T) {
	t.Parallel()
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		server := httptest.NewServer(newHandler(s, 0))
		defer server.Close()
		path, _ := uploaded(t, s)
		_, key, err := s.CreateKey(t.Context(), people.Operator("tester"), store.NewKey{Workspace: "ada", Name: "uploads", Class: store.ClassSecret})
		must.Do(t, err)
		for _, target := range []string{"/api/items/item?item_id=1229", "/api/items/all"} {
			r := must.Get(http.NewRequestWithContext(t.Context(), "GET", server.URL+target, nil))(t)
			r.Header.Set("X-Api-Key", key)
			answer := must.Get(http.DefaultClient.Do(r))(t)
			defer answer.Body.Close()
			var body struct {
				Item  countersign.Item
				Items []countersign.Item
			}
			must.Do(t, json.NewDecoder(answer.Body).Decode(&body))
			found := false
			for _, i := range append(body.Items, body.Item) {
				found = found || i.ID == 1229 && strings.HasPrefix(i.Media.Thumbnail, "http://") && strings.HasSuffix(i.Media.Thumbnail, path)
			}
			if !found {
				t.Errorf("%s does not have it", target)
			}
		}
	})
}
