package frame_test

import (
	"net/http"
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
