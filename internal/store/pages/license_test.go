package pages_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/license"
)

// files are the license files that a page hands over, by what they are saved as.
func (p *page) files() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	for _, n := range p.all(func(n *html.Node) bool { return strings.HasPrefix(attr(n, "href"), "data:") }) {
		_, text, _ := strings.Cut(attr(n, "href"), ",")
		found[attr(n, "download")] = text
	}
	return found
}

// opens fails the test unless the text is a license of the shop for the host.
func (s shop) opens(t *testing.T, text, host string) license.License {
	t.Helper()
	keys, err := license.ReadKeySet([]byte(s.get(t, "/.well-known/jwks.json").body))
	if err != nil {
		t.Fatal(err)
	}
	l, err := license.Open(text, keys, host, today)
	if err != nil {
		t.Fatalf("the file for %s: %v", host, err)
	}
	return l
}

func TestACodeAndADomainBecomeAFile(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		s.get(t, "/license").is(http.StatusOK).says("Get a license file", "Purchase code", "Domain of the site", "test domains")
		p := s.post(t, "/license", "code", " LICENSE-USED ", "domain", "https://www.Shop.example/start", "tests", "").is(http.StatusOK)
		p.says("Your license file", "shop.example", "(1229)", "Regular", "ada", "does not run out", "Until 27 April 2027", "What to do next", "Replace the license file")
		text := p.files()["license-shop.example.jwt"]
		l := s.opens(t, text, "www.shop.example")
		if l.ItemID != 1229 || !strings.HasPrefix(l.Issuer, "urn:countersign:") || len(p.files()) != 1 {
			t.Errorf("the license is %+v, of %d files", l, len(p.files()))
		}
		if copied := p.having("value", text); len(copied) != 1 {
			t.Error("the text can't be copied")
		}
		again := s.post(t, "/license", "code", "license-used", "domain", "shop.example").is(http.StatusOK)
		if again.files()["license-shop.example.jwt"] != text {
			t.Error("asking again gives another license")
		}
	})
}

func TestTestDomainsGetFilesOfTheirOwn(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-fresh", "domain", "shop.example", "tests", "localhost, shop.test;192.168.1.20").is(http.StatusOK)
		files := p.files()
		for name, host := range map[string]string{
			"license-shop.example.jwt": "shop.example", "license-localhost.jwt": "localhost", "license-shop.test.jwt": "shop.test", "license-192.168.1.20.jwt": "192.168.1.20",
		} {
			s.opens(t, files[name], host)
		}
		if len(files) != 4 {
			t.Errorf("%d files", len(files))
		}
	})
}

func TestADomainThatCountsIsNoTestDomainAndNothingIsIssued(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		for tests, why := range map[string]string{
			"localhost other.example": "other.example is not a test domain", "co.uk": "co.uk", strings.Repeat("a.test ", 11): "at most 10",
		} {
			p := s.post(t, "/license", "code", "license-fresh", "domain", "shop.example", "tests", tests).is(http.StatusUnprocessableEntity)
			p.wrong("tests", why).says("No file was made.")
			if typed := p.having("id", "field-tests"); attr(typed[0], "value") != strings.TrimSpace(tests) {
				t.Errorf("what was typed is %q", attr(typed[0], "value"))
			}
		}
		used, err := s.Licensing.InUse(t.Context(), people.Buyer(people.FacePage, netip.Addr{}), "license-fresh")
		if err != nil || len(used) != 0 {
			t.Errorf("issued: %v, %v", used, err)
		}
		s.post(t, "/license", "code", "license-of-two", "domain", "a.example", "tests", "staging.c.example").is(http.StatusOK).says("staging.c.example")
	})
}

func TestErrorsAreSaidByTheirCause(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		s.post(t, "/license").is(http.StatusUnprocessableEntity).wrong("code", "Paste the purchase code").wrong("domain", "Type the domain")
		s.post(t, "/license", "code", "license-used").is(http.StatusUnprocessableEntity).wrong("domain", "Type the domain")
		for _, domain := range []string{"co.uk", "not a domain", "*.shop.example"} {
			p := s.post(t, "/license", "code", "license-used", "domain", domain).is(http.StatusUnprocessableEntity)
			if len(p.having("id", "field-domain-error")) != 1 || len(p.files()) != 0 {
				t.Errorf("%s: %s", domain, p.text())
			}
		}
		var same string
		for _, code := range []string{"nobody-sold-this", "license-refunded", "license-charged-back", "license-purchase-revoked", "license-revoked"} {
			p := s.post(t, "/license", "code", code, "domain", "shop.example").is(http.StatusUnprocessableEntity).wrong("code", "This purchase code is not good here")
			told := strings.ReplaceAll(p.body, code, "CODE")
			if same == "" {
				same = told
			}
			if told != same {
				t.Errorf("a stranger can tell %s from a code that nobody sold", code)
			}
		}
	})
}

func TestAUsedCodeOffersToMove(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-to-move", "domain", "new.example", "tests", "localhost").is(http.StatusConflict)
		p.says("already used for another domain", "old.example", "since 1 April 2026", "Move here", "new.example", "3 moves in a year, 24 hours apart")
		sent := p.sentBy("/license/move")
		moved := s.post(t, "/license/move", sent...).is(http.StatusOK).says("Your license files")
		s.opens(t, moved.files()["license-new.example.jwt"], "new.example")
		s.opens(t, moved.files()["license-localhost.jwt"], "localhost")
		if s.post(t, "/license/move", sent...).is(http.StatusOK).files()["license-new.example.jwt"] != moved.files()["license-new.example.jwt"] {
			t.Error("sending the form again gives another license")
		}
		s.post(t, "/license/move", "code", "license-to-move", "from", "new.example", "domain", "third.example").is(http.StatusConflict).wrong("domain", "less than 24 hours ago. The next time is after 2 Nov 2026, 12:00 UTC.")
		s.post(t, "/license/move", "code", "license-to-move", "from", "gone.example", "domain", "third.example").is(http.StatusConflict).wrong("domain", "gone.example is not in use")
		s.post(t, "/license/move", "code", "license-moved-often", "from", "d4.example", "domain", "d5.example").is(http.StatusConflict).wrong("domain", "The next time is after 1 Feb 2027, 00:00 UTC")
		s.post(t, "/license/move", "code", "nobody-sold-this", "from", "a.example", "domain", "b.example").is(http.StatusUnprocessableEntity).wrong("code", "not good here")
		s.post(t, "/license/move", "code", "license-to-move").is(http.StatusUnprocessableEntity).wrong("domain", "Type the domain")
		if again := s.get(t, "/license/move").is(http.StatusSeeOther); again.header.Get("Location") != "/license" {
			t.Errorf("it leads to %s", again.header.Get("Location"))
		}
	})
}

// One refused domain refuses the whole move.
func TestAMoveWithAWrongTestDomainMovesNothing(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		for tests, why := range map[string]string{"localhost other.example": "other.example is not a test domain", "a..b": "."} {
			p := s.post(t, "/license/move", "code", "license-to-move", "from", "old.example", "domain", "new.example", "tests", tests)
			p.is(http.StatusUnprocessableEntity).wrong("tests", why).says("No file was made.")
		}
		s.post(t, "/license", "code", "license-to-move", "domain", "new.example").is(http.StatusConflict).says("old.example")
	})
}

func TestEachUsedDomainCanBeGivenUp(t *testing.T) {
	engines(t, func(t *testing.T, s shop) {
		p := s.post(t, "/license", "code", "license-of-two", "domain", "c.example").is(http.StatusConflict).says("a.example", "b.example")
		if forms := p.having("action", "/license/move"); len(forms) != 2 {
			t.Errorf("%d forms", len(forms))
		}
	})
}

// Neither face is a way around the limits of the other.
func TestBothFacesShareTheirLimits(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 3, "")
	for range 2 {
		s.post(t, "/license", "code", "nobody-sold-this", "domain", "shop.example").is(http.StatusUnprocessableEntity)
	}
	s.post(t, "/api/licenses", "purchase_code", "nor-this", "domain", "shop.example").is(http.StatusNotFound)
	limited := s.post(t, "/license", "code", "guessing-on", "domain", "shop.example").is(http.StatusTooManyRequests).says("Too many requests", "Try again in 60 seconds")
	if limited.header.Get("RateLimit-Limit") != "3" {
		t.Errorf("headers %v", limited.header)
	}
	s.post(t, "/api/licenses", "purchase_code", "nor-this", "domain", "shop.example").is(http.StatusTooManyRequests)
	for path, with := range map[string][]string{"/license": nil, "/license/move": {"from", "old.example"}, "/license/revoke": {"sure", "1"}} {
		valid := append([]string{"code", "license-used", "domain", "shop.example"}, with...)
		s.post(t, path, valid...).is(http.StatusTooManyRequests) // whoever guesses on learns nothing
	}

	s = shop{s.Store, faces(t, s.Store, 1_000_000, "")}
	for i := range 60 {
		path, name := "/license", "code"
		if i%2 == 1 {
			path, name = "/api/licenses", "purchase_code"
		}
		s.post(t, path, name, "license-used", "domain", "shop.example").is(http.StatusOK)
	}
	s.post(t, "/license", "code", "License-Used", "domain", "shop.example").is(http.StatusTooManyRequests).says("Try again in 60 minutes")
	s.post(t, "/license/move", "code", "License-Used", "domain", "shop.example").is(http.StatusTooManyRequests)
	s.post(t, "/license/revoke", "code", "License-Used", "domain", "shop.example", "sure", "1").is(http.StatusTooManyRequests)
}

func TestAnotherSiteCanSendNoForm(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	r := httptest.NewRequest(http.MethodPost, "/license/move", strings.NewReader("code=license-to-move&from=old.example&domain=evil.example"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	s.send(t, r).is(http.StatusForbidden)
}

func TestAStoreThatIsNotReadyTellsAStrangerNothingAboutItself(t *testing.T) {
	t.Parallel()
	closed, err := store.Open(t.Context(), store.Options{Dir: t.TempDir(), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closed.Close() })
	s := shop{closed, faces(t, closed, 0, "")}
	p := s.post(t, "/license", "code", "license-used", "domain", "shop.example").is(http.StatusServiceUnavailable).says("The server can't answer right now")
	if p.header.Get("Retry-After") == "" || strings.Contains(p.text(), "countersign store ") {
		t.Errorf("%v %s", p.header, p.text())
	}
}

func TestTheRestOfTheStoreStaysAsItIs(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, path := range []string{"/", "/licenses", "/license/other", "/login", "/api/license"} {
		if p := s.get(t, path).is(http.StatusNotFound); p.body != `{"status":"error","msg":"Not found"}` {
			t.Errorf("%s: %s", path, p.body)
		}
	}
	r := httptest.NewRequest(http.MethodDelete, "/license", nil)
	if p := s.send(t, r).is(http.StatusMethodNotAllowed); !strings.Contains(p.header.Get("Allow"), "POST") {
		t.Errorf("Allow: %q", p.header.Get("Allow"))
	}
}

func TestBehindAPathPrefix(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "/store")
	for _, path := range []string{"/store/license", "/license"} {
		p := s.get(t, path).is(http.StatusOK)
		if forms := p.having("action", "/store/license"); len(forms) != 1 {
			t.Errorf("%s: %d forms post to /store/license", path, len(forms))
		}
		sheet := attr(p.having("rel", "stylesheet")[0], "href")
		if !strings.HasPrefix(sheet, "/store/assets/") {
			t.Errorf("%s: the style sheet is at %s", path, sheet)
		}
		s.get(t, sheet).is(http.StatusOK)
	}
}
