package api

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// challenge is the scheme that a program without a session can answer with.
var challenge = []string{`Basic realm="countersign", charset="UTF-8"`}

var (
	errNobody = fault.Unauthorized("sign_in_needed", "Not signed in. Sign the call with the site's API key and secret (X-Api-Key, X-Api-Timestamp, X-Api-Nonce, X-Api-Signature), or send them with HTTP Basic over TLS")
	errNotTLS = fault.Unauthorized("tls_needed", "HTTP Basic needs https, because it sends the secret itself. Sign the call instead; or, if a proxy serves the site under https, start the addon with --base-url https://… or --trusted-proxy")
)

// authenticated returns the caller of a request that is not public: a program with a signed call, a signed-in user, or
// a program with Basic. body is the request's body.
func (f *frontEnd) authenticated(w http.ResponseWriter, r *http.Request, body []byte) (people.Actor, error) {
	if err := f.installed(r); err != nil {
		return people.Actor{}, err
	}
	actor, err := f.identified(w, r, body)
	if err == nil {
		if actor.Kind == people.KindKey {
			web.Annotate(w, actor.ID)
		}
		return actor, nil
	}
	return people.Actor{}, f.failed(w, fault.Public(err))
}

// authenticate reads a request of a program: who asks, and the members of its body into in, which is nil for a request without
// any.
func (f *frontEnd) authenticate(w http.ResponseWriter, r *http.Request, in any) (people.Actor, error) {
	body, err := readBody(w, r, maxBody)
	if err != nil {
		return people.Actor{}, err
	}
	actor, err := f.authenticated(w, r, body)
	if err != nil || in == nil {
		return actor, err
	}
	return actor, decode(r, body, in)
}

// installed returns an error that names the set-up command while no user or credential exists.
func (f *frontEnd) installed(r *http.Request) error {
	if f.addon.Installed() {
		return nil
	}
	_, err := f.addon.Settings.Published(r.Context())
	return fault.Public(err)
}

func (f *frontEnd) identified(w http.ResponseWriter, r *http.Request, body []byte) (people.Actor, error) {
	if r.Header["X-Api-Key"] != nil {
		return f.signed(w, r, body)
	}
	actor, signedIn, err := f.visitor(w, r)
	if err != nil || signedIn {
		return actor, err
	}
	return f.basic(w, r)
}

// basic is a program that sends key and secret themselves.
func (f *frontEnd) basic(w http.ResponseWriter, r *http.Request) (people.Actor, error) {
	key, secret, ok := r.BasicAuth()
	if !ok {
		return people.Actor{}, errNobody
	}
	if !f.isPrivate(w, r) {
		return people.Actor{}, errNotTLS
	}
	// A browser that stored Basic credentials sends them with requests from other sites too.
	if err := f.origins.Check(r); err != nil {
		return people.Actor{}, fault.WithCause(fault.Forbidden("cross_site", "This request came from another site, so nothing was done"), err)
	}
	return f.addon.Credentials.Basic(r.Context(), web.ClientAddr(w), strings.TrimSpace(key), strings.TrimSpace(secret))
}

// visitor is who is signed in.
func (f *frontEnd) visitor(w http.ResponseWriter, r *http.Request) (actor people.Actor, signedIn bool, err error) {
	if f.Visitor == nil {
		return people.Actor{}, false, nil
	}
	actor, signedIn, err = f.Visitor(w, r)
	actor.FrontEnd = people.FrontEndAPI
	return actor, signedIn, err
}

// isPrivate reports whether nobody between the client and us can read along.
func (f *frontEnd) isPrivate(w http.ResponseWriter, r *http.Request) bool {
	return web.ClientAddr(w).IsLoopback() || strings.HasPrefix(f.BaseURL, "https://") ||
		web.IsHTTPS(w, r)
}

// signed checks the signature of a call. The caller has signed the path that it
// sees, from which a proxy may have taken the path of the base URL.
func (f *frontEnd) signed(w http.ResponseWriter, r *http.Request, body []byte) (people.Actor, error) {
	target := r.RequestURI
	if !strings.HasPrefix(target, "/") { // with scheme and host
		target = r.URL.RequestURI()
	}
	call := credential.SignedRequest{
		Key: r.Header.Get("X-Api-Key"), Timestamp: r.Header.Get("X-Api-Timestamp"), Nonce: r.Header.Get("X-Api-Nonce"),
		Signature: r.Header.Get("X-Api-Signature"), Method: r.Method, PathAndQuery: target, BodySHA256: sha256.Sum256(body),
	}
	actor, err := f.addon.Credentials.Signed(r.Context(), web.ClientAddr(w), call)
	if base := f.basePath(); base != "" && fault.HasCode(err, codeUnknown) && !strings.HasPrefix(target, base+"/") {
		call.PathAndQuery = base + target
		return f.addon.Credentials.Signed(r.Context(), web.ClientAddr(w), call)
	}
	return actor, err
}

// basePath is the path of the base URL, "" for none.
func (f *frontEnd) basePath() string {
	base, err := url.Parse(f.BaseURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(base.EscapedPath(), "/")
}

// failed counts a failed authentication, and refuses an address that has had too
// many.
func (f *frontEnd) failed(w http.ResponseWriter, err error) error {
	unauthorized := fault.HasKind(err, countersign.KindUnauthorized)
	if !unauthorized && !errors.Is(err, errUpdateToken) {
		return err
	}
	addr := web.ClientAddr(w)
	if !f.failures.Fail(addr) {
		return web.RefuseLimited(w, f.failures.Refusal(addr))
	}
	if unauthorized {
		w.Header()["Www-Authenticate"] = challenge
	}
	return err
}

// codeUnknown is the reason of a call whose key or signature is not right.
const codeUnknown = "credential_unknown"

// errUpdateToken is the error for everybody who may not run the update: the command
// to run, and nothing about the installation.
var errUpdateToken = fault.Forbidden("update_token", "The update needs a signed-in administrator, the set-up link, or a fresh token in X-Update-Token: countersign addon update --web-token. Or run it from a terminal: countersign addon update")
