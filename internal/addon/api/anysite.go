package api

import "net/http"

// The values of headers that never change; nobody writes into them.
var (
	anySite      = []string{"*"}
	anyMethod    = []string{"GET, HEAD, OPTIONS"}
	preflightAge = []string{"86400"}
	// anyHeader also names those that apps are known to send, for browsers that
	// take the star for a name; it never stands for Authorization.
	anyHeader = []string{"*, Authorization, Content-Type, X-Api-Key, X-Api-Nonce, X-Api-Signature, X-Api-Timestamp, " +
		"X-Auth-Token, X-Lang, X-Requested-With, X-Signature, X-Timestamp"}
)

// allowAnySite answers OPTIONS of a public path: the page of any site may read it,
// whatever headers its program sends along.
func allowAnySite(w http.ResponseWriter, _ *http.Request) error {
	h := w.Header()
	h["Allow"] = anyMethod
	h["Access-Control-Allow-Origin"] = anySite
	h["Access-Control-Allow-Methods"] = anyMethod
	h["Access-Control-Allow-Headers"] = anyHeader
	h["Access-Control-Max-Age"] = preflightAge
	w.WriteHeader(http.StatusNoContent)
	return nil
}
