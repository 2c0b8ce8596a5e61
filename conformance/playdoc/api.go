package playdoc

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Permission is a permission of the service account in the console.
type Permission string

// The permissions. Chosen: which method needs which; the pages name only that voided
// purchases need the financial data.
const (
	ViewApp       Permission = "view app information"
	ViewFinancial Permission = "view financial data"
	ManageOrders  Permission = "manage orders and subscriptions"
)

// Withdraw takes permissions from the service account; without any, it returns all of them.
func (p *Play) Withdraw(permissions ...Permission) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.withdrawn = map[Permission]bool{}
	for _, permission := range permissions {
		p.withdrawn[permission] = true
	}
}

// call is a request to a method: the parts of its path and the time.
type call struct {
	r    *http.Request
	vars []string
	now  time.Time
}

// method is a method of the discovery document; "{}" is a part of the path that varies.
type method struct {
	verb, path string
	permission Permission
	serve      func(*Play, call) (any, error)
}

var methods = []method{
	{"GET", "purchases/subscriptionsv2/tokens/{}", ViewFinancial, (*Play).getSubscription},
	{"POST", "purchases/subscriptionsv2/tokens/{}:cancel", ManageOrders, (*Play).cancelSubscription},
	{"POST", "purchases/subscriptionsv2/tokens/{}:revoke", ManageOrders, (*Play).revokeSubscription},
	{"POST", "purchases/subscriptionsv2/tokens/{}:defer", ManageOrders, (*Play).deferSubscription},
	{"POST", "purchases/subscriptions/{}/tokens/{}:acknowledge", ManageOrders, (*Play).acknowledge},
	{"GET", "purchases/productsv2/tokens/{}", ViewFinancial, (*Play).getOneTime},
	{"POST", "purchases/products/{}/tokens/{}:acknowledge", ManageOrders, (*Play).acknowledgeOneTime},
	{"POST", "purchases/products/{}/tokens/{}:consume", ManageOrders, (*Play).consumeOneTime},
	{"GET", "purchases/voidedpurchases", ViewFinancial, (*Play).listVoided},
	{"GET", "orders/{}", ViewFinancial, (*Play).getOrder},
	{"GET", "orders:batchGet", ViewFinancial, (*Play).getOrders},
	{"POST", "orders/{}:refund", ManageOrders, (*Play).postRefund},
	{"POST", "orders/{}:reviewrefund", ManageOrders, (*Play).reviewRefund},
	{"GET", "subscriptions", ViewApp, (*Play).listProducts},
	{"GET", "oneTimeProducts", ViewApp, (*Play).listOneTime},
}

// ServeHTTP answers the API, the token endpoint at /token and the keys at /oauth2/v3/certs.
func (p *Play) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle()
	switch r.URL.Path {
	case "/token":
		p.serveToken(w, r)
	case "/oauth2/v3/certs":
		p.serveCerts(w)
	default:
		answer, err := p.serveAPI(r)
		p.settle()
		write(w, answer, err)
	}
}

func (p *Play) serveAPI(r *http.Request) (any, error) {
	rest, found := strings.CutPrefix(r.URL.EscapedPath(), "/androidpublisher/v3/applications/")
	name, path, _ := strings.Cut(rest, "/")
	for _, m := range methods {
		vars, ok := match(m.path, path)
		if !found || !ok || m.verb != r.Method {
			continue
		}
		switch err := p.authorize(r); {
		case err != nil:
			return nil, err
		case name != p.options.Package:
			return nil, refuse(404, "notFound", "No such application.")
		case p.withdrawn[m.permission]:
			return nil, refuse(403, "userInsufficientPermission", "The service account lacks the permission to "+string(m.permission)+".")
		}
		return m.serve(p, call{r, vars, p.now()})
	}
	return nil, refuse(404, "notFound", "No such method.")
}

// match compares an escaped path with a pattern and returns the parts that vary.
func match(pattern, path string) (vars []string, ok bool) {
	patterns, parts := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(patterns) != len(parts) {
		return nil, false
	}
	for i, want := range patterns {
		name, verb, _ := strings.Cut(want, ":")
		part := parts[i]
		if verb != "" {
			if part, ok = strings.CutSuffix(part, ":"+verb); !ok {
				return nil, false
			}
		}
		value, err := url.PathUnescape(part)
		switch {
		case err != nil, name != "{}" && value != name, verb == "" && strings.Contains(part, ":"):
			return nil, false
		case name == "{}":
			vars = append(vars, value)
		}
	}
	return vars, true
}

// authorize wants an access token of the token endpoint.
func (p *Play) authorize(r *http.Request) error {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if end, ok := p.access[token]; !ok || !p.now().Before(end) {
		return refuse(401, "authError", "No valid access token.")
	}
	return nil
}

// fault is an error in Google's envelope. The reasons of 400, 403, 404 and 409 are those of
// the Reference, error codes of each resource.
type fault struct {
	Code    int          `json:"code"`
	Message string       `json:"message"`
	Errors  []faultCause `json:"errors"`
	Status  string       `json:"status,omitempty"`
}

type faultCause struct {
	Message string `json:"message"`
	Domain  string `json:"domain"`
	Reason  string `json:"reason"`
}

func (f *fault) Error() string { return f.Message }

func refuse(code int, reason, message string) *fault {
	domain := "androidpublisher"
	if code == 401 {
		domain = "global"
	}
	status := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ABORTED"}[code]
	return &fault{code, message, []faultCause{{message, domain, reason}}, status}
}

func invalid(message string) *fault { return refuse(400, "invalidValue", message) }

// write writes an answer, nothing for a method without one, or an error.
func write(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	var f *fault
	switch {
	case errors.As(err, &f):
		status, answer = f.Code, map[string]any{"error": f}
	case err != nil:
		status, answer = 400, map[string]any{"error": invalid(err.Error())}
	case answer == nil:
		// Chosen: 204; the Reference says only that the body is empty.
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the caller has gone when this fails
}

// read decodes the body of a call. Members that the discovery document does not have are
// refused; an empty body is an empty object.
func (c call) read(into any) error {
	decoder := json.NewDecoder(c.r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return invalid("The body can't be read: " + err.Error())
	}
	return nil
}

// subscription finds the token of a call. Chosen: a token with a character that tokens never
// have, or of a one-time product, is malformed, 400; any other unknown one is 404. The Reference names both reasons.
func (c call) subscription(p *Play, token string) (*subscription, error) {
	if token == "" || strings.Trim(token, base64s+".") != "" || p.findOnce(token) != nil {
		return nil, invalid("The purchase token is malformed.")
	}
	s := p.find(token)
	if s == nil {
		return nil, refuse(404, "notFound", "No such purchase token.")
	}
	if end := slices.MaxFunc(s.items, func(a, b *item) int { return a.expires.Compare(b.expires) }).expires; s.state == expired && c.now.After(end.AddDate(0, 0, 60)) {
		// Valid until 60 days after the expiry (Lifecycle). The code is from a notice of
		// Google's of 2018, the reason from what developers saw since.
		return nil, refuse(410, "subscriptionPurchaseNoLongerAvailable", "The subscription expired more than 60 days ago.")
	}
	return s, nil
}
