package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/addon/api"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/webtest"
)

func TestABodyThatIsTooLargeIsRefusedBeforeItsEnd(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite)).update(t)
	server := httptest.NewServer(api.New(s.Addon, api.Options{Now: now}))
	defer server.Close()
	const head = "POST /api-addons/admin/app/settings HTTP/1.1\r\nHost: a\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
	for name, text := range map[string]string{
		"chunks, once they pass the limit": head + "Transfer-Encoding: chunked\r\n\r\n" + webtest.Chunks(1<<20+1<<10),
		"a length":                         head + "Content-Length: 1048577\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			if res := webtest.Unfinished(t, server.URL, text); res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
				t.Errorf("%s, the connection's last: %v", res.Status, res.Close)
			}
		})
	}
}
