package web

import (
	"net/http"
	"time"
)

// slowAnswer is how long a request takes before the write deadline of its connection is renewed.
const slowAnswer = 2 * time.Second

// renewDeadline gives an answer that took long all of the server's time to be written. The write deadline counts from
// the request's header: a slow body and all waits for the database may together pass it, and the client would see a
// closed connection in place of the answer.
func (a *answer) renewDeadline() {
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
