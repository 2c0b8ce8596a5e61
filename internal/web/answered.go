package web

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign/countersign/internal/requestid"
)

// Subject is what a request was about, as far as its handler has found out; 0 is unknown.
type Subject struct {
	Workspace int64 // of the key
	Key       int64
	Item      int64
	Purchase  int64
	// Reason is why a response without an error says no; "" when it does not.
	Reason string
}

// SubjectOf returns where a handler notes what its request is about, for [Options.Answered].
func SubjectOf(w http.ResponseWriter) *Subject {
	if a := answerOf(w); a != nil {
		return &a.subject
	}
	return new(Subject)
}

// Answered is a request that was answered. It may not be kept.
type Answered struct {
	a    *response
	took time.Duration
}

// Number returns the request's id.
func (d Answered) Number() requestid.Number { return d.a.number }

// Subject returns what the request was about.
func (d Answered) Subject() Subject { return d.a.subject }

// Took returns the time from the request's header to the end of the response.
func (d Answered) Took() time.Duration { return d.took }

// Method returns the request's method, or "other" for one that is not in a standard.
func (d Answered) Method() string { return methodLabel(d.a.r.Method) }

// Path returns the clean path of the request. A client may have chosen it.
func (d Answered) Path() string { return d.a.r.URL.Path }

// Route returns the path of the pattern that matched, or "unmatched".
func (d Answered) Route() string { return routeLabel(d.a.r.Pattern) }

// Status returns the status as sent; 499 for a client that left before the response.
func (d Answered) Status() int { return d.a.status }

// Code returns the error's code, as X-Error-Code has it; empty for a success.
func (d Answered) Code() string { return d.a.code }

// Addr returns the client's address, as [ClientAddr].
func (d Answered) Addr() netip.Addr { return d.a.addr }

// Header returns the request's header.
func (d Answered) Header() http.Header { return d.a.r.Header }

// EachParam calls fn with each parameter that the handler asked for and the client sent, and whether it stood in the
// query. The values are as sent, secrets included.
func (d Answered) EachParam(fn func(name, value string, query bool)) {
	for i := range d.a.params.list {
		if p := &d.a.params.list[i]; p.given {
			fn(p.name, p.value, p.query)
		}
	}
}
