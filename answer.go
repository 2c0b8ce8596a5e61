package countersign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// answer is what came back for one attempt. Its zero value is that of an attempt without an answer.
type answer struct {
	status     int // of HTTP
	errorCode  string
	requestID  string
	etag       string
	retryAfter time.Duration
	body       []byte
	redact     func(string) string
	members    members
	// refused reports that the store answered with an error text, so that the says methods have something to go by.
	refused bool
	// passing reports that the same call may succeed a little later.
	passing bool
}

// members are the members of an envelope (spec 2.1), and those that other servers use in place of msg.
type members struct {
	Status  json.RawMessage `json:"status"`
	Msg     json.RawMessage `json:"msg"`
	Message json.RawMessage `json:"message"`
	Error   json.RawMessage `json:"error"`
	Data    json.RawMessage `json:"data"`
	Items   json.RawMessage `json:"items"`
	Item    json.RawMessage `json:"item"`
}

// read understands the answer as far as it can be understood. The status of HTTP counts only where the body does not
// say success: some stores answer 200 to everything.
func (a *answer) read() error {
	body := repairVersions(bytes.TrimPrefix(a.body, []byte("\xef\xbb\xbf")))
	if err := json.Unmarshal(body, &a.members); err != nil {
		a.passing = a.status == http.StatusTooManyRequests || a.status >= http.StatusInternalServerError
		return a.notUnderstood(err)
	}
	if text(a.members.Status) == "success" {
		return nil
	}
	kind := a.kind()
	a.passing = passing(kind)
	if !a.isError() && a.message() == "" {
		return a.notUnderstood(errors.New("its status is neither success nor error"))
	}
	a.refused = true
	return &Error{
		Kind:       kind,
		Code:       a.redact(a.errorCode),
		Message:    a.redact(a.message()),
		RetryAfter: a.retryAfter,
		Status:     a.status,
		RequestID:  a.redact(a.requestID),
	}
}

// unchanged reports that the caller has what was asked for already.
func (a *answer) unchanged() bool { return a.status == http.StatusNotModified }

// isError reports whether the body is an error envelope (spec 2.1).
func (a *answer) isError() bool { return text(a.members.Status) == "error" }

// message is the error text, from the member that carries it.
func (a *answer) message() string {
	for _, member := range []json.RawMessage{a.members.Msg, a.members.Message, a.members.Error} {
		if s := text(member); s != "" {
			return s
		}
	}
	return ""
}

// says compares the error text with one of the Msg constants, without regard to letter case.
func (a *answer) says(message string) bool { return strings.EqualFold(a.message(), message) }

// kind trusts our own codes first, since they are exact, then the status of HTTP, then the text.
func (a *answer) kind() Kind {
	if kind, known := codeKinds[a.errorCode]; known {
		return kind
	}
	if a.status >= http.StatusBadRequest {
		return kindOf(a.status)
	}
	if kind, known := messageKinds[strings.ToLower(a.message())]; known {
		return kind
	}
	return KindInvalid
}

// passing reports whether a failure of this kind may be over a little later.
func passing(kind Kind) bool {
	return kind == KindLimited || kind == KindInternal || kind == KindUnavailable
}

// aboutCaller reports whether the store did not get as far as the question: it refused the key, or has a bad moment.
func (a *answer) aboutCaller() bool {
	kind := a.kind()
	return passing(kind) || kind == KindUnauthorized || kind == KindForbidden
}

// saysNoItems reports whether the store refused because the workspace has no items (spec 7).
func (a *answer) saysNoItems() bool {
	return a.refused && (a.errorCode == CodeNoItems || a.says(MsgNoItems) && !a.aboutCaller())
}

// saysNotValid reports whether the store said that no such valid purchase exists. A 404 alone does not: a wrong
// address gives one too, as a page, or from a store of ours as an envelope with the code not_found.
func (a *answer) saysNotValid() bool {
	if !a.refused {
		return false
	}
	if strings.HasPrefix(a.errorCode, "purchase_") {
		return true
	}
	if _, known := codeKinds[a.errorCode]; known || a.aboutCaller() {
		return false
	}
	if a.says(MsgInvalidPurchaseCode) {
		return true
	}
	return a.status == http.StatusNotFound && a.isError() && !a.says(MsgNotFound) && !a.says(MsgInvalidRequest)
}

// decode fills v from a member of a success: data, items or item.
func (a *answer) decode(name string, v any) error {
	payload := map[string]json.RawMessage{"data": a.members.Data, "items": a.members.Items, "item": a.members.Item}[name]
	if len(payload) == 0 || string(payload) == "null" {
		return a.notUnderstood(fmt.Errorf("the member %s is missing", name))
	}
	if err := json.Unmarshal(payload, v); err != nil {
		return a.notUnderstood(err)
	}
	return nil
}

// firstBytes is how much of an answer a [NotJSONError] keeps.
const firstBytes = 200

func (a *answer) notUnderstood(cause error) error {
	// The key goes first: cut in two by the limit, it would not be found.
	first := a.redact(string(a.body))
	return &NotJSONError{Status: a.status, Body: first[:min(len(first), firstBytes)], Cause: cause}
}

// text returns the string that a JSON value is, or nothing when it is none.
func text(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return strings.TrimSpace(s)
}
