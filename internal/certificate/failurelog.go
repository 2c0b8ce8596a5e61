package certificate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
)

// maxDocument is how much of a response of the authority is examined, in bytes.
const maxDocument = 64 << 10

// failureLog logs calls of a certificate authority that failed, and why it refused a certificate. The
// manager renews in the background and does not report errors.
type failureLog struct {
	calls http.RoundTripper
	log   *slog.Logger
}

// RoundTrip implements [http.RoundTripper].
func (f failureLog) RoundTrip(r *http.Request) (*http.Response, error) {
	w, err := f.calls.RoundTrip(r)
	if errors.Is(err, context.Canceled) { // the server stops
		return w, err
	}
	if err != nil {
		f.log.Warn("the certificate authority can't be reached", "host", r.URL.Host, "cause", err)
		return w, err
	}
	if !strings.Contains(w.Header.Get("Content-Type"), "json") {
		return w, nil
	}
	begin, err := io.ReadAll(io.LimitReader(w.Body, maxDocument))
	w.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(begin), w.Body), w.Body}
	if why := refusal(begin); why != "" && err == nil {
		f.log.Warn("the certificate authority refused", "host", r.URL.Host, "status", w.StatusCode, "why", why)
	}
	return w, nil
}

// problem is a problem document (RFC 9457).
type problem struct {
	Type   string `json:"type"`
	Detail string `json:"detail"`
}

// refusal returns what a response says of a failure, "" for nothing: it is a problem, or an order or an authorization with
// one (RFC 8555, 6.7 and 7.1). A nonce that was used is replaced by the next call.
func refusal(text []byte) string {
	var document struct {
		problem
		Error      problem `json:"error"`
		Challenges []struct {
			Error problem `json:"error"`
		} `json:"challenges"`
	}
	if json.Unmarshal(text, &document) != nil || strings.HasSuffix(document.Type, ":badNonce") {
		return ""
	}
	all := []problem{document.problem, document.Error}
	for _, c := range document.Challenges {
		all = append(all, c.Error)
	}
	for _, p := range all {
		if p.Detail != "" {
			return p.Detail
		}
	}
	return ""
}
