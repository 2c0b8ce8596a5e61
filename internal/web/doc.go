// Package web is shared by all HTTP front ends: handlers that return errors, the envelope (spec 2.1), strict request
// parameters, prepared responses, the access log, limits, metrics and the server.
//
// It does not depend on stores, keys or databases. A front end creates its handlers with [Edge.Wrap], registers them on
// a [net/http.ServeMux] and serves the result of [Edge.Handler].
//
// The values of one request (its id, the client's address, the key's label) are in the ResponseWriter that handlers
// receive, so that no context and no second request has to be allocated. The functions that read them take the
// ResponseWriter.
package web
