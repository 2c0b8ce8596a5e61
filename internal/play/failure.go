package play

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// subject is what a call is about. It decides what 400 and 404 mean.
type subject int

const (
	aboutToken  subject = iota // reads a purchase token
	aboutAction                // acts on a purchase token
	aboutApp                   // names no purchase
)

// maxMessage is the length of Google's message in an error, in bytes.
const maxMessage = 200

// refusal is the [Error] of an answer that refuses a call.
func (c *Client) refusal(r request, response *http.Response, body []byte) error {
	found := readError(body)
	status, detail := cmp.Or(found.Code, response.StatusCode), ""
	if len(found.Errors) > 0 {
		detail = found.Errors[0].Reason
	}
	reason := reasonOf(r.about, status, detail, found.Message != "" || detail != "")
	text := fmt.Sprintf("status %d, %s: %s", status, codeWord(detail), clean(found.Message, r.secrets))
	return &Error{Reason: reason, Detail: codeWord(detail), RetryAfter: retryAfter(response.Header, c.now()), Cause: errors.New(text)}
}

// googleError is the error object of Google's services.
type googleError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Errors  []struct {
		Reason string `json:"reason"`
	} `json:"errors"`
}

// readError reads the body of a refusal. It is empty for a body that is not in Google's form.
func readError(body []byte) googleError {
	var answer struct {
		Error googleError `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return googleError{}
	}
	return answer.Error
}

// reasonOf is the table of Google's refusals (notes on Google Play, 1.11). An answer that is
// not in Google's form comes from something between, and says nothing about a purchase.
func reasonOf(about subject, status int, detail string, inForm bool) Reason {
	switch {
	case status == http.StatusUnauthorized:
		return Unauthorized
	case status == http.StatusForbidden && !strings.HasSuffix(detail, "LimitExceeded") && detail != "quotaExceeded":
		return Unauthorized
	case status == http.StatusForbidden, status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500, status < 400, !inForm:
		return Unavailable
	case status == http.StatusNotFound && detail == "applicationNotFound":
		return ApplicationNotFound
	case status == http.StatusNotFound && about != aboutApp:
		return TokenNotFound
	case status == http.StatusGone && about != aboutApp:
		return Gone
	case status == http.StatusBadRequest && (about == aboutToken || about == aboutAction && detail == "invalid"):
		return InvalidToken
	}
	return Refused
}

// failureOf is the [Error] of a call that got no answer that could be read.
func failureOf(ctx context.Context, err error, secrets ...string) error {
	if playErr, ok := errors.AsType[*Error](err); ok {
		return playErr
	}
	for _, ended := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, ended) || errors.Is(ctx.Err(), ended) {
			return &Error{Reason: Unavailable, Cause: fmt.Errorf("no answer: %w", ended)}
		}
	}
	// The text of this error begins with the URL, which names the purchase.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return &Error{Reason: Unavailable, Cause: errors.New(clean(err.Error(), secrets))}
}

// opaqueWord is what a token or a part of one looks like. Words of messages, and parts of
// the addresses in them, are shorter.
var opaqueWord = regexp.MustCompile(`[A-Za-z0-9_~+=-]{28,}`)

// clean returns a text of others on one line, without the secrets of the call and without what
// looks like another, and cut.
func clean(text string, secrets []string) string {
	for _, secret := range secrets {
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret)} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[removed]")
			}
		}
	}
	text = opaqueWord.ReplaceAllString(text, "[removed]")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
	}
	return text
}

// retryAfter returns how long an answer asks to wait, a day at most; 0 when it does not say.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if text == "" {
		return 0
	}
	wait := time.Duration(0)
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), 24*time.Hour)
}
