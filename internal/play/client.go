package play

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Where Google's services are.
const (
	googleAPI    = "https://androidpublisher.googleapis.com/"
	googlePubSub = "https://pubsub.googleapis.com/"
	googleToken  = "https://oauth2.googleapis.com/token"
	googleKeys   = "https://www.googleapis.com/oauth2/v3/certs"
)

// What access tokens are for.
const (
	publisherScope = "https://www.googleapis.com/auth/androidpublisher"
	pubSubScope    = "https://www.googleapis.com/auth/pubsub"
)

// Bounds of one call.
const (
	callTimeout    = 10 * time.Second
	pullTimeout    = 30 * time.Second
	connectTimeout = 5 * time.Second
	idleTimeout    = 60 * time.Second
	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 8 << 20
)

// Options is what a client needs.
type Options struct {
	// ServiceAccount is the JSON file from the cloud console. Its token_uri has no effect.
	ServiceAccount []byte
	// Package is the name of the app's package.
	Package string
	// URL replaces the addresses of all services of Google. "" means Google.
	URL string
	// Transport makes the calls. nil means the client's own, which uses no proxy.
	Transport http.RoundTripper
	Now       func() time.Time
	// Rate is the limit of calls a second, 0 for none. Calls beyond it wait.
	Rate int
}

// Client calls the Play Developer API for one app. Goroutines may share it.
type Client struct {
	tokens *tokenSource // for the API
	api    service      // with paths below the app
	pubSub service
	now    func() time.Time
}

// Open returns a client. It calls nobody. Its error is an [Error] with the reason
// [Unauthorized] for a service account that can't be used, else [Refused].
func Open(o Options) (*Client, error) {
	found, err := parseAccount(o.ServiceAccount)
	if err != nil {
		return nil, &Error{Reason: Unauthorized, Cause: err}
	}
	if !validPackage(o.Package) {
		return nil, &Error{Reason: Refused, Cause: errors.New("invalid package name")}
	}
	at, err := addressesOf(o.URL)
	if err != nil {
		return nil, &Error{Reason: Refused, Cause: err}
	}
	base := o.Transport
	if base == nil {
		base = ownTransport()
	}
	c := &Client{now: o.Now}
	plain := &http.Client{Transport: &boundedTransport{base: base}, CheckRedirect: noRedirect}
	pace := newPacer(o.Rate)
	c.tokens = &tokenSource{account: found, scope: publisherScope, url: at.token, client: plain, now: o.Now}
	forPubSub := &tokenSource{account: found, scope: pubSubScope, url: at.token, client: plain, now: o.Now}
	signing := func(tokens *tokenSource) *http.Client {
		return &http.Client{Transport: &authTransport{base: plain.Transport, tokens: tokens, pace: pace}, CheckRedirect: noRedirect}
	}
	c.pubSub = service{url: at.pubSub + "v1/", client: signing(forPubSub)}
	c.api = service{
		url: at.api + "androidpublisher/v3/applications/" + o.Package + "/", client: signing(c.tokens),
		query: url.Values{"alt": {"json"}, "prettyPrint": {"false"}},
	}
	return c, nil
}

// addresses are where the services are.
type addresses struct {
	api, pubSub, token, keys string
}

// CheckURL returns an error for an address that can't replace those of Google: one without a
// host, with another scheme than http and https, or with more than a path.
func CheckURL(base string) error {
	_, err := addressesOf(base)
	return err
}

// addressesOf returns Google's addresses, or those below another address.
func addressesOf(base string) (addresses, error) {
	if base == "" {
		return addresses{api: googleAPI, pubSub: googlePubSub, token: googleToken, keys: googleKeys}, nil
	}
	at, err := url.Parse(base)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || at.User != nil || at.RawQuery != "" || at.Fragment != "" {
		return addresses{}, errors.New("invalid address of the store: expected http://host or https://host")
	}
	root := strings.TrimSuffix(at.String(), "/")
	return addresses{api: root + "/", pubSub: root + "/", token: root + "/token", keys: root + "/oauth2/v3/certs"}, nil
}

// ownTransport uses no proxy: nothing below the commands reads the environment.
func ownTransport() http.RoundTripper {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: connectTimeout}).DialContext, TLSHandshakeTimeout: connectTimeout,
		IdleConnTimeout: idleTimeout, MaxIdleConnsPerHost: 10, MaxResponseHeaderBytes: maxHeaderBytes,
		ResponseHeaderTimeout: pullTimeout, ForceAttemptHTTP2: true,
	}
}

// noRedirect stops at the first answer: where a redirect leads would get the access token.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// validPackage reports whether a name can be that of an Android package.
func validPackage(name string) bool {
	if name == "" || len(name) > 255 || !strings.Contains(name, ".") {
		return false
	}
	for part := range strings.SplitSeq(name, ".") {
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
			return false
		}
	}
	return true
}
