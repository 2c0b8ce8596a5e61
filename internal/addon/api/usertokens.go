package api

import (
	"net/http"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/web"
)

// addUserToken answers POST /api-addons/auth/user-token: a token for a user who is signed in
// at the site, which the site hands to its app.
func (f *frontEnd) addUserToken(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		UserID string `json:"user_id"`
	}
	actor, err := f.site(w, r, &in)
	if err != nil {
		return err
	}
	token, err := f.addon.Credentials.NewUserToken(actor, in.UserID)
	if err != nil {
		return fault.Public(err)
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.UserToken
	}{"success", countersign.UserToken{Token: token.Token, ExpiresAt: countersign.At(token.Expires)}})
}

// getUser answers GET /api-addons/auth/user: whom the credentials of an app are for.
func (f *frontEnd) getUser(w http.ResponseWriter, r *http.Request) error {
	user, err := f.appUser(w, r)
	if err != nil {
		return err
	}
	return web.Object(w, struct {
		Status string `json:"status"`
		countersign.AppUser
	}{"success", countersign.AppUser{UserID: user.ID, ExpiresAt: countersign.At(user.Expires)}})
}

// site returns the program of the site that sent a request, by a signed call or by Basic over
// TLS, and reads the members of its body into in, which is nil for a request without any. A
// session is not enough: nobody's browser speaks for the site.
func (f *frontEnd) site(w http.ResponseWriter, r *http.Request, in any) (people.Actor, error) {
	body, err := readBody(w, r, maxPurchaseBody)
	if err != nil {
		return people.Actor{}, err
	}
	if err := f.installed(r); err != nil {
		return people.Actor{}, err
	}
	prove := f.basic
	if r.Header["X-Api-Key"] != nil {
		prove = func(w http.ResponseWriter, r *http.Request) (people.Actor, error) { return f.signed(w, r, body) }
	}
	actor, err := prove(w, r)
	if err != nil {
		return people.Actor{}, f.failed(w, fault.Public(err))
	}
	web.Annotate(w, actor.ID)
	if in == nil {
		return actor, nil
	}
	return actor, decode(r, body, in)
}

// appUser returns the user of the app that sent a request, by the API key and the token that
// the site gave the app. A user id that the app names is never enough. An expired token does
// not count as a failed authentication: it was valid, and many apps may share an address.
func (f *frontEnd) appUser(w http.ResponseWriter, r *http.Request) (credential.AppUser, error) {
	if err := f.installed(r); err != nil {
		return credential.AppUser{}, err
	}
	user, err := f.addon.Credentials.AppUser(r.Context(), web.ClientAddr(w), strings.TrimSpace(r.Header.Get("X-Api-Key")), bearer(r))
	if err == nil {
		web.Annotate(w, user.Credential)
		return user, nil
	}
	if !fault.HasCode(err, credential.CodeUserTokenExpired) {
		err = f.failed(w, fault.Public(err))
	}
	if fault.HasKind(err, countersign.KindUnauthorized) {
		w.Header()["Www-Authenticate"] = tokenChallenge
	}
	return credential.AppUser{}, err
}

// tokenChallenge is the scheme that an app can answer with.
var tokenChallenge = []string{`Bearer realm="countersign"`}

// bearer is the user token of a request, "" for none.
func bearer(r *http.Request) string {
	values := r.Header["Authorization"]
	if len(values) != 1 {
		return ""
	}
	return web.BearerToken(values[0])
}
