package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/settings"
)

// outdate makes the site one whose tables lack the last steps of this build.
func (s *site) outdate(t *testing.T) {
	t.Helper()
	addontest.Outdate(t, s.at)
	if err := s.Prepare(t.Context()); !strings.Contains(err.Error(), "has to update its database") {
		t.Fatal(err)
	}
}

func TestPagesLeadToTheUpdateAfterANewVersion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		s.outdate(t)
		for _, path := range []string{"/api-addons/admin", appPath, iapPath, apisPath, "/api-addons/admin/nowhere"} {
			b.Get(path).LeadsTo(updatePath)
		}
		b.Post(appPath, "revision", "1", "appName", "Rain").LeadsTo(updatePath)
		b.Get(updatePath).Status(http.StatusOK).Says("A new version was installed.", "Back up the database", "Migrate the tables to this version")
		s.browser(t).Get(updatePath).Status(http.StatusForbidden)
		b.Fill(updatePath, updatePath, "do", "run").Status(http.StatusOK).Says("The update is done", "Backup before the update")
		b.Get("/api-addons/admin").Status(http.StatusOK).Says("The update has run")
		s.wantValue(t, settings.KeyAppName, "My app")
	})
}
