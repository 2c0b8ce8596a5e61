package frame_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/webtest"
)

func TestAFormThatIsTooLargeIsRefusedBeforeItsEnd(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.administrator(t)
	const head = "POST /admincp/login HTTP/1.1\r\nHost: a\r\nSec-Fetch-Site: same-origin\r\n"
	for name, text := range map[string]string{
		"chunks, once they pass the limit": head + "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n" + webtest.Chunks(1<<20+1<<10),
		"a length":                         head + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1048577\r\n\r\nemail=",
		"parts with a length":              head + "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1048577\r\n\r\n--b\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			if res := webtest.Unfinished(t, s.server.URL, text); res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
				t.Errorf("%s, the connection's last: %v", res.Status, res.Close)
			}
		})
	}
}

// lateBody is a body that does not arrive in time: net/http ends the request's context then.
type lateBody struct {
	io.Reader
	end context.CancelFunc
}

func (b lateBody) Read([]byte) (int, error) {
	b.end()
	return 0, os.ErrDeadlineExceeded
}

func TestAFormThatNeverEndsIsAnsweredWithAPage(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.administrator(t)
	ctx, end := context.WithCancel(t.Context())
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/admincp/login", lateBody{end: end})
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	s.server.Config.Handler.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "The form could not be read.") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
