package pages_test

import (
	"net/http"
	"testing"
)

// sentBy are the fields of the form that posts to an address.
func (p *page) sentBy(action string) (sent []string) {
	p.t.Helper()
	forms := p.having("action", action)
	if len(forms) != 1 {
		p.t.Fatalf("%d forms post to %s", len(forms), action)
	}
	for n := range forms[0].Descendants() {
		if n.Data == "input" {
			sent = append(sent, attr(n, "name"), attr(n, "value"))
		}
	}
	return sent
}

func TestABuyerRevokesALicenseAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		made := s.post(t, "/license", "code", "license-to-move", "domain", "old.example").is(http.StatusOK)
		asked := s.post(t, "/license/revoke", made.sentBy("/license/revoke")...).is(http.StatusOK)
		asked.says("Revoke the license of old.example", "one of the moves", "its domain is free again")
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").is(http.StatusConflict) // nothing happened yet

		sure := asked.sentBy("/license/revoke")
		for range 2 { // sending the form again changes nothing
			s.post(t, "/license/revoke", sure...).is(http.StatusOK).says("The license of old.example has ended", "Make another file")
		}
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").is(http.StatusOK)
		for _, c := range []struct {
			code, domain, why string
			status            int
		}{
			{"license-to-move", "new.example", "less than 24 hours ago", http.StatusConflict},
			{"license-moved-often", "d4.example", "The next time is after 1 Feb 2027, 00:00 UTC", http.StatusConflict},
			{"license-to-move", "gone.example", "gone.example is not in use", http.StatusConflict},
			{"license-used", "co.uk", "co.uk", http.StatusUnprocessableEntity},
			{"nobody-sold-this", "shop.example", "not good here", http.StatusUnprocessableEntity},
			{"license-refunded", "shop.example", "not good here", http.StatusUnprocessableEntity},
		} {
			s.post(t, "/license/revoke", "code", c.code, "domain", c.domain, "sure", "1").is(c.status).says("Nothing was revoked.", c.why)
		}
		s.post(t, "/license/revoke", "code", "license-used").is(http.StatusUnprocessableEntity).wrong("domain", "Type the domain")
		if again := s.get(t, "/license/revoke").is(http.StatusSeeOther); again.header.Get("Location") != "/license" {
			t.Errorf("it leads to %s", again.header.Get("Location"))
		}
	})
}

func TestRevokingIsOfferedBesideMoving(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-of-two", "domain", "c.example").is(http.StatusConflict)
		if forms := p.having("action", "/license/revoke"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
		p = s.post(t, "/license", "code", "license-used", "domain", "shop.example", "tests", "localhost").is(http.StatusOK)
		if forms := p.having("action", "/license/revoke"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
	})
}
