package pages_test

import (
	"net/http"
	"strings"
	"testing"
)

const auditPath = "/api-addons/admin/audit"

func TestAuditLogIsDownloadedAsThePageShowsIt(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.fillIn(t)
		b := s.signedIn(t)
		p := b.get(auditPath + "?about=package&who=tester")
		for name, want := range map[string]struct{ kind, line string }{
			"audit.csv":   {"text/csv; charset=utf-8", ",package.add,2 Gold,"},
			"audit.jsonl": {"application/jsonl; charset=utf-8", `"action":"package.add","subject":"2 Gold"`},
		} {
			links := p.having("href", "/api-addons/admin/"+name+"?about=package&who=tester")
			if len(links) != 1 {
				t.Fatalf("nothing leads to %s", name)
			}
			file := b.get(attr(links[0], "href")).status(http.StatusOK)
			if got := file.Header.Get("Content-Type"); got != want.kind {
				t.Errorf("%s is %s", name, got)
			}
			if got := file.Header.Get("Content-Disposition"); got != `attachment; filename="`+name+`"` {
				t.Errorf("%s: %s", name, got)
			}
			if !strings.Contains(file.body, want.line) || strings.Contains(file.body, "settings.publish") || strings.Count(file.body, "package.add") != 3 {
				t.Errorf("%s holds %s", name, file.body)
			}
			b.get("/api-addons/admin/"+name, "Accept", "application/json").status(http.StatusOK)
			if all := b.get("/api-addons/admin/" + name).body; !strings.Contains(all, "settings.publish") || strings.Contains(all, privateKey()[30:60]) {
				t.Errorf("%s holds %s", name, all)
			}
		}
		b.get(auditPath + "?who=nobody").says("No line").silentAbout("Download as CSV")
	})
}
