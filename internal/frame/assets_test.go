package frame_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

func TestAssetsMayBeKeptForEverAndAreCompressed(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	s.administrator(t)
	b := s.browser(t)
	p := b.Get("/admincp/login")
	var addresses []string
	for _, n := range append(p.All("link"), p.All("script")...) {
		addresses = append(addresses, webtest.Attr(n, "href")+webtest.Attr(n, "src"))
	}
	if len(addresses) < 5 {
		t.Fatalf("assets: %v", addresses)
	}
	for _, address := range addresses {
		p := b.Get(address).Status(http.StatusOK)
		expect.Equalf(t, p.Header.Get("Cache-Control"), "public, max-age=31536000, immutable", "%s: Cache-Control", address)
		if got := p.Header.Get("Content-Type"); got == "" || strings.HasPrefix(got, "text/plain") {
			t.Errorf("%s: Content-Type %q", address, got)
		}
	}
	style := b.Get(addresses[2], "Accept-Encoding", "gzip")
	if style.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%s is not compressed", addresses[2])
	}
	z := must.Get(gzip.NewReader(strings.NewReader(style.Body)))(t)
	if plain, err := io.ReadAll(z); err != nil || string(plain) != b.Get(addresses[2]).Body {
		t.Errorf("the compressed form is another: %v", err)
	}
}

func TestAssetsOfAnotherBuildAndPathTricksAreNotFound(t *testing.T) {
	s := newSite(t, dbtest.New(t, dbtest.SQLite), nil)
	b := s.browser(t)
	for _, path := range []string{"/admincp/assets/0000000000000000/app.css", "/admincp/assets/x/..%2f..%2fframe.go", "/admincp/assets/x/icons/check.svg"} {
		b.Get(path).Status(http.StatusNotFound)
	}
}

// The budget of 6 KiB was raised for the calls that come in live and for charts, which no other script does.
func TestScriptsFitTheirBudget(t *testing.T) {
	files, err := filepath.Glob("assets/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	total := 0
	for _, f := range files {
		if f == "assets/uplot.js" { // not ours
			continue
		}
		content := must.Get(os.ReadFile(f))(t)
		total += len(content)
	}
	if total > 10<<10 {
		t.Errorf("the scripts have %d bytes", total)
	}
}

func TestEveryIconThatIsNamedExists(t *testing.T) {
	var sources []string
	for _, pattern := range []string{"*.templ", "*.go", "../addon/pages/*.templ", "../addon/pages/*.go", "../store/pages/*.templ", "../store/pages/*.go"} {
		found := must.Get(filepath.Glob(pattern))(t)
		sources = append(sources, found...)
	}
	icon := regexp.MustCompile(`(?:Icon\(|Icon:\s*)"([a-z0-9-]+)"`)
	for _, source := range sources {
		content := must.Get(os.ReadFile(source))(t)
		for _, m := range icon.FindAllStringSubmatch(string(content), -1) {
			if drawn, err := os.ReadFile("icons/" + m[1] + ".svg"); err != nil || !strings.Contains(string(drawn), ">\n  <") {
				t.Errorf("%s: there is no icon %q in icons", source, m[1])
			}
		}
	}
}

func TestStyleSheetAndLockNameNoOtherHost(t *testing.T) {
	host := regexp.MustCompile(`https?://[^"' )]+`)
	style := must.Get(os.ReadFile("assets/app.css"))(t)
	for _, found := range host.FindAllString(string(style), -1) {
		if found != "https://tailwindcss.com" && !strings.HasPrefix(found, "http://www.w3.org/") {
			t.Errorf("the style sheet names %s", found)
		}
	}
	lock := must.Get(os.ReadFile("web/package-lock.json"))(t)
	if strings.Contains(string(lock), `"resolved"`) {
		t.Error("the lock file names where packages were taken from")
	}
}
