package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
)

// failing serves a handler that returns err.
func failing(o Options, err error) *http.Response {
	h := NewEdge(o).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("ETag", `"stale"`)
		w.Header().Set("Last-Modified", "yesterday")
		w.Header().Set("Cache-Control", "public")
		return err
	})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/?api_key=hidden", nil))
	return w.Result()
}

func TestErrorAnswers(t *testing.T) {
	cause := errors.New("dial tcp 10.0.0.7: sqlite_master")
	msg := func(s string) string { return `{"status":"error","msg":"` + s + `"}` }
	tests := []struct {
		name              string
		err               error
		status            int
		code, retry, body string
	}{
		{"invalid", errInvalid("bad_body", cause), 400, "bad_body", "", msg("Invalid request")},
		{"unauthorized", &countersign.Error{Kind: countersign.KindUnauthorized, Code: "key_unknown", Message: "Invalid request"}, 401, "key_unknown", "", msg("Invalid request")},
		{"forbidden", &countersign.Error{Kind: countersign.KindForbidden, Code: "key_scope", Message: "Invalid request"}, 403, "key_scope", "", msg("Invalid request")},
		{"not found", &countersign.Error{Kind: countersign.KindNotFound, Code: "item_not_found", Message: "Item Not Found"}, 404, "item_not_found", "", msg("Item Not Found")},
		{"conflict", &countersign.Error{Kind: countersign.KindConflict, Code: "taken", Message: "Taken"}, 409, "taken", "", msg("Taken")},
		{"too large", errTooLarge(cause), 413, "body_too_large", "", msg("Request too large")},
		{"unsupported type", errUnsupported(), 415, "unsupported_type", "", msg("Unsupported content type")},
		{"limited", &countersign.Error{Kind: countersign.KindLimited, Code: "quota_exceeded", Message: "Too many requests", RetryAfter: 1200 * time.Millisecond}, 429, "quota_exceeded", "2", msg("Too many requests")},
		{"limited without a time still says when to come back", &countersign.Error{Kind: countersign.KindLimited}, 429, "rate_limited", "5", msg("Too many requests")},
		{"unavailable says when to come back", &countersign.Error{Kind: countersign.KindUnavailable, Cause: cause}, 503, "unavailable", "5", msg("Service unavailable")},
		{"unavailable with its own time", &countersign.Error{Kind: countersign.KindUnavailable, RetryAfter: time.Minute}, 503, "unavailable", "60", msg("Service unavailable")},
		{"a kind without message or code gets its own", &countersign.Error{Kind: countersign.KindNotFound}, 404, "not_found", "", msg("Not found")},
		{"a message is escaped as JSON, not as HTML", &countersign.Error{Kind: countersign.KindInvalid, Code: "c", Message: "a \"b\"\n<c>"}, 400, "c", "", `{"status":"error","msg":"a \"b\"\n<c>"}`},
		{"a wrapped error keeps its kind", fmt.Errorf("store: look up: %w", errTooLarge(nil)), 413, "body_too_large", "", msg("Request too large")},
		{"a stranger's error is ours", cause, 500, "internal", "", msg("Internal error")},
		{"an error without a kind shows nothing of itself", &countersign.Error{Code: "sql_7", Message: "near SELECT", Cause: cause}, 500, "internal", "", msg("Internal error")},
		{"a kind that does not exist is internal", &countersign.Error{Kind: 200, Message: "near SELECT"}, 500, "internal", "", msg("Internal error")},
		{"a nil error in an interface", (*countersign.Error)(nil), 500, "internal", "", msg("Internal error")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := failing(Options{}, tt.err)
			expect.Equalf(t, res.StatusCode, tt.status, "status")
			if got := bodyOf(t, res); got != tt.body || res.ContentLength != int64(len(got)) {
				t.Errorf("body %s (length %d), want %s", got, res.ContentLength, tt.body)
			}
			want := map[string]string{
				"X-Error-Code": tt.code, "Retry-After": tt.retry, "Etag": "", "Last-Modified": "",
				"Cache-Control": "no-store", "Content-Type": "application/json; charset=utf-8", "Www-Authenticate": "",
			}
			if tt.status == 401 {
				want["Www-Authenticate"] = `Bearer realm="countersign"`
			}
			for name, value := range want {
				expect.Equalf(t, strings.Join(res.Header[name], ","), value, "%s", name)
			}
		})
	}
}

func TestCausesAreLoggedOnceWhenTheFaultIsOurs(t *testing.T) {
	cause := errors.New("disk I/O error")
	tests := []struct {
		name  string
		err   error
		lines int
	}{
		{"a stranger's error", cause, 1},
		{"unavailable", &countersign.Error{Kind: countersign.KindUnavailable, Cause: cause}, 1},
		{"internal", &countersign.Error{Cause: cause}, 1},
		{"the caller's fault", errInvalid("bad_body", cause), 0},
		{"not found", errNotFound(), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, log := logged()
			res := failing(Options{Log: log}, tt.err)
			if got := strings.Count(out.String(), "\n"); got != tt.lines {
				t.Errorf("%d lines, want %d:\n%s", got, tt.lines, out)
			}
			if tt.lines > 0 && !strings.Contains(out.String(), "disk I/O error") {
				t.Errorf("the cause is not in %s", out)
			}
			if tt.lines > 0 && !strings.Contains(out.String(), res.Header.Get("X-Request-Id")) {
				t.Errorf("the request id is not in %s", out)
			}
			if strings.Contains(out.String(), "hidden") {
				t.Errorf("the query is in %s", out)
			}
		})
	}
}

func TestAlways200(t *testing.T) {
	for kind := countersign.KindInternal; kind <= countersign.KindUnavailable; kind++ {
		err := &countersign.Error{Kind: kind, Code: "c", Message: "m", RetryAfter: time.Second}
		plain := failing(Options{}, err)
		h := NewEdge(Options{}).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
			Always200(w)
			return err
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		want := 200
		if plain.StatusCode >= 500 {
			want = plain.StatusCode
		}
		expect.Equalf(t, w.Code, want, "%s: status", kind)
		expect.Equalf(t, w.Body.String(), bodyOf(t, plain), "%s: body %s", kind, w.Body)
		for _, name := range []string{"X-Error-Code", "Www-Authenticate", "Retry-After", "Cache-Control"} {
			expect.Equalf(t, w.Header().Get(name), plain.Header.Get(name), "%s: %s", kind, name)
		}
	}
}

func TestWholeSecondsRoundsUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0", 0: "0", 1: "1", time.Second: "1", time.Second + 1: "2", time.Minute: "60",
	} {
		expect.Equalf(t, wholeSeconds(d), want, "%s", d)
	}
}
