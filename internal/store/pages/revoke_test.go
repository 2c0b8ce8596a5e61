package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign/internal/webtest"
)

// sentBy are the fields of the form that posts to an address.
func sentBy(p *webtest.Page, action string) (sent []string) {
	p.T.Helper()
	forms := p.Having("action", action)
	if len(forms) != 1 {
		p.T.Fatalf("%d forms post to %s", len(forms), action)
	}
	for n := range forms[0].Descendants() {
		if n.Data == "input" {
			sent = append(sent, webtest.Attr(n, "name"), webtest.Attr(n, "value"))
		}
	}
	return sent
}

func TestABuyerRevokesALicenseAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		made := s.post(t, "/license", "code", "license-to-move", "domain", "old.example").Status(http.StatusOK)
		asked := s.post(t, "/license/revoke", sentBy(made, "/license/revoke")...).Status(http.StatusOK)
		asked.Says("Revoke the license of old.example", "one of the 3 moves", "2 are left after it", "its domain is free again")
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").Status(http.StatusConflict) // nothing happened yet

		sure := sentBy(asked, "/license/revoke")
		for range 2 { // sending the form again changes nothing
			s.post(t, "/license/revoke", sure...).Status(http.StatusOK).Says("The license of old.example has ended", "Create another file")
		}
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").Status(http.StatusOK)
		for _, c := range []struct {
			code, domain, why string
			status            int
		}{
			{"license-to-move", "new.example", "again 24 hours after the last time", http.StatusConflict},
			{"license-moved-often", "d4.example", "The next time is after 1 Feb 2027, 00:00 UTC", http.StatusConflict},
			{"license-to-move", "gone.example", "gone.example is not licensed", http.StatusConflict},
			{"license-used", "co.uk", "co.uk", http.StatusUnprocessableEntity},
			{"nobody-sold-this", "shop.example", "not recognized", http.StatusUnprocessableEntity},
			{"license-refunded", "shop.example", "not recognized", http.StatusUnprocessableEntity},
		} {
			for _, sure := range []string{"", "1"} { // asked or sure
				s.post(t, "/license/revoke", "code", c.code, "domain", c.domain, "sure", sure).Status(c.status).Says("Nothing was revoked.", c.why)
			}
		}
		s.post(t, "/license/revoke", "code", "license-used").Status(http.StatusUnprocessableEntity).Wrong("domain", "Type the domain")
		if again := s.get(t, "/license/revoke").Status(http.StatusSeeOther); again.Header.Get("Location") != "/license" {
			t.Errorf("it leads to %s", again.Header.Get("Location"))
		}
	})
}

func TestRevokingIsOfferedBesideMoving(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-of-two", "domain", "c.example").Status(http.StatusConflict)
		if forms := p.Having("action", "/license/revoke"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
		p = s.post(t, "/license", "code", "license-used", "domain", "shop.example", "tests", "localhost").Status(http.StatusOK)
		if forms := p.Having("action", "/license/revoke"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
	})
}
