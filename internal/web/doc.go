// Package web is what every HTTP face stands on: handlers that return errors, the envelope (spec 2.1), request
// parameters read strictly, prepared answers, the access log, limits, metrics and the server itself.
//
// It knows nothing of stores, keys or databases. A face makes its handlers with [Edge.Wrap], registers them on a
// [net/http.ServeMux] and serves what [Edge.Handler] makes of that mux.
//
// What belongs to one request (its id, the client's address, the key's label) lives in the ResponseWriter that
// handlers receive, so that no context and no second request has to be allocated: the functions that ask for it take
// the ResponseWriter.
package web
