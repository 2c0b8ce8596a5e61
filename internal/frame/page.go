package frame

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// policy is the Content-Security-Policy of every page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Page is one page: what stands inside the frame.
type Page struct {
	// Title is the name in the browser's tab, and the heading when Heading is "".
	Title string
	// Heading is the one h1.
	Heading string
	// Lead is a sentence under the heading; "" is none.
	Lead string
	// Crumbs lead from the top to here; the page itself is not among them.
	Crumbs []Link
	// Action is the one main button beside the heading, usually a [LinkButton];
	// nil is none.
	Action templ.Component
	// Status is 200 when it is 0; a form that was refused is 422.
	Status int
	Body   templ.Component
	// Bare leaves out menu and top bar, as on the sign-in page.
	Bare bool
	// Wide gives a bare page more room.
	Wide bool
	// Scripts are further files from assets.
	Scripts []string
}

// tab is the text of the browser's tab. It begins with what tells pages apart,
// and with a word where a form was refused.
func (p Page) tab(brand string) string {
	name := p.Title + " · " + brand
	if p.Status == http.StatusUnprocessableEntity {
		return "Not saved: " + name
	}
	return name
}

func (p Page) scripts() []string {
	return append([]string{"copy.js", "reveal.js", "time.js", "fold.js"}, p.Scripts...)
}

// Show writes a page. For a reader who takes no pages it is an error.
func (f *Frame) Show(w http.ResponseWriter, r *Request, p Page) error {
	if r.Method != http.MethodPost && refusesPages(r.Request) {
		return errPage
	}
	r.flash = cmp.Or(f.sessions.PopString(r.Context(), keyFlash), f.popNotice(w, r))
	if err := f.save(w, r); err != nil {
		return err
	}
	if f.CheckupBanner != nil && r.User.ID != 0 && !p.Bare {
		r.banners = f.CheckupBanner(r)
	}
	return f.write(w, r, p)
}

// write renders a page into memory first, so that one that fails halfway is an
// error and not half a page.
func (f *Frame) write(w http.ResponseWriter, r *Request, p Page) error {
	var b bytes.Buffer
	// net/http ends the context of a request whose body did not arrive in time; its client waits for the page.
	if err := layout(r, p).Render(context.WithoutCancel(r.Context()), &b); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = w.Write(b.Bytes()) // a client that has left is nobody to tell
	return nil
}

// Redirect answers a form that was done: 303 to a path of ours, which shows the
// flash once. Without a flash it is a plain redirect.
func (f *Frame) Redirect(w http.ResponseWriter, r *Request, path, flash string) error {
	if flash != "" {
		f.sessions.Put(r.Context(), keyFlash, flash)
	}
	if err := f.save(w, r); err != nil {
		return err
	}
	w.Header().Set("Location", f.URL(path))
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// setHeaders sets what every answer of a page has.
func (f *Frame) setHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	// With "no-referrer" browsers send "Origin: null" with our own forms, and
	// over plain http that is all there is to know them by.
	h.Set("Referrer-Policy", "same-origin")
	h.Add("Vary", "Cookie")
	if f.isSecure(w, r) {
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// active is the menu item that the request belongs to: the longest path above it.
func (r *Request) active() string {
	best := ""
	for _, m := range r.frame.Menu {
		under := r.URL.Path == m.Path || strings.HasPrefix(r.URL.Path, m.Path+"/")
		if under && len(m.Path) > len(best) {
			best = m.Path
		}
	}
	return best
}
