package web

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/countersign/countersign"
)

// A refusal is a response that net/http writes by itself, to a request that no handler sees.
type refusal struct{ code, message string }

// refusals are those that are known, by status; others are bad requests.
var refusals = map[string]refusal{
	"417": {"expectation_failed", "Expectation failed"},
	"431": {"header_too_large", "Request header too large"},
	"501": {"transfer_encoding", "Transfer encoding not supported"},
	"505": {"http_version", "HTTP version not supported"},
}

var (
	// refusalHeader is the header of every refusal but one of Expect, as server.go of net/http has it.
	refusalHeader = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")
	// notTLS is the whole header for plain HTTP on a port of TLS.
	notTLS = []byte("HTTP/1.0 400 Bad Request\r\n\r\n")
)

// statusAt is where the three digits of a status are in the first line of a response.
const statusAt = len("HTTP/1.1 ")

// refusalOf returns the refusal in what is written on a connection while no handler has a request, with its status line;
// nil for everything else.
func refusalOf(b []byte) (line []byte, is refusal) {
	if len(b) < statusAt+3 || b[statusAt] < '4' || !bytes.HasPrefix(b, []byte("HTTP/1.")) {
		return nil, refusal{}
	}
	line, rest, _ := bytes.Cut(b, []byte("\r\n"))
	status := string(b[statusAt : statusAt+3])
	switch {
	case bytes.HasPrefix(b, notTLS):
		return line, refusal{"https_needed", "This port is for https"}
	case bytes.HasPrefix(rest, refusalHeader), status == "417":
		if known, ok := refusals[status]; ok {
			return line, known
		}
		return line, refusal{"bad_request", countersign.MsgInvalidRequest}
	}
	return nil, refusal{}
}

// errorBodies shapes errors as [Options] does; nil is the store's envelope.
type errorBodies func(*http.Request, *countersign.Error) []byte

// respond returns the response to a refused request as the front end's errors are. The status line says what is wrong.
func (of errorBodies) respond(statusLine []byte, to refusal) []byte {
	shown := &countersign.Error{Kind: countersign.KindInvalid, Code: to.code, Message: to.message}
	body := envelopeBody(shown)
	if of != nil {
		body = of(nil, shown)
	}
	return fmt.Appendf(nil, "%s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\nContent-Type: %s\r\n"+
		"X-Content-Type-Options: nosniff\r\nX-Error-Code: %s\r\n\r\n%s", statusLine, len(body), valueJSON[0], to.code, body)
}
