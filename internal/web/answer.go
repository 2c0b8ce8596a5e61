package web

import (
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/requestid"
)

// An answer is the ResponseWriter that handlers receive, and everything that is known about one request.
type response struct {
	http.ResponseWriter
	edge    *Edge
	r       *http.Request
	conn    *conn // nil outside of [Serve]
	number  requestid.Number
	id      string
	key     string
	subject Subject
	code    string
	addr    netip.Addr
	start   time.Time

	status           int   // as sent; 0 until the header is written
	suppressedStatus int   // the status of an answer of the mux's own, which was not sent
	bytes            int64 // of the body
	routed           bool  // a handler of ours has the request
	always200        bool
	logged           bool // the cause is in the log already
	abort            bool // the answer is broken off: the connection must not survive
	gone             bool // the client left before the answer

	idValue     [1]string
	codeValue   [1]string
	lengthValue [1]string
	params      Params
}

// The values of headers that never change; nobody writes into them.
var (
	valueNoStore     = []string{"no-store"}
	valueNoSniff     = []string{"nosniff"}
	valueNoReferrer  = []string{"no-referrer"}
	valueJSON        = []string{"application/json; charset=utf-8"}
	valueBearer      = []string{`Bearer realm="countersign"`}
	valueIdentity    = []string{"identity"}
	valueRevalidated = []string{"private, no-cache"}
)

// StatusClientGone is the status in logs and metrics of a request whose client disconnected, as in nginx.
const StatusClientGone = 499

// begin creates the response writer of a request and sets the default headers.
func (e *Edge) begin(w http.ResponseWriter, r *http.Request) *response {
	start := e.now()
	number := e.ids.Next(start)
	a := &response{ResponseWriter: w, edge: e, r: r, number: number, id: number.String(), conn: connOf(r), start: start}
	a.addr = clientAddr(r, e.trusted)
	if e.metrics != nil {
		e.metrics.inFlight.Inc()
	}
	a.setDefaults()
	return a
}

func (a *response) setDefaults() {
	a.idValue[0] = a.id
	h := a.ResponseWriter.Header()
	h["X-Request-Id"] = a.idValue[:]
	h["Cache-Control"] = valueNoStore
	h["X-Content-Type-Options"] = valueNoSniff
	h["Referrer-Policy"] = valueNoReferrer
}

// end recovers a panic, then counts and logs the request. It is deferred, so that recover works.
func (a *response) end() {
	if cause := recover(); cause != nil {
		a.edge.recovered(a, cause)
	}
	a.account()
	if a.abort {
		panic(http.ErrAbortHandler)
	}
}

func (a *response) account() {
	if a.status == 0 && !a.abort {
		a.status = http.StatusOK // what net/http sends for a handler that wrote nothing
	}
	if a.gone {
		a.status, a.code = StatusClientGone, ""
	}
	e := a.edge
	logged := e.access != nil && (e.access.mode != LogOff || a.status >= 500 && !a.logged)
	if e.metrics == nil && !logged && e.answered == nil {
		return
	}
	took := e.now().Sub(a.start)
	if e.metrics != nil {
		e.metrics.inFlight.Dec()
		e.metrics.observe(a.r.Pattern, a.r.Method, a.status, took)
	}
	if e.answered != nil {
		e.answered(Answered{a, took})
	}
	if logged {
		e.access.put(accessEntry{
			at: a.start, took: took, id: a.id, method: a.r.Method, route: a.r.Pattern, key: a.key, code: a.code,
			addr: a.addr, status: a.status, bytes: a.bytes,
		})
	}
}

// WriteHeader sends the header, unless the answer is one of the mux's own.
func (a *response) WriteHeader(status int) {
	if a.suppressedStatus != 0 {
		return
	}
	if !a.routed && (a.r.Pattern == "" || isRedirect(status)) {
		a.suppressedStatus = status
		return
	}
	if status >= 200 && a.status == 0 {
		a.status = status
		if a.isLast() {
			a.ResponseWriter.Header()["Connection"] = valueClose
		}
		a.renewDeadline()
	}
	a.ResponseWriter.WriteHeader(status)
}

// isLast reports whether the connection ends with this response: at a stop, and with HTTP/1 after a body that is too large,
// because net/http would otherwise read the rest of the body first.
func (a *response) isLast() bool {
	return a.status == http.StatusRequestEntityTooLarge && a.r.ProtoMajor < 2 || a.conn != nil && a.conn.slots.stopping.Load()
}

// Write sends bytes of the body.
func (a *response) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.suppressedStatus != 0 || a.r.Method == http.MethodHead {
		return len(b), nil
	}
	write := a.ResponseWriter.Write
	if len(b) > smallWrite && a.conn != nil && a.r.ProtoMajor < 2 {
		write = func(b []byte) (int, error) { return a.conn.writeLarge(a.ResponseWriter, b) }
	}
	n, err := write(b)
	a.bytes += int64(n)
	return n, err
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (a *response) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// release discards the mux's suppressed response, all but its Allow header.
func (a *response) release() {
	a.suppressedStatus, a.routed = 0, true
	h := a.ResponseWriter.Header()
	delete(h, "Location")
	delete(h, "Content-Type")
}

// setLength sets Content-Length.
func (a *response) setLength(n int) {
	a.lengthValue[0] = strconv.Itoa(n)
	a.ResponseWriter.Header()["Content-Length"] = a.lengthValue[:]
}

// answerOf finds the answer under w, or nil.
func answerOf(w http.ResponseWriter) *response {
	for {
		if a, ok := w.(*response); ok {
			return a
		}
		under, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return nil
		}
		w = under.Unwrap()
	}
}
