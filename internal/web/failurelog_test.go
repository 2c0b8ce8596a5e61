package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
)

func TestAnOutageIsToldOnceAMinuteForEachCode(t *testing.T) {
	out, log := logged()
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	edge := NewEdge(Options{Log: log, Now: func() time.Time { return now }})
	down := &countersign.Error{Kind: countersign.KindUnavailable, Code: "unavailable", Message: "m", Cause: errors.New("no database")}
	update := &countersign.Error{Kind: countersign.KindUnavailable, Code: "update_needed", Message: "m", Cause: errors.New("no tables")}
	fault := errors.New("disk I/O error")
	steps := []struct {
		name  string
		after time.Duration
		err   error
		want  string // of the line; "" for none
	}{
		{"the first answer is told", 0, down, "level=WARN msg=\"requests get 503\""},
		{"the next is not", time.Second, down, ""},
		{"nor the one after", time.Second, down, ""},
		{"another reason is told for itself", 0, update, "no tables"},
		{"an outage hides no fault", 0, fault, "level=ERROR msg=\"request failed\""},
		{"nor the second one", 0, fault, "level=ERROR msg=\"request failed\""},
		{"after a minute it is told again, with how many were not", 58 * time.Second, down, "not_told_before=2"},
		{"and then no more", 59 * time.Second, down, ""},
		{"another minute, with a body of its own", time.Second, nil, "not_told_before=1"},
	}
	for _, tt := range steps {
		now = now.Add(tt.after)
		out.Reset()
		edge.Wrap(func(w http.ResponseWriter, r *http.Request) error {
			if tt.err == nil {
				return Fail(w, r, down, func(int, *countersign.Error) error { return nil })
			}
			return tt.err
		}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		lines := strings.Count(out.String(), "\n")
		if tt.want == "" && lines != 0 || tt.want != "" && (lines != 1 || !strings.Contains(out.String(), tt.want)) {
			t.Errorf("%s: want one line with %q, got %q", tt.name, tt.want, out)
		}
	}
}

func TestTheAccessLogTakesAnOutageForNoError(t *testing.T) {
	for status, want := range map[int]string{200: "INFO", 404: "INFO", 500: "ERROR", 502: "ERROR", 503: "INFO"} {
		e := accessEntry{status: status}
		expect.Equalf(t, e.record().Level.String(), want, "%d", status)
	}
}

// net/http ends the context of a request when the read deadline of its connection has passed.
func TestARequestThatADeadlineOfOursEndedIsLogged(t *testing.T) {
	for name, late := range map[string]bool{"a deadline": true, "a client that has left": false} {
		out, log := logged()
		here, there := net.Pipe()
		c := newConn(here, newSlots(1, nil, func(reason) {}, func(reason) {}))
		ctx, leave := context.WithCancel(withConn(context.Background(), c))
		h := NewEdge(Options{Log: log}).Wrap(func(_ http.ResponseWriter, r *http.Request) error {
			if late {
				_ = c.SetReadDeadline(time.Unix(1, 0))
			} else {
				_ = there.Close()
			}
			_, _ = c.Read(make([]byte, 1))
			leave()
			return r.Context().Err()
		})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
		if id := w.Header().Get("X-Request-Id"); w.Code != 500 || strings.Contains(out.String(), id) != late {
			t.Errorf("%s: %d, and the log says %q", name, w.Code, out)
		}
		_ = c.Close()
	}
}
