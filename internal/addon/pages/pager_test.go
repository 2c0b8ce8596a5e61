package pages_test

import (
	"testing"
)

// relative is where the page's link of a relation leads, "" when there is none.
func (p *page) relative(rel string) string {
	p.t.Helper()
	if found := p.having("rel", rel); len(found) == 1 {
		return attr(found[0], "href")
	}
	return ""
}

func TestPagersSayWhichPartOfHowMuchIsShownAndLeadPageByPage(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.exec(t, `DELETE FROM audit`,
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
			{"/api-addons/admin/audit?who=eve", []string{"Lines 1–50 of 120", "Lines 51–100 of 120", "Lines 101–120 of 120"}},
			{"/api-addons/admin/audit?about=package&who=nobody", []string{""}},
			{"/api-addons/admin/history", []string{"Versions 1–50 of 120", "Versions 51–100 of 120", "Versions 101–120 of 120"}},
		} {
			p := b.get(list.path)
			var newer []string
			for i, says := range list.pages {
				p.says(says)
				if got := p.relative("prev"); (got != "") != (i > 0) {
					t.Errorf("%s: newer leads to %q", says, got)
				}
				newer = append(newer, p.relative("prev"))
				older := p.relative("next")
				if (older != "") != (i < len(list.pages)-1) {
					t.Fatalf("%s: older leads to %q", says, older)
				}
				if older != "" {
					p = b.get(older)
				}
			}
			for i := len(newer) - 1; i > 0; i-- {
				b.get(newer[i]).says(list.pages[i-1])
			}
		}
		b.get("/api-addons/admin/audit").says("Lines 1–50 of 1,322")
		b.get("/api-addons/admin/audit?before=1").says("No line").silentAbout(" of 1,322")
	})
}
