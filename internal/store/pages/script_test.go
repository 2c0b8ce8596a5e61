package pages_test

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/webtest"
	"golang.org/x/net/html"
)

// script is what somebody types to see whether it runs.
const script = `"'><script>alert(1)</script><img src=x onerror=alert(1)>`

func TestScriptInEveryTextFieldIsShownAsText(t *testing.T) {
	t.Parallel()
	s := openTeam(t, teamStore.New(t, dbtest.SQLite))
	b := s.as(t, "administrator")
	before, looked, sent := crawl(b), map[string]bool{}, 0
	for _, path := range slices.Sorted(maps.Keys(before)) {
		kind := ids.ReplaceAllString(path, "$1/{id}")
		if looked[kind] {
			continue
		}
		looked[kind] = true
		for _, form := range before[path].All("form") {
			for _, field := range textFields(form) {
				sent++
				answer := sendScript(b, path, form, field) // every answer is checked for inline scripts and handlers
				if answer.Root != nil && len(answer.Having("src", "x")) > 0 {
					t.Errorf("%s, field %s: the text became an element", path, field)
				}
			}
		}
	}
	if len(looked) < 40 || sent < 80 {
		t.Errorf("only %d kinds of pages with %d fields were found", len(looked), sent)
	}
	shown := 0
	for path, page := range crawl(b) {
		if len(page.Having("src", "x")) > 0 {
			t.Errorf("%s: a text became an element", path)
		}
		if strings.Contains(page.Text(), script) {
			shown++
		}
	}
	if shown < 3 {
		t.Errorf("what was typed is shown on %d pages", shown)
	}
}

// ids finds what distinguishes pages of one kind.
var ids = regexp.MustCompile(`(/licenses|/\pL+)/(?:\d+|(?:[a-z]+-)+[a-z0-9]+)`)

// crawl opens the pages to which links lead, those of the workspace ada and of the whole store, once each.
func crawl(b *webtest.Browser) map[string]*webtest.Page {
	pages, next := map[string]*webtest.Page{}, []string{"/"}
	for len(next) > 0 {
		path := next[0]
		next = next[1:]
		elsewhere := strings.HasPrefix(path, "/w/") && path != "/w/ada" && !strings.HasPrefix(path, "/w/ada/")
		if pages[path] != nil || elsewhere || strings.HasPrefix(path, "/docs") {
			continue
		}
		page := b.Get(path)
		if page.StatusCode == http.StatusSeeOther {
			next = append(next, page.Header.Get("Location"))
			continue
		}
		if page.StatusCode != http.StatusOK || page.Root == nil {
			continue
		}
		pages[path] = page
		for _, link := range page.All("a") {
			if to, _, _ := strings.Cut(webtest.Attr(link, "href"), "?"); strings.HasPrefix(to, "/") {
				next = append(next, to)
			}
		}
	}
	return pages
}

// textFields are the names of the fields of a form into which a person types, passwords aside.
func textFields(form *html.Node) []string {
	names := map[string]bool{}
	for n := range form.Descendants() {
		typed := n.Data == "textarea" || n.Data == "input" && slices.Contains([]string{"", "text", "search", "email", "url", "number", "date"}, webtest.Attr(n, "type"))
		if name := webtest.Attr(n, "name"); typed && name != "" {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// sendScript sends a form of the page at path with script in one of its fields.
func sendScript(b *webtest.Browser, path string, form *html.Node, field string) *webtest.Page {
	action := webtest.Attr(form, "action")
	if webtest.Attr(form, "method") != "post" {
		return b.Get(action + "?" + url.Values{field: {script}}.Encode())
	}
	values := b.Get(path).Form(action)
	if values.Has("password") {
		values.Set("password", password)
	}
	values.Set(field, script)
	return b.PostForm(action, values)
}
