package pages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
)

// today is when the tests play.
var today = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func now() time.Time { return today }

// shop is a store with both of its faces.
type shop struct {
	*store.Store
	http.Handler
}

// shopStore is a store with the shop of the API's scripts.
var shopStore = storetest.NewTemplate("../api/testdata/shop.jsonl", store.Options{Now: now})

// openShop opens a copy of shopStore, whose addresses may fail failLimit times a minute.
func openShop(t *testing.T, db dbtest.DB, failLimit int, base string) shop {
	t.Helper()
	s := storetest.Open(t, db, store.Options{Now: now})
	return shop{s, faces(t, s, failLimit, base)}
}

func faces(t *testing.T, s *store.Store, failLimit int, base string) http.Handler {
	t.Helper()
	o := pages.FrameOptions()
	o.Now, o.BasePath = now, base
	f, err := frame.New(o)
	if err != nil {
		t.Fatal(err)
	}
	guard := web.NewGuard(limit.NewGuard(limit.Options{Failures: failLimit, Now: now}))
	shown := pages.New(pages.Options{Store: s, Frame: f, Guard: guard})
	return frame.StripBase(base, api.New(s, api.Options{Guard: guard, Pages: shown, Now: now}))
}

// engines runs fn with a shop on both engines.
func engines(t *testing.T, fn func(t *testing.T, s shop)) {
	t.Helper()
	t.Parallel()
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) { fn(t, openShop(t, db, 0, "")) })
}

// page is an answer, with its HTML parsed.
type page struct {
	t      *testing.T
	name   string
	status int
	header http.Header
	body   string
	root   *html.Node
}

func (s shop) send(t *testing.T, r *http.Request) *page {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, name: r.Method + " " + r.URL.Path, status: w.Code, header: w.Header(), body: string(body)}
	if strings.HasPrefix(p.header.Get("Content-Type"), "text/html") {
		if p.root, err = html.Parse(strings.NewReader(p.body)); err != nil {
			t.Fatal(err)
		}
		p.check()
	}
	return p
}

func (s shop) get(t *testing.T, path string) *page {
	t.Helper()
	return s.send(t, httptest.NewRequest(http.MethodGet, path, nil))
}

// post sends a form as a browser does; names and values take turns.
func (s shop) post(t *testing.T, path string, namesAndValues ...string) *page {
	t.Helper()
	form := url.Values{}
	for i := 0; i < len(namesAndValues); i += 2 {
		form.Set(namesAndValues[i], namesAndValues[i+1])
	}
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.send(t, r)
}

// check holds every page to what all pages have to keep.
func (p *page) check() {
	p.t.Helper()
	if got := p.header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; script-src 'self'; style-src 'self';") {
		p.t.Errorf("%s: the policy is %q", p.name, got)
	}
	if got := p.header.Get("Cache-Control"); got != "no-store" {
		p.t.Errorf("%s: Cache-Control is %q", p.name, got)
	}
	if got := p.header.Get("Set-Cookie"); got != "" {
		p.t.Errorf("%s: sets the cookie %q", p.name, got)
	}
	if n := len(p.all(func(n *html.Node) bool { return n.Data == "h1" })); n != 1 {
		p.t.Errorf("%s: %d h1", p.name, n)
	}
	ids := map[string]bool{}
	for _, n := range p.all(func(*html.Node) bool { return true }) {
		if id := attr(n, "id"); id != "" {
			if ids[id] {
				p.t.Errorf("%s: the id %q stands twice", p.name, id)
			}
			ids[id] = true
		}
		for _, a := range n.Attr {
			if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
				p.t.Errorf("%s: the attribute %s", p.name, a.Key)
			}
		}
	}
	for _, n := range p.all(func(*html.Node) bool { return true }) {
		for _, key := range []string{"for", "aria-describedby", "aria-labelledby"} {
			for id := range strings.FieldsSeq(attr(n, key)) {
				if !ids[id] {
					p.t.Errorf("%s: %s=%q points at nothing", p.name, key, id)
				}
			}
		}
	}
}

// all finds elements.
func (p *page) all(is func(*html.Node) bool) (found []*html.Node) {
	p.t.Helper()
	if p.root == nil {
		p.t.Fatalf("%s: no page but %d %s", p.name, p.status, p.body)
	}
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			found = append(found, n)
		}
	}
	return found
}

func (p *page) having(key, value string) []*html.Node {
	p.t.Helper()
	return p.all(func(n *html.Node) bool { return attr(n, key) == value })
}

// is fails the test unless the answer has that status.
func (p *page) is(status int) *page {
	p.t.Helper()
	if p.status != status {
		p.t.Fatalf("%s: status %d instead of %d: %s", p.name, p.status, status, p.text())
	}
	return p
}

// says fails the test unless the page's text holds all of these.
func (p *page) says(all ...string) *page {
	p.t.Helper()
	for _, want := range all {
		if !strings.Contains(p.text(), want) {
			p.t.Errorf("%s: does not say %q: %s", p.name, want, p.text())
		}
	}
	return p
}

// wrong fails the test unless the field is marked as wrong with this text, which
// is also a link in the summary.
func (p *page) wrong(field, text string) *page {
	p.t.Helper()
	inputs, notes, links := p.having("id", "field-"+field), p.having("id", "field-"+field+"-error"), p.having("href", "#field-"+field)
	if len(inputs) != 1 || attr(inputs[0], "aria-invalid") != "true" || !strings.HasPrefix(attr(inputs[0], "aria-describedby"), "field-"+field+"-error") {
		p.t.Fatalf("%s: the field %q is not marked: %s", p.name, field, p.text())
	}
	for _, where := range [][]*html.Node{notes, links} {
		if len(where) != 1 || !strings.Contains(textOf(where[0]), text) {
			p.t.Errorf("%s: the field %q does not say %q: %s", p.name, field, text, p.text())
		}
	}
	return p
}

func (p *page) text() string {
	if p.root == nil {
		return p.body
	}
	return textOf(p.root)
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
