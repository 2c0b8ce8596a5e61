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
			b.Post(path, "code", "123456").Status(http.StatusSeeOther).LeadsTo("/admincp/login")
			if b.Cookie("countersign_session") != "" {
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
		b.Post("/admin", "name", "x").LeadsTo("/admincp/login")
		b.Get("/admincp/login").Says("Nothing was saved: you are no longer signed in.")
		if again := b.Get("/admincp/login").Text(); strings.Contains(again, "Nothing was saved") {
			t.Error("it is told twice")
		}
	})
}
