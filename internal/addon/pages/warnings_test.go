package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/webtest"
)

// TestWarningsLeadToTheirRepair follows the link of every warning before a publish, and of
// the health page.
func TestWarningsLeadToTheirRepair(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	s.mustPackage(t, 3, "Gold", true)
	s.mustSet(t, "appName", "", "pushEnabled", "true", iap.KeyEnabled, "1", iap.KeySandboxEnabled, "1")
	followed := 0
	for _, page := range []string{"/api-addons/admin/app/settings/publish", "/api-addons/admin/health"} {
		p := b.Get(page).Status(http.StatusOK)
		for _, a := range p.All("a") {
			path, anchor, _ := strings.Cut(webtest.Attr(a, "href"), "#")
			if !strings.Contains(webtest.Attr(a, "class"), "self-center") {
				continue
			}
			followed++
			to := b.Get(path).Status(http.StatusOK)
			if anchor != "" && len(to.Having("id", anchor)) == 0 {
				t.Errorf("%s leads to %s, which has no #%s", page, path, anchor)
			}
		}
	}
	if followed < 7 {
		t.Errorf("only %d links were followed", followed)
	}
}
