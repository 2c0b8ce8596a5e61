package pages_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/sqldb"
)

// exec changes the site's database as no rule does.
func (s *site) exec(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sqldb.Open(t.Context(), sqldb.Options{URL: s.at.URL, Path: filepath.Join(s.at.Dir, addon.DatabaseName), Schemas: addondb.Schemas})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.Queries().Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// outdate makes the site one whose tables lack the last steps of this build.
func (s *site) outdate(t *testing.T) {
	t.Helper()
	s.exec(t, `DROP TABLE simulator`, `DROP TABLE numbers`, `DROP TABLE orders`, `DROP TABLE alerts`, `DROP TABLE inbox`, `DROP TABLE grants`, `DROP TABLE memberships`, `DROP TABLE purchase_history`, `DROP TABLE purchase_items`, `DROP TABLE purchases`, `DROP TABLE identities`, `DROP TABLE requests`, `DROP TABLE licenses`, `DROP TABLE event_head`, `DROP TABLE events`, `DROP TABLE webhooks`, `DROP TABLE deliveries`, `DROP TABLE delivery_attempts`, `DROP TABLE purchase_codes`, `DELETE FROM addon_versions WHERE version_id > 1`)
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
