package pages_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

const auditPath = "/api-addons/admin/audit"

func TestAuditLogIsDownloadedAsThePageShowsIt(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		p := b.Get(auditPath + "?about=package&who=tester")
		for name, want := range map[string]struct{ kind, line string }{
			"audit.csv":   {"text/csv; charset=utf-8", ",package.add,2 Gold,"},
			"audit.jsonl": {"application/jsonl; charset=utf-8", `"action":"package.add","subject":"2 Gold"`},
		} {
			links := p.Having("href", "/api-addons/admin/"+name+"?about=package&who=tester")
			if len(links) != 1 {
				t.Fatalf("nothing leads to %s", name)
			}
			file := b.Get(webtest.Attr(links[0], "href")).Status(http.StatusOK)
			expect.Equalf(t, file.Header.Get("Content-Type"), want.kind, "%s", name)
			expect.Equalf(t, file.Header.Get("Content-Disposition"), `attachment; filename="`+name+`"`, "%s", name)
			if !strings.Contains(file.Body, want.line) || strings.Contains(file.Body, "settings.publish") || strings.Count(file.Body, "package.add") != 3 {
				t.Errorf("%s holds %s", name, file.Body)
			}
			b.Get("/api-addons/admin/"+name, "Accept", "application/json").Status(http.StatusOK)
			if all := b.Get("/api-addons/admin/" + name).Body; !strings.Contains(all, "settings.publish") || strings.Contains(all, addontest.PrivateKey(addontest.Key())[30:60]) {
				t.Errorf("%s holds %s", name, all)
			}
		}
		b.Get(auditPath + "?who=nobody").Says("No matching entries").SilentAbout("Download as CSV")
	})
}

// slowClient takes some pieces of an answer, then what happens to it meanwhile.
type slowClient struct {
	*httptest.ResponseRecorder
	pieces, waits int
	meanwhile     func(pieces int) error
}

func (c *slowClient) SetWriteDeadline(at time.Time) error {
	if !at.IsZero() {
		c.waits++
	}
	return nil
}

func (c *slowClient) Write(b []byte) (int, error) {
	if err := c.meanwhile(c.pieces); err != nil {
		return 0, err
	}
	c.pieces++
	return c.ResponseRecorder.Write(b)
}

func TestExportOfALargeLog(t *testing.T) {
	s := one(t)
	s.fillIn(t)
	addontest.Execute(t, s.at, `INSERT INTO audit (at, actor_kind, actor, face, address, action, workspace, subject, detail, before, after)
		SELECT at, actor_kind, actor, face, address, action, workspace, subject, '`+strings.Repeat("long ", 40_000)+`', before, after FROM audit WHERE action = 'package.add'`)
	b := s.signedIn(t)
	site := must.Get(url.Parse(s.server.URL))(t)
	for _, tt := range []struct {
		rule      string
		meanwhile func(leave func(), pieces int) error
		aborted   bool
	}{
		{"the client has time for each piece", func(func(), int) error { return nil }, false},
		{"a client that leaves is no fault", func(leave func(), pieces int) error {
			if pieces < 2 {
				return nil
			}
			leave()
			return io.ErrClosedPipe
		}, true},
	} {
		t.Run(tt.rule, func(t *testing.T) {
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api-addons/admin/audit.jsonl", nil)
			for _, c := range b.Jar.Cookies(site) {
				r.AddCookie(c)
			}
			client := &slowClient{ResponseRecorder: httptest.NewRecorder(), meanwhile: func(pieces int) error { return tt.meanwhile(leave, pieces) }}
			defer func() {
				if cause := recover(); (cause == http.ErrAbortHandler) != tt.aborted || !tt.aborted && cause != nil {
					t.Errorf("broken off: %v", cause)
				}
				if client.pieces < 2 || client.waits < client.pieces || client.Code != http.StatusOK {
					t.Errorf("%d, %d pieces, %d deadlines", client.Code, client.pieces, client.waits)
				}
				if strings.Contains(s.log.String(), "level=ERROR") {
					t.Errorf("the log: %s", s.log)
				}
			}()
			s.server.Config.Handler.ServeHTTP(client, r)
		})
	}
}
