package frame_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/web"
)

// behind serves the site behind proxies that are trusted.
func (s *site) behind(t *testing.T, proxies ...netip.Prefix) {
	t.Helper()
	edge := web.NewEdge(web.Options{TrustedProxies: proxies})
	s.server = httptest.NewServer(frame.StripBase(s.base, edge.Handler(s.mux())))
	t.Cleanup(s.server.Close)
}

func TestCookiesAndHSTSFollowTheSchemeOfTheBrowser(t *testing.T) {
	loopback := netip.MustParsePrefix("127.0.0.0/8")
	for _, tt := range []struct {
		name    string
		proxies []netip.Prefix
		options func(*frame.Options)
		proto   string
		cookie  string // its name
		secure  bool
	}{
		{"https at a trusted proxy", []netip.Prefix{loopback}, nil, "https", "__Host-countersign_session", true},
		{"http at a trusted proxy", []netip.Prefix{loopback}, nil, "http", "countersign_session", false},
		{"a trusted proxy that says nothing", []netip.Prefix{loopback}, nil, "", "countersign_session", false},
		{"https at somebody who is not trusted", nil, nil, "https", "countersign_session", false},
		{"a base URL of https", nil, func(o *frame.Options) { o.Secure, o.Origin = true, "https://shop.example" }, "", "__Host-countersign_session", true},
		{"another service on the host", nil, func(o *frame.Options) { o.Cookies = "countersign_store" }, "http", "countersign_store_session", false},
		{"https below a path", []netip.Prefix{loopback}, func(o *frame.Options) { o.BasePath = "/shop" }, "https", "__Secure-countersign_session", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, dbtest.New(t, dbtest.SQLite), tt.options)
			s.behind(t, tt.proxies...)
			s.administrator(t)
			b := s.browser(t)
			p := b.Send("POST", "/admincp/login", strings.NewReader("email="+email+"&password="+strings.ReplaceAll(password, " ", "+")),
				"Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin", "X-Forwarded-Proto", tt.proto)
			p.LeadsTo("/admin")
			cookie := p.Header.Get("Set-Cookie")
			if !strings.HasPrefix(cookie, tt.cookie+"=") || strings.Contains(cookie, "; Secure") != tt.secure || strings.Contains(cookie, "Domain") {
				t.Errorf("the cookie is %s", cookie)
			}
			if strings.HasPrefix(tt.cookie, "__Host-") && !strings.Contains(cookie, "Path=/;") {
				t.Errorf("no browser takes %s", cookie)
			}
			pair, _, _ := strings.Cut(cookie, ";")
			p = s.browser(t).Get("/admin", "Cookie", pair, "X-Forwarded-Proto", tt.proto, "X-Forwarded-Host", "shop.example")
			p.Status(http.StatusOK).Says("signed in as " + email)
			expect.Equalf(t, p.Header.Get("Strict-Transport-Security") != "", tt.secure, "Strict-Transport-Security is sent")
		})
	}
}

func TestHSTSIsForPublicNamesAlone(t *testing.T) {
	for origin, want := range map[string]bool{
		"https://shop.example": true, "https://shop.example:8443": true, "https://localhost:8443": false,
		"https://shop.localhost": false, "https://192.0.2.7": false, "https://[2001:db8::7]:8443": false, "": false,
	} {
		s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.Secure, o.Origin = true, origin })
		s.behind(t)
		p := s.browser(t).Get("/admincp/login")
		expect.Equalf(t, p.Header.Get("Strict-Transport-Security") != "", want, "%q: sent", origin)
	}
}

func TestASessionBelongsToTheSchemeInWhichItBegan(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.behind(t, netip.MustParsePrefix("127.0.0.0/8"))
	s.administrator(t)
	b := s.browser(t)
	b.Post("/admincp/login", "email", email, "password", password).LeadsTo("/admin")
	token := "countersign_session=" + b.Cookie("countersign_session")
	for _, tt := range []struct {
		cookie, proto string
		want          int
	}{
		{token, "http", http.StatusOK},
		{token, "https", http.StatusSeeOther}, // anybody between could have planted it
		{"__Host-" + token, "http", http.StatusSeeOther},
		{"__Host-" + token, "https", http.StatusOK},
	} {
		s.browser(t).Get("/admin", "Cookie", tt.cookie, "X-Forwarded-Proto", tt.proto).Status(tt.want)
	}
}
