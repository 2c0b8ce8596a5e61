package pages_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// policy is the Content-Security-Policy that every page has.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// page is an answer, with its HTML parsed.
type page struct {
	*http.Response
	t    *testing.T
	name string
	base string
	body string
	root *html.Node
}

// check holds every answer to what all pages have to keep.
func (p *page) check() {
	p.t.Helper()
	if strings.Contains(p.name, "/assets/") {
		return
	}
	if got := p.Header.Get("Content-Security-Policy"); got != policy {
		p.t.Errorf("%s: the policy is %q", p.name, got)
	}
	if got := p.Header.Get("Referrer-Policy"); got != "same-origin" {
		p.t.Errorf("%s: Referrer-Policy is %q, with which browsers would not name the origin of our own forms", p.name, got)
	}
	if got := p.Header.Values("Cache-Control"); len(got) != 1 || got[0] != "no-store" {
		p.t.Errorf("%s: Cache-Control is %q", p.name, got)
	}
	if !strings.HasPrefix(p.Header.Get("Content-Type"), "text/html") {
		return
	}
	var err error
	if p.root, err = html.Parse(strings.NewReader(p.body)); err != nil {
		p.t.Fatal(err)
	}
	if n := len(p.all("h1")); n != 1 {
		p.t.Errorf("%s: %d h1", p.name, n)
	}
	ids := map[string]bool{}
	p.each(func(n *html.Node) { p.checkElement(n, ids) })
	p.each(func(n *html.Node) { p.checkReferences(n, ids) })
	p.checkNames()
}

// checkNames finds buttons of one name that do different things, links that look
// like one among them: who hears them in a list can't tell which is which.
func (p *page) checkNames() {
	p.t.Helper()
	does := map[string]string{}
	p.each(func(n *html.Node) {
		if n.Data != "button" && !strings.HasPrefix(attr(n, "class"), "btn") {
			return
		}
		name, what := textOf(n), ""
		for _, key := range []string{"href", "name", "value", "data-copy", "data-reveal"} {
			what += " " + attr(n, key)
		}
		for form := n.Parent; n.Data == "button" && form != nil; form = form.Parent {
			if form.Data == "form" {
				what += " " + attr(form, "action")
			}
		}
		if before, there := does[name]; there && before != what {
			p.t.Errorf("%s: two of the name %q:%s and%s", p.name, name, before, what)
		}
		does[name] = what
	})
}

// checkElement holds an element to what the policy allows.
func (p *page) checkElement(n *html.Node, ids map[string]bool) {
	p.t.Helper()
	if id := attr(n, "id"); id != "" {
		if ids[id] {
			p.t.Errorf("%s: the id %q stands twice", p.name, id)
		}
		ids[id] = true
	}
	if n.Data == "style" || (n.Data == "script" && attr(n, "src") == "") {
		p.t.Errorf("%s: an inline <%s>", p.name, n.Data)
	}
	for _, a := range n.Attr {
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			p.t.Errorf("%s: the attribute %s=%q", p.name, a.Key, a.Val)
		}
		link := a.Key == "href" || a.Key == "src" || a.Key == "action"
		if link && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:image/png;") && !strings.HasPrefix(a.Val, p.base+"/") {
			p.t.Errorf("%s: %s=%q leads out of the site", p.name, a.Key, a.Val)
		}
	}
}

// checkReferences finds labels and descriptions that point at nothing.
func (p *page) checkReferences(n *html.Node, ids map[string]bool) {
	p.t.Helper()
	for _, key := range []string{"for", "aria-describedby", "aria-labelledby", "data-copy", "data-reveal"} {
		for id := range strings.FieldsSeq(attr(n, key)) {
			if !ids[id] {
				p.t.Errorf("%s: %s=%q points at nothing", p.name, key, id)
			}
		}
	}
	if href := attr(n, "href"); strings.HasPrefix(href, "#") && !ids[href[1:]] {
		p.t.Errorf("%s: the link %q points at nothing", p.name, href)
	}
}

func (p *page) each(fn func(*html.Node)) {
	for n := range p.root.Descendants() {
		if n.Type == html.ElementNode {
			fn(n)
		}
	}
}

// all finds the elements of a name.
func (p *page) all(name string) (found []*html.Node) {
	p.t.Helper()
	if p.root == nil {
		p.t.Fatalf("%s: no page but %d %s", p.name, p.StatusCode, p.body)
	}
	p.each(func(n *html.Node) {
		if n.Data == name {
			found = append(found, n)
		}
	})
	return found
}

// having finds the elements that have an attribute of that value.
func (p *page) having(key, value string) (found []*html.Node) {
	p.t.Helper()
	p.all("html")
	p.each(func(n *html.Node) {
		if attr(n, key) == value {
			found = append(found, n)
		}
	})
	return found
}

// status fails the test unless the answer has that status.
func (p *page) status(want int) *page {
	p.t.Helper()
	if p.StatusCode != want {
		p.t.Fatalf("%s: status %d instead of %d: %s", p.name, p.StatusCode, want, p.text())
	}
	return p
}

// leadsTo fails the test unless the answer is 303 to a path of ours.
func (p *page) leadsTo(path string) *page {
	p.t.Helper()
	p.status(http.StatusSeeOther)
	if got := p.Header.Get("Location"); got != p.base+path {
		p.t.Fatalf("%s: leads to %q instead of %q", p.name, got, p.base+path)
	}
	return p
}

// says fails the test unless the page's text holds all of these.
func (p *page) says(all ...string) *page {
	p.t.Helper()
	text := p.text()
	for _, want := range all {
		if !strings.Contains(text, want) {
			p.t.Errorf("%s: does not say %q: %s", p.name, want, text)
		}
	}
	return p
}

// silentAbout fails the test when the page holds any of these, anywhere.
func (p *page) silentAbout(all ...string) *page {
	p.t.Helper()
	for _, secret := range all {
		if strings.Contains(p.body, secret) {
			p.t.Errorf("%s: tells %q", p.name, secret)
		}
	}
	return p
}

// wrong fails the test unless the field is marked as wrong with this text, which
// is also a link in the summary.
func (p *page) wrong(field, text string) *page {
	p.t.Helper()
	inputs := p.having("id", "field-"+field)
	if len(inputs) != 1 || attr(inputs[0], "aria-invalid") != "true" {
		p.t.Fatalf("%s: the field %q is not marked: %s", p.name, field, p.text())
	}
	described := strings.Fields(attr(inputs[0], "aria-describedby"))
	if len(described) == 0 || described[0] != "field-"+field+"-error" {
		p.t.Errorf("%s: the field %q is described by %q", p.name, field, described)
	}
	if notes := p.having("id", "field-"+field+"-error"); len(notes) != 1 || !strings.Contains(textOf(notes[0]), text) {
		p.t.Errorf("%s: the field %q does not say %q: %s", p.name, field, text, p.text())
	}
	if links := p.having("href", "#field-"+field); len(links) != 1 || !strings.Contains(textOf(links[0]), text) {
		p.t.Errorf("%s: the summary does not lead to %q with %q", p.name, field, text)
	}
	return p
}

// value is what stands in a field.
func (p *page) value(field string) string {
	p.t.Helper()
	inputs := p.having("id", "field-"+field)
	if len(inputs) != 1 {
		p.t.Fatalf("%s: %d fields %q", p.name, len(inputs), field)
	}
	return attr(inputs[0], "value")
}

// text is what the page says, with single spaces.
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

// form is what a browser would send of the form that posts to a path, when
// nobody changes anything and no button is pressed.
func (p *page) form(path string) url.Values {
	p.t.Helper()
	var found *html.Node
	for _, n := range p.having("action", p.base+path) {
		if attr(n, "method") == "post" {
			found = n
		}
	}
	if found == nil {
		p.t.Fatalf("%s: no form posts to %s: %s", p.name, path, p.text())
	}
	values := url.Values{}
	for n := range found.Descendants() {
		if name := attr(n, "name"); n.Type == html.ElementNode && name != "" {
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
		kind := attr(n, "type")
		return attr(n, "value"), kind != "file" && (kind != "checkbox" || has(n, "checked"))
	case "textarea":
		return rawText(n), true
	case "select":
		for o := range n.Descendants() {
			if o.Data == "option" && (!sent || has(o, "selected")) {
				value, sent = attr(o, "value"), true
			}
		}
		return value, sent
	}
	return "", false
}

func has(n *html.Node, key string) bool {
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
