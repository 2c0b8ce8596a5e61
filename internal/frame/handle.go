package frame

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime/debug"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Public serves a page that needs nobody to be signed in.
func (f *Frame) Public(h Handler) http.Handler { return f.handler(asPage(h)) }

// Admin serves a page to a signed-in user. Others are redirected to sign-in, or to set-up while no administrator
// exists. A client that accepts only JSON gets 401, or 406 if the page has no JSON.
func (f *Frame) Admin(h Handler) http.Handler {
	return f.admin(asPage(h), asOnlyPage(f.turnAway))
}

// AdminFile serves a file to somebody who is signed in. It is [Frame.Admin] for
// what is not a page, and so for clients that take none.
func (f *Frame) AdminFile(h Handler) http.Handler { return f.admin(h, f.turnAway) }

func (f *Frame) admin(h, turnAway Handler) http.Handler {
	return f.handler(func(w http.ResponseWriter, r *Request) error {
		if r.User.ID == 0 {
			return turnAway(w, r)
		}
		return h(w, r)
	})
}

func (f *Frame) handler(h Handler) http.Handler { return f.upTo(maxForm, h) }

// upTo serves requests whose body is at most so many bytes.
func (f *Frame) upTo(limit int64, h Handler) http.Handler {
	return f.edge.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		f.setHeaders(w, r)
		// net/http looks at the body of its own request: one that was not read to its end must not reset the
		// connection before the client has the answer.
		own := *r
		own.Body = http.MaxBytesReader(w, r.Body, limit)
		req, err := f.load(w, &own)
		if err == nil {
			req.maxBody = limit
			err = f.run(w, req, h)
		}
		if err != nil {
			return f.fail(w, req, err)
		}
		return nil
	})
}

// run calls the handler, unless another site sent the request. A panic is an
// error like others.
func (f *Frame) run(w http.ResponseWriter, r *Request, h Handler) (err error) {
	if cause := f.origins.Check(r.Request); cause != nil {
		return fault.WithCause(fault.Forbidden("cross_site", "This request came from another site, so nothing was done. Open the page here and try again."), cause)
	}
	if err := checkAddress(r.URL); err != nil {
		return err
	}
	if f.Known != nil {
		if err := f.Known(); err != nil {
			return err
		}
	}
	defer func() {
		if v := recover(); v == http.ErrAbortHandler {
			panic(v)
		} else if v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return h(w, r)
}

// checkAddress refuses an address with characters that no database keeps, so
// that handlers may look for what it names.
func checkAddress(u *url.URL) error {
	if !isText(u.Path) {
		return fault.NotFound("", "Page not found.")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err == nil {
		err = checkText(query)
	}
	if err != nil {
		return fault.WithCause(fault.Invalid(countersign.CodeBadQuery, "Invalid query in the address. Go back and follow the link again."), err)
	}
	return nil
}

// turnAway answers somebody who is not signed in.
func (f *Frame) turnAway(w http.ResponseWriter, r *Request) error {
	if wantsJSON(r.Request) {
		return fault.Unauthorized("sign_in_needed", "Nobody is signed in. Sign in at "+f.URL(f.SignIn)+" and send the session's cookie.")
	}
	ready, err := f.hasAdministrator(r)
	if err != nil {
		return err
	}
	if !ready {
		return f.Redirect(w, r, f.siblingPath("setup"), "")
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return f.askToSignIn(w, r)
	}
	return f.Redirect(w, r, f.SignIn+"?next="+url.QueryEscape(r.URL.RequestURI()), "")
}

// hasAdministrator reports whether there is somebody who could sign in.
func (f *Frame) hasAdministrator(r *Request) (bool, error) {
	if !f.installed() {
		return false, nil
	}
	return f.People.HasAdministrator(r.Context())
}

// Visitor returns the signed-in user of a request, for a front end without pages. The error is forbidden (cross_site)
// for a change sent by another site.
func (f *Frame) Visitor(w http.ResponseWriter, r *http.Request) (actor people.Actor, signedIn bool, err error) {
	req, err := f.load(w, r)
	if err != nil || req.User.ID == 0 {
		return people.Actor{}, false, err
	}
	if err := f.origins.Check(r); err != nil {
		return people.Actor{}, false, fault.WithCause(fault.Forbidden("cross_site", "This request came from another site, so nothing was done."), err)
	}
	return req.Actor, true, nil
}
