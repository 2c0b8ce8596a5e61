package frame_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

func TestDocumentationIsShownWithoutSigningIn(t *testing.T) {
	openAPI := must.Get(os.ReadFile("../store/api/openapi.json"))(t)
	b := readers(t, frame.Options{Brand: "A shop", Home: "/", Documentation: frame.NewDocumentation("", openAPI)})
	all := b.Get("/docs").Status(http.StatusOK).Says("Countersign store API", "Run a store", "The addon", "License files", "Licenses")
	for _, path := range []string{"/docs/api", "/docs/store", "/docs/addon", "/docs/addon-reference", "/docs/iap", "/docs/license", "/docs/license-reference", "/docs/postgres", "/docs/performance"} {
		links := all.Having("href", path)
		if len(links) != 1 {
			t.Fatalf("%d links lead to %s", len(links), path)
		}
		p := b.Get(path).Status(http.StatusOK).Says(webtest.TextOf(links[0]))
		if len(p.Having("href", "/docs")) == 0 {
			t.Errorf("%s: no link leads back to the list", path)
		}
	}
	b.Get("/docs/api").Says("POST /api/purchases/validation", "X-Error-Code", "purchase_not_found")
	b.Get("/docs/none").Status(http.StatusNotFound).Says("No manual has this name")
}

func TestLicensesAreShownAsText(t *testing.T) {
	p := readers(t, frame.Options{Brand: "A shop", Home: "/"}).Get("/licenses").Status(http.StatusOK)
	if kind := p.Header.Get("Content-Type"); kind != "text/plain; charset=utf-8" || !strings.Contains(p.Body, "modernc.org/sqlite") {
		t.Errorf("%s, %d bytes", kind, len(p.Body))
	}
}

// readers are visitors of pages on which nobody signs in.
func readers(t *testing.T, o frame.Options) *webtest.Browser {
	t.Helper()
	f := must.Get(frame.New(o))(t)
	mux := http.NewServeMux()
	f.Routes(mux)
	s := &site{frame: f, server: httptest.NewServer(web.NewEdge(web.Options{}).Handler(mux))}
	t.Cleanup(s.server.Close)
	return s.browser(t)
}

// A web server in front of a service may pass on a single folder.
func TestManualsAreReachedInTheFolderOfTheService(t *testing.T) {
	openAPI := must.Get(os.ReadFile("../store/api/openapi.json"))(t)
	b := readers(t, frame.Options{Brand: "A site", Home: "/", DocsFolder: "/folder", Documentation: frame.NewDocumentation("/folder", openAPI)})
	for _, path := range []string{"/folder/docs", "/folder/docs/addon", "/folder/docs/api"} {
		p := b.Get(path).Status(http.StatusOK)
		if len(p.Having("href", "/folder/docs")) == 0 {
			t.Errorf("%s does not lead to the manuals", path)
		}
		for _, a := range p.All("a") {
			if to := webtest.Attr(a, "href"); strings.HasPrefix(to, "/docs") || strings.HasPrefix(to, "/licenses") {
				t.Errorf("%s leads out of the folder: %s", path, to)
			}
		}
	}
	b.Get("/folder/licenses").Status(http.StatusOK)
	b.Get("/docs").Status(http.StatusOK)
}
