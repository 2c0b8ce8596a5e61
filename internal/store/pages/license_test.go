package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/webtest"
	"github.com/countersign/countersign/license"
)

// filesOf are the license files that a page hands over, by what they are saved as.
func filesOf(p *webtest.Page) map[string]string {
	p.T.Helper()
	found := map[string]string{}
	for _, n := range p.All("a") {
		if _, text, there := strings.Cut(webtest.Attr(n, "href"), "data:application/octet-stream,"); there {
			found[webtest.Attr(n, "download")] = text
		}
	}
	return found
}

// opens fails the test unless the text is a license of the shop for the host.
func (s shop) opens(t *testing.T, text, host string) license.License {
	t.Helper()
	keys := must.Get(license.ReadKeySet([]byte(s.get(t, "/.well-known/jwks.json").Body)))(t)
	l, err := license.Open(text, keys, host, today)
	if err != nil {
		t.Fatalf("the file for %s: %v", host, err)
	}
	return l
}

func TestACodeAndADomainBecomeAFile(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		s.get(t, "/license").Status(http.StatusOK).Says("Get a license file", "Purchase code", "Domain of the site", "test domains")
		p := s.post(t, "/license", "code", " LICENSE-USED ", "domain", "https://www.Shop.example/start", "tests", "").Status(http.StatusOK)
		p.Says("Your license file", "shop.example", "(1229)", "Regular", "ada", "No expiry", "Until 27 Apr 2027, 12:00 UTC", "What to do next", "Replace the license file")
		text := filesOf(p)["license-shop.example.jwt"]
		l := s.opens(t, text, "www.shop.example")
		if l.ItemID != 1229 || !strings.HasPrefix(l.Issuer, "urn:countersign:") || len(filesOf(p)) != 1 {
			t.Errorf("the license is %+v, of %d files", l, len(filesOf(p)))
		}
		if copied := p.Having("value", text); len(copied) != 1 {
			t.Error("the text can't be copied")
		}
		again := s.post(t, "/license", "code", "license-used", "domain", "shop.example").Status(http.StatusOK)
		expect.Equalf(t, filesOf(again)["license-shop.example.jwt"], text, "asking again gives another license")
	})
}

func TestTestDomainsGetFilesOfTheirOwn(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-fresh", "domain", "shop.example", "tests", "localhost, shop.test;192.168.1.20").Status(http.StatusOK)
		files := filesOf(p)
		for name, host := range map[string]string{
			"license-shop.example.jwt": "shop.example", "license-localhost.jwt": "localhost", "license-shop.test.jwt": "shop.test", "license-192.168.1.20.jwt": "192.168.1.20",
		} {
			s.opens(t, files[name], host)
		}
		expect.Equalf(t, len(files), 4, "files")
	})
}

func TestADomainThatCountsIsNoTestDomainAndNothingIsIssued(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		for tests, why := range map[string]string{
			"localhost other.example": "other.example is not a test domain", "co.uk": "co.uk", strings.Repeat("a.test ", 11): "at most 10",
		} {
			p := s.post(t, "/license", "code", "license-fresh", "domain", "shop.example", "tests", tests).Status(http.StatusUnprocessableEntity)
			p.Wrong("tests", why).Says("No file was created.")
			if typed := p.Having("id", "field-tests"); webtest.Attr(typed[0], "value") != strings.TrimSpace(tests) {
				t.Errorf("what was typed is %q", webtest.Attr(typed[0], "value"))
			}
		}
		used, err := s.Licensing.InUse(t.Context(), people.Buyer(people.FrontEndPage, netip.Addr{}), "license-fresh")
		if err != nil || len(used) != 0 {
			t.Errorf("issued: %v, %v", used, err)
		}
		s.post(t, "/license", "code", "license-of-two", "domain", "a.example", "tests", "staging.c.example").Status(http.StatusOK).Says("staging.c.example")
	})
}

func TestErrorsAreSaidByTheirCause(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		s.post(t, "/license").Status(http.StatusUnprocessableEntity).Wrong("code", "Paste the purchase code").Wrong("domain", "Type the domain")
		s.post(t, "/license", "code", "license-used").Status(http.StatusUnprocessableEntity).Wrong("domain", "Type the domain")
		for _, domain := range []string{"co.uk", "not a domain", "*.shop.example"} {
			p := s.post(t, "/license", "code", "license-used", "domain", domain).Status(http.StatusUnprocessableEntity)
			if len(p.Having("id", "field-domain-error")) != 1 || len(filesOf(p)) != 0 {
				t.Errorf("%s: %s", domain, p.Text())
			}
		}
		var same string
		for _, code := range []string{"nobody-sold-this", "license-refunded", "license-charged-back", "license-purchase-revoked", "license-revoked"} {
			p := s.post(t, "/license", "code", code, "domain", "shop.example").Status(http.StatusUnprocessableEntity).Wrong("code", "Purchase code not recognized")
			told := strings.ReplaceAll(p.Body, code, "CODE")
			if same == "" {
				same = told
			}
			expect.Equalf(t, told, same, "a stranger can tell %s from a code that nobody sold", code)
		}
	})
}

func TestAUsedCodeOffersToMove(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-to-move", "domain", "new.example", "tests", "localhost").Status(http.StatusConflict)
		p.Says("already licensed for another domain", "old.example", "since 1 Apr 2026, 00:00 UTC", "Move here", "new.example")
		ask := s.post(t, "/license/move", sentBy(p, "/license/move")...).Status(http.StatusOK).Says(
			"Move the license of old.example to new.example", "one of the 3 moves that the seller allows in a year", "2 are left after it", "The next one is possible 24 hours later")
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").Status(http.StatusConflict) // asking has moved nothing
		sent := sentBy(ask, "/license/move")
		moved := s.post(t, "/license/move", sent...).Status(http.StatusOK).Says("Your license files")
		s.opens(t, filesOf(moved)["license-new.example.jwt"], "new.example")
		s.opens(t, filesOf(moved)["license-localhost.jwt"], "localhost")
		expect.Equalf(t, filesOf(s.post(t, "/license/move", sent...).Status(http.StatusOK))["license-new.example.jwt"], filesOf(moved)["license-new.example.jwt"], "sending the form again gives another license")
		s.post(t, "/license/move", "code", "license-to-move", "from", "new.example", "domain", "third.example").Status(http.StatusConflict).Wrong("domain", "again 24 hours after the last time. The next time is after 2 Nov 2026, 12:00 UTC")
		s.post(t, "/license/move", "code", "license-to-move", "from", "gone.example", "domain", "third.example").Status(http.StatusConflict).Wrong("domain", "gone.example is not licensed")
		s.post(t, "/license/move", "code", "license-moved-often", "from", "d4.example", "domain", "d5.example").Status(http.StatusConflict).Wrong("domain", "The next time is after 1 Feb 2027, 00:00 UTC")
		s.post(t, "/license/move", "code", "nobody-sold-this", "from", "a.example", "domain", "b.example").Status(http.StatusUnprocessableEntity).Wrong("code", "not recognized")
		s.post(t, "/license/move", "code", "license-to-move").Status(http.StatusUnprocessableEntity).Wrong("domain", "Type the domain")
		if again := s.get(t, "/license/move").Status(http.StatusSeeOther); again.Header.Get("Location") != "/license" {
			t.Errorf("it leads to %s", again.Header.Get("Location"))
		}
	})
}

// One refused domain refuses the whole move.
func TestAMoveWithAWrongTestDomainMovesNothing(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		for tests, why := range map[string]string{"localhost other.example": "other.example is not a test domain", "a..b": "."} {
			p := s.post(t, "/license/move", "code", "license-to-move", "from", "old.example", "domain", "new.example", "tests", tests)
			p.Status(http.StatusUnprocessableEntity).Wrong("tests", why).Says("No file was created.")
		}
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").Status(http.StatusConflict).Says("old.example")
	})
}

func TestEachUsedDomainCanBeGivenUp(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-of-two", "domain", "c.example").Status(http.StatusConflict).Says("a.example", "b.example")
		if forms := p.Having("action", "/license/move"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
	})
}

// Neither front end is a way around the limits of the other.
func TestBothFrontEndsShareTheirLimits(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 3, "")
	for range 2 {
		s.post(t, "/license", "code", "nobody-sold-this", "domain", "shop.example").Status(http.StatusUnprocessableEntity)
	}
	s.post(t, "/api/licenses", "purchase_code", "nor-this", "domain", "shop.example").Status(http.StatusNotFound)
	limited := s.post(t, "/license", "code", "guessing-on", "domain", "shop.example").Status(http.StatusTooManyRequests).Says("Too many requests", "Try again in 60 seconds")
	expect.Equalf(t, limited.Header.Get("RateLimit-Limit"), "3", "headers %v", limited.Header)
	s.post(t, "/api/licenses", "purchase_code", "nor-this", "domain", "shop.example").Status(http.StatusTooManyRequests)
	for path, with := range map[string][]string{"/license": nil, "/license/move": {"from", "old.example", "sure", "1"}, "/license/revoke": {"sure", "1"}} {
		valid := append([]string{"code", "license-used", "domain", "shop.example"}, with...)
		s.post(t, path, valid...).Status(http.StatusTooManyRequests) // whoever guesses on learns nothing
	}

	s = shop{s.Store, frontEnds(t, s.Store, 1_000_000, ""), ""}
	for i := range 60 {
		path, name := "/license", "code"
		if i%2 == 1 {
			path, name = "/api/licenses", "purchase_code"
		}
		s.post(t, path, name, "license-used", "domain", "shop.example").Status(http.StatusOK)
	}
	s.post(t, "/license", "code", "License-Used", "domain", "shop.example").Status(http.StatusTooManyRequests).Says("Try again in 60 minutes")
	s.post(t, "/license/move", "code", "License-Used", "domain", "shop.example").Status(http.StatusTooManyRequests)
	s.post(t, "/license/revoke", "code", "License-Used", "domain", "shop.example", "sure", "1").Status(http.StatusTooManyRequests)
}

func TestAnotherSiteCanSendNoForm(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	r := httptest.NewRequest(http.MethodPost, "/license/move", strings.NewReader("code=license-to-move&from=old.example&domain=evil.example"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	s.send(t, r).Status(http.StatusForbidden)
}

func TestAStoreThatIsNotReadyTellsAStrangerNothingAboutItself(t *testing.T) {
	t.Parallel()
	closed := must.Get(store.Open(t.Context(), store.Options{Options: instance.Options{Dir: t.TempDir(), Now: now}}))(t)
	t.Cleanup(func() { _ = closed.Close() })
	s := shop{closed, frontEnds(t, closed, 0, ""), ""}
	p := s.post(t, "/license", "code", "license-used", "domain", "shop.example").Status(http.StatusServiceUnavailable).Says("The server can't answer right now")
	if p.Header.Get("Retry-After") == "" || strings.Contains(p.Text(), "countersign store ") {
		t.Errorf("%v %s", p.Header, p.Text())
	}
}

func TestTheRestOfTheStoreStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, path := range []string{"/license/other", "/nowhere", "/api/license"} {
		if p := s.get(t, path).Status(http.StatusNotFound); p.Body != `{"status":"error","msg":"Not found"}` {
			t.Errorf("%s: %s", path, p.Body)
		}
	}
	r := httptest.NewRequest(http.MethodDelete, "/license", nil)
	if p := s.send(t, r).Status(http.StatusMethodNotAllowed); !strings.Contains(p.Header.Get("Allow"), "POST") {
		t.Errorf("Allow: %q", p.Header.Get("Allow"))
	}
}

func TestBehindAPathPrefix(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "/store")
	for _, path := range []string{"/store/license", "/license"} {
		p := s.get(t, path).Status(http.StatusOK)
		if forms := p.Having("action", "/store/license"); len(forms) != 1 {
			t.Errorf("%s: %d forms post to /store/license", path, len(forms))
		}
		sheet := webtest.Attr(p.Having("rel", "stylesheet")[0], "href")
		if !strings.HasPrefix(sheet, "/store/assets/") {
			t.Errorf("%s: the style sheet is at %s", path, sheet)
		}
		s.get(t, sheet).Status(http.StatusOK)
	}
}
