package webtest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// policy is the Content-Security-Policy that every page has.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Page is an answer of a set of pages, with its HTML parsed.
type Page struct {
	*http.Response
	T *testing.T
	// Name is the request, Base the path prefix of the site.
	Name, Base string
	Body       string
	// Root is nil where the answer is not HTML.
	Root *html.Node
}

// Check holds every answer to what all pages have to keep.
func (p *Page) Check() {
	p.T.Helper()
	if strings.Contains(p.Name, "/assets/") {
		return
	}
	if got := p.Header.Get("Content-Security-Policy"); got != policy {
		p.T.Errorf("%s: the policy is %q", p.Name, got)
	}
	if got := p.Header.Get("Referrer-Policy"); got != "same-origin" {
		p.T.Errorf("%s: Referrer-Policy is %q, with which browsers would not name the origin of our own forms", p.Name, got)
	}
	if got := p.Header.Values("Cache-Control"); len(got) != 1 || got[0] != "no-store" {
		p.T.Errorf("%s: Cache-Control is %q", p.Name, got)
	}
	if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
		return
	}
	var err error
	if p.Root, err = html.Parse(strings.NewReader(p.Body)); err != nil {
		p.T.Fatal(err)
	}
	if n := len(p.All("h1")); n != 1 {
		p.T.Errorf("%s: %d h1", p.Name, n)
	}
	ids := map[string]bool{}
	p.Each(func(n *html.Node) { p.checkElement(n, ids) })
	p.Each(func(n *html.Node) { p.checkReferences(n, ids) })
	p.checkNames()
}

// checkNames finds buttons of one name that do different things, links that look
// like one among them: who hears them in a list can't tell which is which.
func (p *Page) checkNames() {
	p.T.Helper()
	does := map[string]string{}
	p.Each(func(n *html.Node) {
		if n.Data != "button" && !strings.HasPrefix(Attr(n, "class"), "btn") {
			return
		}
		name, what := TextOf(n), ""
		for _, key := range []string{"href", "name", "value", "data-copy", "data-reveal"} {
			what += " " + Attr(n, key)
		}
		for form := n.Parent; n.Data == "button" && form != nil; form = form.Parent {
			if form.Data == "form" {
				what += " " + Attr(form, "action")
			}
		}
		if before, there := does[name]; there && before != what {
			p.T.Errorf("%s: two of the name %q:%s and%s", p.Name, name, before, what)
		}
		does[name] = what
	})
}

// checkElement holds an element to what the policy allows.
func (p *Page) checkElement(n *html.Node, ids map[string]bool) {
	p.T.Helper()
	if id := Attr(n, "id"); id != "" {
		if ids[id] {
			p.T.Errorf("%s: the id %q stands twice", p.Name, id)
		}
		ids[id] = true
	}
	if n.Data == "style" || (n.Data == "script" && Attr(n, "src") == "") {
		p.T.Errorf("%s: an inline <%s>", p.Name, n.Data)
	}
	for _, a := range n.Attr {
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			p.T.Errorf("%s: the attribute %s=%q", p.Name, a.Key, a.Val)
		}
		link := a.Key == "href" || a.Key == "src" || a.Key == "action"
		cited := n.Data == "a" && strings.HasPrefix(a.Val, "https://") // nothing is loaded from there
		if link && !cited && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:image/png;") && !strings.HasPrefix(a.Val, "data:application/octet-stream,") && !strings.HasPrefix(a.Val, p.Base+"/") {
			p.T.Errorf("%s: %s=%q leads out of the site", p.Name, a.Key, a.Val)
		}
	}
}

// checkReferences finds labels and descriptions that point at nothing.
func (p *Page) checkReferences(n *html.Node, ids map[string]bool) {
	p.T.Helper()
	for _, key := range []string{"for", "form", "aria-describedby", "aria-labelledby", "data-copy", "data-reveal"} {
		for id := range strings.FieldsSeq(Attr(n, key)) {
			if !ids[id] {
				p.T.Errorf("%s: %s=%q points at nothing", p.Name, key, id)
			}
		}
	}
	if href := Attr(n, "href"); strings.HasPrefix(href, "#") && !ids[href[1:]] {
		p.T.Errorf("%s: the link %q points at nothing", p.Name, href)
	}
}

// Each calls fn for each element.
func (p *Page) Each(fn func(*html.Node)) {
	for n := range p.Root.Descendants() {
		if n.Type == html.ElementNode {
			fn(n)
		}
	}
}

// All finds the elements of a name.
func (p *Page) All(name string) (found []*html.Node) {
	p.T.Helper()
	if p.Root == nil {
		p.T.Fatalf("%s: no page but %d %s", p.Name, p.StatusCode, p.Body)
	}
	p.Each(func(n *html.Node) {
		if n.Data == name {
			found = append(found, n)
		}
	})
	return found
}

// Having finds the elements that have an attribute of that value.
func (p *Page) Having(key, value string) (found []*html.Node) {
	p.T.Helper()
	p.All("html")
	p.Each(func(n *html.Node) {
		if Attr(n, key) == value {
			found = append(found, n)
		}
	})
	return found
}

// Status fails the test unless the answer has that status.
func (p *Page) Status(want int) *Page {
	p.T.Helper()
	if p.StatusCode != want {
		p.T.Fatalf("%s: status %d instead of %d: %s", p.Name, p.StatusCode, want, p.Text())
	}
	return p
}

// LeadsTo fails the test unless the answer is 303 to a path of ours.
func (p *Page) LeadsTo(path string) *Page {
	p.T.Helper()
	p.Status(http.StatusSeeOther)
	if got := p.Header.Get("Location"); got != p.Base+path {
		p.T.Fatalf("%s: leads to %q instead of %q", p.Name, got, p.Base+path)
	}
	return p
}

// Says fails the test unless the page's text holds all of these.
func (p *Page) Says(all ...string) *Page {
	p.T.Helper()
	text := p.Text()
	for _, want := range all {
		if !strings.Contains(text, want) {
			p.T.Errorf("%s: does not say %q: %s", p.Name, want, text)
		}
	}
	return p
}

// SilentAbout fails the test when the page holds any of these, anywhere.
func (p *Page) SilentAbout(all ...string) *Page {
	p.T.Helper()
	for _, secret := range all {
		if strings.Contains(p.Body, secret) {
			p.T.Errorf("%s: tells %q", p.Name, secret)
		}
	}
	return p
}

// Wrong fails the test unless the field is marked as wrong with this text, which
// is also a link in the summary.
func (p *Page) Wrong(field, text string) *Page {
	p.T.Helper()
	inputs := p.Having("id", "field-"+field)
	if len(inputs) != 1 || Attr(inputs[0], "aria-invalid") != "true" {
		p.T.Fatalf("%s: the field %q is not marked: %s", p.Name, field, p.Text())
	}
	described := strings.Fields(Attr(inputs[0], "aria-describedby"))
	if len(described) == 0 || described[0] != "field-"+field+"-error" {
		p.T.Errorf("%s: the field %q is described by %q", p.Name, field, described)
	}
	if notes := p.Having("id", "field-"+field+"-error"); len(notes) != 1 || !strings.Contains(TextOf(notes[0]), text) {
		p.T.Errorf("%s: the field %q does not say %q: %s", p.Name, field, text, p.Text())
	}
	if links := p.Having("href", "#field-"+field); len(links) != 1 || !strings.Contains(TextOf(links[0]), text) {
		p.T.Errorf("%s: the summary does not lead to %q with %q", p.Name, field, text)
	}
	return p
}

// Value is what stands in a field.
func (p *Page) Value(field string) string {
	p.T.Helper()
	inputs := p.Having("id", "field-"+field)
	if len(inputs) != 1 {
		p.T.Fatalf("%s: %d fields %q", p.Name, len(inputs), field)
	}
	return Attr(inputs[0], "value")
}

// Text is what the page says, with single spaces.
func (p *Page) Text() string {
	if p.Root == nil {
		return p.Body
	}
	return TextOf(p.Root)
}

// TextOf is the text below a node, with single spaces.
func TextOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type != html.TextNode {
			continue
		}
		b.WriteString(d.Data)
		if next := d.NextSibling; next == nil || next.Data != "wbr" {
			b.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// Attr is the value of an attribute, "" without it.
func Attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// Form is what a browser would send of the form that posts to a path, when
// nobody changes anything and no button is pressed.
func (p *Page) Form(path string) url.Values {
	p.T.Helper()
	var found *html.Node
	for _, n := range p.Having("action", p.Base+path) {
		if Attr(n, "method") == "post" {
			found = n
		}
	}
	if found == nil {
		p.T.Fatalf("%s: no form posts to %s: %s", p.Name, path, p.Text())
	}
	values := url.Values{}
	for n := range found.Descendants() {
		if name := Attr(n, "name"); n.Type == html.ElementNode && name != "" {
			if value, sent := sentBy(n); sent {
				values.Set(name, value)
			}
		}
	}
	return values
}

// sentBy is what a field sends.
func sentBy(n *html.Node) (value string, sent bool) {
	switch n.Data {
	case "input":
		kind := Attr(n, "type")
		return Attr(n, "value"), kind != "file" && (kind != "checkbox" || Has(n, "checked"))
	case "textarea":
		return rawText(n), true
	case "select":
		for o := range n.Descendants() {
			if o.Data == "option" && (!sent || Has(o, "selected")) {
				value, sent = Attr(o, "value"), true
			}
		}
		return value, sent
	}
	return "", false
}

// Has reports whether a node has an attribute.
func Has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}

func rawText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}
