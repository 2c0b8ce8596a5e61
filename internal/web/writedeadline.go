package web

import (
	"net/http"
	"time"
)

// slowAnswer is how long a request takes before the write deadline of its connection is renewed.
const slowAnswer = 2 * time.Second

// renewDeadline restarts the write deadline of a response that took long. The deadline counts from the request's
// header. A slow body and waits for the database could exceed it, and the client would see a closed connection.
func (a *response) renewDeadline() {
	if a.edge.now().Sub(a.start) < slowAnswer {
		return
	}
	srv, ok := a.r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok || srv.WriteTimeout <= 0 {
		return
	}
	// A writer without deadlines has none to renew.
	_ = http.NewResponseController(a.ResponseWriter).SetWriteDeadline(time.Now().Add(srv.WriteTimeout))
}
