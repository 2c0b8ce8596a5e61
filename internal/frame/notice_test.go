package frame_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/sqldb"
)

func TestAStrangersFormsWriteNoSession(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		for _, path := range []string{"/admin", "/admincp/logout", "/admincp/2fa", "/admincp/me/security/password"} {
			b := s.browser(t)
			b.post(path, "code", "123456").status(http.StatusSeeOther).leadsTo("/admincp/login")
			if b.token() != "" {
				t.Errorf("POST %s of a stranger begins a session", path)
			}
		}
		n, err := sqldb.One(t.Context(), s.database.Queries(), sqldb.Value[int64], `SELECT count(*) FROM sessions`)
		if err != nil || n != 0 {
			t.Errorf("strangers wrote %d sessions: %v", n, err)
		}
	})
}

func TestSomebodyWhoseSessionIsOverIsToldOnceThatNothingWasSaved(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		b := s.browser(t)
		b.post("/admin", "name", "x").leadsTo("/admincp/login")
		b.get("/admincp/login").says("Nothing was saved: nobody is signed in any more.")
		if again := b.get("/admincp/login").text(); strings.Contains(again, "Nothing was saved") {
			t.Error("it is told twice")
		}
	})
}
