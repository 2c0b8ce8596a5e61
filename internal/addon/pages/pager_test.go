package pages_test

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/webtest"
)

// relativeOf is where the page's link of a relation leads, "" when there is none.
func relativeOf(p *webtest.Page, rel string) string {
	p.T.Helper()
	if found := p.Having("rel", rel); len(found) == 1 {
		return webtest.Attr(found[0], "href")
	}
	return ""
}

func TestPagersSayWhichPartOfHowMuchIsShownAndLeadPageByPage(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		addontest.Execute(t, s.at, `DELETE FROM audit`,
			`INSERT INTO audit (at, actor_kind, actor, face, address, action, workspace, subject, detail, before, after)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1320)
			SELECT '2026-11-01T12:00:00Z', 'operator', CASE WHEN i % 11 = 0 THEN 'eve' ELSE 'bob' END, 'command', '', 'package.add', '', CAST(i AS text), '', '', '' FROM n`,
			`INSERT INTO versions (number, published_at, actor_kind, actor, face, note, restored, settings, body)
			WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 119)
			SELECT i, published_at, actor_kind, actor, face, note, restored, settings, body FROM versions, n WHERE number = 1`)
		s.mustSet(t, "appName", "Rain")
		s.mustPublish(t, "")
		for _, list := range []struct {
			path  string
			pages []string
		}{
			{"/api-addons/admin/audit?who=eve", []string{"Entries 1–50 of 120", "Entries 51–100 of 120", "Entries 101–120 of 120"}},
			{"/api-addons/admin/audit?about=package&who=nobody", []string{""}},
			{"/api-addons/admin/history", []string{"Versions 1–50 of 120", "Versions 51–100 of 120", "Versions 101–120 of 120"}},
		} {
			p := b.Get(list.path)
			var newer []string
			for i, says := range list.pages {
				p.Says(says)
				if got := relativeOf(p, "prev"); (got != "") != (i > 0) {
					t.Errorf("%s: newer leads to %q", says, got)
				}
				newer = append(newer, relativeOf(p, "prev"))
				older := relativeOf(p, "next")
				if (older != "") != (i < len(list.pages)-1) {
					t.Fatalf("%s: older leads to %q", says, older)
				}
				if older != "" {
					p = b.Get(older)
				}
			}
			for i := len(newer) - 1; i > 0; i-- {
				b.Get(newer[i]).Says(list.pages[i-1])
			}
		}
		b.Get("/api-addons/admin/audit").Says("Entries 1–50 of 1,322")
		b.Get("/api-addons/admin/audit?before=1").Says("No matching entries").SilentAbout(" of 1,322")
	})
}
