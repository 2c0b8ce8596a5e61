package web

import (
	"net/http"
	"net/netip"
)

// RequestID returns the id of the request that w answers, as the header X-Request-Id carries it; empty when w is not
// from an [Edge].
func RequestID(w http.ResponseWriter) string {
	if a := answerOf(w); a != nil {
		return a.id
	}
	return ""
}

// ClientAddr returns the address of the client that w answers: of the socket, or what a trusted proxy says. IPv4 is
// never in its IPv6 form, there is no zone, and the zero Addr means that nothing is known.
func ClientAddr(w http.ResponseWriter) netip.Addr {
	if a := answerOf(w); a != nil {
		return a.addr
	}
	return netip.Addr{}
}

// Stopping returns a channel that is closed when the server begins to stop, for a response that has no end of its own.
// Outside of [Serve] it is nil.
func Stopping(w http.ResponseWriter) <-chan struct{} {
	if a := answerOf(w); a != nil && a.conn != nil {
		return a.conn.slots.ending
	}
	return nil
}

// Annotate notes which key made the request, for the access log: its id or name, never the key itself.
func Annotate(w http.ResponseWriter, keyID string) {
	if a := answerOf(w); a != nil {
		a.key = keyID
	}
}

// Always200 marks the request of a workspace whose clients can't read a body on 4xx: such an error then answers 200
// with the same body and the same headers. Errors of 500 and above keep their status.
func Always200(w http.ResponseWriter) {
	if a := answerOf(w); a != nil {
		a.always200 = true
	}
}
