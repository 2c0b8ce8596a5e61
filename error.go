package countersign

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is a failure with three parts: a kind for machines, a message for the caller and a cause for the log. Rules
// return it, one function of the server writes it, and [Client] gives it back to the caller at the other end.
type Error struct {
	Kind Kind
	// Code is the machine-readable reason, the header X-Error-Code: one of the Code constants.
	Code string
	// Message is public: the `msg` of the envelope (spec 7).
	Message string
	// Fields says of each named value of a form or an object what is wrong with it; public, and nil where the message
	// says it all.
	Fields map[string]string
	// Data is what the envelope of the error carries under `data`, public; nil for none.
	Data any
	// Cause is for the log and is never shown to a caller of the API.
	Cause error
	// RetryAfter is how long to wait before the same call makes sense again; 0 when nothing is known.
	RetryAfter time.Duration
	// Status is the HTTP status that a [Client] received; a server leaves it 0.
	Status int
	// RequestID is the X-Request-Id that a [Client] received. The rules of a server leave it empty.
	RequestID string
}

// Error joins the message, the code, the status and the cause: text for a log, not for a caller of the API.
func (e *Error) Error() string {
	text := e.Message
	if text == "" {
		text = e.Kind.String()
	}
	var notes []string
	if e.Code != "" {
		notes = append(notes, e.Code)
	}
	if e.Status != 0 {
		notes = append(notes, "HTTP "+strconv.Itoa(e.Status))
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

// Retryable reports whether the same call may succeed later, after RetryAfter.
func (e *Error) Retryable() bool { return passing(e.Kind) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Kind describes what sort of failure an [Error] is; each has one HTTP status.
type Kind uint8

// The kinds of failure. The zero value is the one that blames the server.
const (
	KindInternal Kind = iota
	KindInvalid
	KindUnauthorized
	KindForbidden
	KindNotFound
	KindMethodNotAllowed
	KindConflict
	KindTooLarge
	KindUnsupportedType
	KindLimited
	KindUnavailable
	// KindPrecondition refuses a change to something that was changed since the caller read it.
	KindPrecondition
	// KindNotAcceptable refuses a caller who takes none of the forms that there are.
	KindNotAcceptable
	// KindUnprocessable refuses what was understood and is not acceptable, such as a token that the store does not know.
	KindUnprocessable
	// KindGone is something that existed and does not any more.
	KindGone
)

// kinds holds what belongs to each Kind: its HTTP status and its name.
var kinds = [...]struct {
	status int
	name   string
}{
	KindInternal:         {http.StatusInternalServerError, "internal"},
	KindInvalid:          {http.StatusBadRequest, "invalid"},
	KindUnauthorized:     {http.StatusUnauthorized, "unauthorized"},
	KindForbidden:        {http.StatusForbidden, "forbidden"},
	KindNotFound:         {http.StatusNotFound, "not found"},
	KindMethodNotAllowed: {http.StatusMethodNotAllowed, "method not allowed"},
	KindConflict:         {http.StatusConflict, "conflict"},
	KindTooLarge:         {http.StatusRequestEntityTooLarge, "too large"},
	KindUnsupportedType:  {http.StatusUnsupportedMediaType, "unsupported type"},
	KindLimited:          {http.StatusTooManyRequests, "limited"},
	KindUnavailable:      {http.StatusServiceUnavailable, "unavailable"},
	KindPrecondition:     {http.StatusPreconditionFailed, "precondition"},
	KindNotAcceptable:    {http.StatusNotAcceptable, "not acceptable"},
	KindUnprocessable:    {http.StatusUnprocessableEntity, "unprocessable"},
	KindGone:             {http.StatusGone, "gone"},
}

// Status returns the HTTP status of the kind. A value that is none of the constants counts as KindInternal.
func (k Kind) Status() int { return kinds[k.known()].status }

// String returns the kind's name in lower case, for logs.
func (k Kind) String() string { return kinds[k.known()].name }

func (k Kind) known() Kind {
	if int(k) >= len(kinds) {
		return KindInternal
	}
	return k
}

// kindOf finds the kind for a status that a server sent, which need not be one of ours.
func kindOf(status int) Kind {
	for k := range kinds {
		if kinds[k].status == status {
			return Kind(k)
		}
	}
	switch {
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return KindUnavailable
	case status >= 400 && status < 500:
		return KindInvalid
	}
	return KindInternal
}
