package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/webtest"
)

// lines serves with an access log of the mode, and returns what the log wrote.
func lines(t *testing.T, mode LogMode, serve func(Options)) string {
	t.Helper()
	var out bytes.Buffer
	c := newClock()
	log := NewAccessLog(&out, mode)
	serve(Options{Access: log, Now: c.Now})
	ended, end := context.WithCancel(context.Background())
	end()
	must.Do(t, log.Run(ended))
	return out.String()
}

func accessExample(o Options) {
	clock := o.Now
	ticks := 0
	o.Now = func() time.Time { // 1.5 ms from the beginning of a request, over its answer, to its end
		ticks++
		return clock().Add(time.Duration(ticks) * 750 * time.Microsecond)
	}
	e := NewEdge(o)
	mux := http.NewServeMux()
	mux.Handle("POST /files/{name}", e.Wrap(func(w http.ResponseWriter, r *http.Request) error {
		Annotate(w, "ada/web")
		return &countersign.Error{Kind: countersign.KindNotFound, Code: "purchase_not_found", Message: "Invalid purchase code"}
	}))
	r := httptest.NewRequest("POST", "/files/hidden?api_key=hidden", strings.NewReader("purchase_code=hidden"))
	e.Handler(mux).ServeHTTP(httptest.NewRecorder(), r)
}

func TestAccessLogAsText(t *testing.T) {
	got := lines(t, LogText, accessExample)
	want := regexp.MustCompile(`^time=2024-04-27T12:00:00.00[0-9]Z level=INFO msg=request request_id=[0-9a-f]{16} method=POST ` +
		`route=/files/\{name\} status=404 bytes=48 ms=1\.5 client=192\.0\.2\.1 key=ada/web code=purchase_not_found\n$`)
	if !want.MatchString(got) {
		t.Errorf("got %s", got)
	}
}

func TestAccessLogAsJSON(t *testing.T) {
	got := lines(t, LogJSON, accessExample)
	var line map[string]any
	if err := json.Unmarshal([]byte(got), &line); err != nil {
		t.Fatalf("%s: %v", got, err)
	}
	for name, want := range map[string]any{
		"msg": "request", "method": "POST", "route": "/files/{name}", "status": 404.0, "bytes": 48.0, "ms": 1.5,
		"client": "192.0.2.1", "key": "ada/web", "code": "purchase_not_found",
	} {
		expect.Equalf(t, line[name], want, "%s", name)
	}
	if strings.Contains(got, "hidden") {
		t.Errorf("a secret is in %s", got)
	}
}

func TestWhichRequestsAreLogged(t *testing.T) {
	boom := func(http.ResponseWriter, *http.Request) error { return errors.New("boom") }
	byHand := func(w http.ResponseWriter, _ *http.Request) error {
		w.WriteHeader(http.StatusBadGateway)
		return nil
	}
	notFound := func(http.ResponseWriter, *http.Request) error { return errNotFound() }
	tests := []struct {
		name     string
		mode     LogMode
		h        Handler
		errorLog bool
		want     int
	}{
		{"off: 200", LogOff, say("x"), false, 0},
		{"off: 404", LogOff, notFound, false, 0},
		{"off: 500", LogOff, boom, false, 1},
		{"off: 500 that the error log has", LogOff, boom, true, 0},
		{"off: 502 that a handler wrote by hand", LogOff, byHand, true, 1},
		{"text: 200", LogText, say("x"), false, 1},
		{"text: 500 that the error log has", LogText, boom, true, 1},
		{"json: 404", LogJSON, notFound, true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(t, tt.mode, func(o Options) {
				if tt.errorLog {
					_, o.Log = logged()
				}
				NewEdge(o).Wrap(tt.h).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			})
			expect.Equalf(t, strings.Count(got, "\n"), tt.want, "lines: %s", got)
		})
	}
}

func TestALineCanNotBeForged(t *testing.T) {
	for _, mode := range []LogMode{LogText, LogJSON} {
		got := lines(t, mode, func(o Options) {
			h := NewEdge(o).Wrap(func(w http.ResponseWriter, _ *http.Request) error {
				Annotate(w, "x\nlevel=ERROR msg=\"forged\"\r\x1b[31m\u2028")
				return nil
			})
			r := httptest.NewRequest("GET", "/", nil)
			r.Method = "GET\nforged"
			h.ServeHTTP(httptest.NewRecorder(), r)
		})
		if strings.Count(got, "\n") != 1 || strings.ContainsAny(got, "\r\x1b\u2028") {
			t.Errorf("%s: %q", mode, got)
		}
	}
}

func TestLinesThatDoNotFitAreCounted(t *testing.T) {
	got := lines(t, LogText, func(o Options) {
		h := NewEdge(o).Wrap(say("x"))
		r := httptest.NewRequest("GET", "/", nil)
		for range accessRoom + 7 {
			h.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
	expect.Equalf(t, strings.Count(got, "msg=request "), accessRoom, "lines")
	if !strings.Contains(got, `msg="access log lines dropped" dropped=7`) {
		t.Error("the dropped ones are not mentioned")
	}
}

func TestDroppedLinesAreCountedSinceTheStart(t *testing.T) {
	var out bytes.Buffer
	log := NewAccessLog(&out, LogText)
	h := NewEdge(Options{Access: log}).Wrap(say("x"))
	for i := 1; i <= 2; i++ { // a flush forgets none
		for range accessRoom + 7 {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		}
		if err := log.flush(); err != nil || log.Dropped() != int64(7*i) {
			t.Errorf("%d lines dropped, want %d (%v)", log.Dropped(), 7*i, err)
		}
	}
}

func TestLinesAreWrittenWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out webtest.Log
		log := NewAccessLog(&out, LogText)
		ctx, end := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- log.Run(ctx) }()
		h := NewEdge(Options{Access: log}).Wrap(say("x"))
		for i := 1; i <= 3; i++ {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
			<-time.After(time.Second) // of the bubble's clock
			synctest.Wait()
			if n := strings.Count(out.String(), "\n"); n != i {
				t.Errorf("%d lines after %d requests", n, i)
			}
		}
		for range accessRoom / 2 {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		}
		synctest.Wait()
		expect.Equalf(t, strings.Count(out.String(), "\n"), 3+accessRoom/2, "lines when half of the room was taken")
		end()
		expect.NoError(t, <-done)
	})
}

// deaf is an output that takes nothing.
type deaf struct{}

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAnOutputThatFailsIsReported(t *testing.T) {
	log := NewAccessLog(deaf{}, LogText)
	NewEdge(Options{Access: log}).Wrap(say("x")).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	ended, end := context.WithCancel(context.Background())
	end()
	if err := log.Run(ended); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
	expect.Equalf(t, log.Dropped(), 1, "lines were dropped")
}

func TestParseLogMode(t *testing.T) {
	for _, good := range []string{"off", "text", "json"} {
		if m, err := ParseLogMode(good); err != nil || string(m) != good {
			t.Errorf("%s: %q, %v", good, m, err)
		}
	}
	for _, bad := range []string{"", "JSON", "on"} {
		if _, err := ParseLogMode(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
