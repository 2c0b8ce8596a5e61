package web

import (
	"cmp"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
)

// retryDefault is what Retry-After says when an error that must have one does not say how long.
const retryDefault = 5 * time.Second

// Representation writes the body of an error, with the status. Reason, Retry-After and what else describes the error in
// the headers are set. What it is given of the error is safe to show, and has a message.
type Representation func(status int, shown *countersign.Error) error

// Fail writes an error as something other than the JSON of the edge, for example as a page. w is that of a handler of an
// [Edge].
func Fail(w http.ResponseWriter, r *http.Request, err error, as Representation) error {
	a := answerOf(w)
	return a.edge.fail(r, a, err, as)
}

// failJSON writes an error as the JSON of the edge.
func (e *Edge) failJSON(w http.ResponseWriter, r *http.Request, a *response, err error) {
	_ = e.fail(r, a, err, func(status int, shown *countersign.Error) error {
		if a.always200 && status < http.StatusInternalServerError {
			status = http.StatusOK
		}
		send(w, status, e.bodyOf(a, r, shown))
		return nil
	})
}

// bodyOf is the body of an error in the form of the front end.
func (e *Edge) bodyOf(a *response, r *http.Request, shown *countersign.Error) []byte {
	if e.errorBody == nil {
		return envelopeBody(shown)
	}
	named := *shown
	named.RequestID = a.id
	return e.errorBody(r, &named)
}

// fail writes an error: the only function that does. The status comes from the error's kind, the body from its
// message; the cause goes to the log when the fault is ours, and nowhere else.
func (e *Edge) fail(r *http.Request, a *response, err error, as Representation) error {
	shown := public(err)
	status := shown.Kind.Status()
	a.code = shown.Code
	if status == http.StatusTooManyRequests && e.metrics != nil {
		e.metrics.refusals.WithLabelValues(shown.Code).Inc()
	}
	e.logFailure(a, r, shown, err)
	if a.status != 0 {
		a.abort = true // too late for an answer; a broken connection is at least not taken for a whole one
		return nil
	}
	a.setErrorHeader(shown, status)
	return as(status, shown)
}

// public returns the part of err that a caller may see. It always has a message.
func public(err error) *countersign.Error {
	apiErr, ok := errors.AsType[*countersign.Error](err)
	if !ok || apiErr == nil || apiErr.Kind.Status() == http.StatusInternalServerError {
		return &countersign.Error{Code: countersign.CodeInternal, Message: countersign.MsgInternal}
	}
	if apiErr.Message != "" && apiErr.Code != "" {
		return apiErr
	}
	filled, d := *apiErr, defaults[apiErr.Kind]
	filled.Message = cmp.Or(apiErr.Message, d.Message, countersign.MsgInvalidRequest)
	filled.Code = cmp.Or(apiErr.Code, d.Code)
	return &filled
}

// defaults are the message and the code of kinds whose error brought none. Some kinds have no code of their own.
var defaults = map[countersign.Kind]countersign.Error{
	countersign.KindNotFound:         {Message: countersign.MsgNotFound, Code: countersign.CodeNotFound},
	countersign.KindMethodNotAllowed: {Message: countersign.MsgMethodNotAllowed, Code: countersign.CodeMethodNotAllowed},
	countersign.KindTooLarge:         {Message: countersign.MsgTooLarge, Code: countersign.CodeBodyTooLarge},
	countersign.KindUnsupportedType:  {Message: countersign.MsgUnsupportedType, Code: countersign.CodeUnsupportedType},
	countersign.KindLimited:          {Message: countersign.MsgLimited, Code: countersign.CodeRateLimited},
	countersign.KindUnavailable:      {Message: countersign.MsgUnavailable, Code: countersign.CodeUnavailable},
}

// setErrorHeader sets what every error carries and takes away what described another body.
func (a *response) setErrorHeader(err *countersign.Error, status int) {
	h := a.ResponseWriter.Header()
	for _, name := range [...]string{"Etag", "Last-Modified", "Content-Encoding", "Content-Disposition"} {
		delete(h, name)
	}
	h["Cache-Control"] = valueNoStore
	if err.Code != "" {
		a.codeValue[0] = err.Code
		h["X-Error-Code"] = a.codeValue[:]
	}
	if status == http.StatusUnauthorized && h["Www-Authenticate"] == nil {
		h["Www-Authenticate"] = valueBearer
	}
	if err.Code == countersign.CodeUnsupportedEncoding {
		h["Accept-Encoding"] = valueIdentity // RFC 9110, 12.5.3
	}
	wait := err.RetryAfter
	if wait <= 0 && (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) {
		wait = retryDefault
	}
	if wait > 0 {
		h.Set("Retry-After", wholeSeconds(wait))
	}
}

// wholeSeconds prints d in seconds, rounded up.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(max(0, d.Seconds()))))
}

// DetailedBody is an error in both forms that clients in the field read, "msg" and "message", with its code and what is
// wrong with each value.
func DetailedBody(_ *http.Request, err *countersign.Error) []byte {
	body := struct {
		Status  string            `json:"status"`
		Msg     string            `json:"msg"`
		Message string            `json:"message"`
		Code    string            `json:"code"`
		Fields  map[string]string `json:"fields,omitempty"`
		Data    any               `json:"data,omitempty"`
	}{"error", err.Message, err.Message, cmp.Or(err.Code, "invalid"), err.Fields, err.Data}
	b, broken := countersign.EncodeJSON(body)
	if broken != nil { // only the data can be at fault
		body.Data = nil
		b, _ = countersign.EncodeJSON(body)
	}
	return b
}

// envelopeBody is the store's error (spec 2.1).
func envelopeBody(err *countersign.Error) []byte {
	b := make([]byte, 0, 64)
	b = append(b, `{"status":"error","msg":`...)
	// Invalid UTF-8 is replaced; the error that reports it is of no use here.
	b, _ = jsontext.AppendQuote(b, err.Message)
	if err.Data != nil {
		if data, broken := countersign.EncodeJSON(err.Data); broken == nil {
			b = append(append(b, `,"data":`...), data...)
		}
	}
	return append(b, '}')
}

// recovered responds to a panic with 500. If the response has already started, or the panic is http.ErrAbortHandler,
// the connection is closed.
func (e *Edge) recovered(a *response, cause any) {
	if cause == http.ErrAbortHandler {
		a.abort = true
		return
	}
	a.gone = false
	if e.log != nil {
		a.logged = true
		e.log.LogAttrs(a.r.Context(), slog.LevelError, "request panicked", append(a.facts(http.StatusInternalServerError),
			slog.Any("panic", cause), slog.String("stack", string(debug.Stack())))...)
	}
	a.code = countersign.CodeInternal
	if a.status != 0 {
		a.abort = true
		return
	}
	a.suppressedStatus, a.routed = 0, true
	h := a.ResponseWriter.Header()
	clear(h)
	a.setDefaults()
	shown := public(nil)
	a.setErrorHeader(shown, http.StatusInternalServerError)
	send(a, http.StatusInternalServerError, e.bodyOf(a, a.r, shown))
}
