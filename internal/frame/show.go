package frame

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"runtime"
	"strconv"

	"github.com/a-h/templ"
)

// policy is the Content-Security-Policy of every page.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; " +
	"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Show writes a page. For a reader who takes no pages it is an error.
func (f *Frame) Show(w http.ResponseWriter, r *Request, p Page) error {
	if r.Method != http.MethodPost && refusesPages(r.Request) {
		return errPage
	}
	f.fillIn(r)
	f.popMessages(w, r)
	if err := f.save(w, r); err != nil {
		return err
	}
	if f.CheckupBanner != nil && r.User.ID != 0 && !p.Bare {
		r.banner = f.CheckupBanner(r)
	}
	return f.write(w, r, p)
}

// write renders a page into memory first, so that one that fails halfway is an
// error and not half a page.
func (f *Frame) write(w http.ResponseWriter, r *Request, p Page) error {
	// net/http ends the context of a request whose body did not arrive in time; its client waits for the page.
	page, err := f.render(context.WithoutCancel(r.Context()), layout(r, p))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(cmp.Or(p.Status, http.StatusOK))
	_, _ = w.Write(page) // a client that has left is nobody to tell
	return nil
}

func newDrafts() chan *bytes.Buffer {
	drafts := make(chan *bytes.Buffer, runtime.GOMAXPROCS(0))
	for range cap(drafts) {
		drafts <- new(bytes.Buffer)
	}
	return drafts
}

func (f *Frame) render(ctx context.Context, c templ.Component) ([]byte, error) {
	draft := <-f.drafts
	defer func() { f.drafts <- draft }()
	draft.Reset()
	err := c.Render(ctx, draft)
	return bytes.Clone(draft.Bytes()), err
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

// Warn is [Frame.Redirect] with a warning in place of the flash, which reads as a success.
func (f *Frame) Warn(w http.ResponseWriter, r *Request, path, warning string) error {
	f.sessions.Put(r.Context(), keyWarning, warning)
	return f.Redirect(w, r, path, "")
}

// toSignIn leads somebody without a session to the sign-in page, which shows the
// notice once.
func (f *Frame) toSignIn(w http.ResponseWriter, r *Request, n notice) error {
	f.setCookie(w, r.Request, noticeCookie, string(n), 0)
	return f.Redirect(w, r, f.SignIn, "")
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
		if f.hasPublicName(w, r) {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
	}
}
