package frame_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/sqldb"
)

func TestAStrangersFormsWriteNoSession(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		s.administrator(t)
		for _, path := range []string{"/admin", "/admincp/logout", "/admincp/2fa", "/admincp/me/security/password"} {
			b := s.browser(t)
			want := http.StatusSeeOther
			if form := path == "/admin" || strings.HasSuffix(path, "/password"); form {
				want = http.StatusUnprocessableEntity
			}
			b.Post(path, "code", "123456").Status(want)
			expect.Equalf(t, b.Cookie("countersign_session"), "", "POST %s of a stranger begins a session", path)
		}
		n, err := sqldb.One(t.Context(), s.database.Queries(), sqldb.Value[int64], `SELECT count(*) FROM sessions`)
		if err != nil || n != 0 {
			t.Errorf("strangers wrote %d sessions: %v", n, err)
		}
	})
}
