package playfake

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/countersign/countersign/internal/play/publisher"
)

// Scopes of access tokens.
const (
	publisherScope = "https://www.googleapis.com/auth/androidpublisher"
	pubSubScope    = "https://www.googleapis.com/auth/pubsub"
)

// maxRequest is the size of the largest request that is read, in bytes.
const maxRequest = 1 << 20

// Handler answers as Google's services do: the Play Developer API, Pub/Sub, the token
// endpoint at /token and the keys of push messages at /oauth2/v3/certs.
func (s *Store) Handler() http.Handler {
	const app = "/androidpublisher/v3/applications/{package}"
	mux := http.NewServeMux()
	mux.HandleFunc("POST /token", s.serveToken)
	mux.HandleFunc("GET /oauth2/v3/certs", s.serveKeys)
	api := func(pattern, part string, serve http.HandlerFunc) { mux.Handle(pattern, s.api(part, serve)) }
	api("GET "+app+"/purchases/subscriptionsv2/tokens/{token}", PartPurchases, s.getSubscription)
	api("POST "+app+"/purchases/subscriptionsv2/tokens/{token}", PartPurchases, s.changeSubscription)
	api("POST "+app+"/purchases/subscriptions/{product}/tokens/{token}", PartPurchases, s.acknowledge)
	api("GET "+app+"/purchases/productsv2/tokens/{token}", PartPurchases, s.getOnce)
	api("POST "+app+"/purchases/products/{product}/tokens/{token}", PartPurchases, s.changeOnce)
	api("GET "+app+"/purchases/voidedpurchases", PartVoided, s.listVoided)
	api("GET "+app+"/orders:batchGet", PartOrders, s.batchGetOrders)
	api("GET "+app+"/orders/{order}", PartOrders, s.getOrder)
	api("POST "+app+"/orders/{order}", PartOrders, s.refundOrder)
	api("GET "+app+"/subscriptions", PartProducts, s.listProducts)
	api("GET "+app+"/oneTimeProducts", PartProducts, s.listOneTimeProducts)
	api("POST /v1/projects/{project}/subscriptions/{subscription}", PartPubSub, s.pubSub)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.count(r.URL.Path)
		r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
		mux.ServeHTTP(w, r)
	})
}

// api wraps a handler of the API: the script, the access token, the permission, the package.
// The handler runs while the store is locked.
func (s *Store) api(part string, serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.disturb(w, r) {
			return
		}
		scope := publisherScope
		if part == PartPubSub {
			scope = pubSubScope
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		name := r.PathValue("package")
		switch {
		case !s.admit(w, r, scope):
		case s.script.denied[part]:
			refuse(w, http.StatusUnauthorized, "permissionDenied", "The current user has insufficient permissions to perform the requested operation.")
		case name != "" && name != s.state.Package:
			refuse(w, http.StatusNotFound, "applicationNotFound", "No application was found for the given package name.")
		default:
			serve(w, r)
		}
	})
}

// verb splits the last part of a path, for example token:cancel.
func verb(part string) (id, name string) {
	i := strings.LastIndexByte(part, ':')
	if i < 0 {
		return part, ""
	}
	return part[:i], part[i+1:]
}

// answer writes a value as JSON.
func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_ = json.NewEncoder(w).Encode(value)
}

// refuse writes an error in Google's form.
func refuse(w http.ResponseWriter, status int, reason, message string) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": status, "message": message,
		"errors": []map[string]string{{"message": message, "domain": "androidpublisher", "reason": reason}},
	}})
}

// read reads the JSON body of a request, and answers it when it can't.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(r.Body)
	if err == nil && len(bytes.TrimSpace(body)) > 0 {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "parseError", "Invalid JSON payload received.")
		return false
	}
	return true
}

// find returns the subscription with a token, or the purchase of a product that is bought once. It answers the request
// when that can't be read.
func (s *Store) find(w http.ResponseWriter, token string, once bool) *purchase {
	p := s.purchase(token)
	if p != nil && p.once() != once {
		p = nil
	}
	switch {
	case len(token) < 16:
		refuse(w, http.StatusBadRequest, "invalid", "Invalid Value")
		return nil
	case p == nil || p.Reads < 0:
		if p != nil {
			p.Reads++
		}
		refuse(w, http.StatusNotFound, "purchaseTokenNotFound", "The purchase token was not found.")
		return nil
	case p.State == stateExpired && s.state.Now.After(p.EndedAt.Add(tokenLife)):
		refuse(w, http.StatusGone, "subscriptionPurchaseNoLongerAvailable", "The subscription purchase is no longer available for query because it has been expired for too long.")
		return nil
	}
	return p
}

func (s *Store) getSubscription(w http.ResponseWriter, r *http.Request) {
	if p := s.find(w, r.PathValue("token"), false); p != nil {
		p.Reads++
		answer(w, s.render(p))
	}
}

func (s *Store) acknowledge(w http.ResponseWriter, r *http.Request) {
	token, name := verb(r.PathValue("token"))
	var request publisher.SubscriptionPurchasesAcknowledgeRequest
	if name != "acknowledge" {
		http.NotFound(w, r)
		return
	}
	p := s.find(w, token, false)
	if p == nil || !read(w, r, &request) {
		return
	}
	if !p.live() {
		refuse(w, http.StatusBadRequest, "failedPrecondition", "The subscription purchase is not in a valid state.")
		return
	}
	if ids := request.ExternalAccountIDs; ids != nil && p.OutOfApp != nil {
		p.Account, p.Profile = ids.ObfuscatedAccountID, ids.ObfuscatedProfileID
	}
	if !p.Acknowledged {
		p.Revision++
	}
	p.Acknowledged, p.OutOfApp = true, nil
	w.WriteHeader(http.StatusNoContent)
}
