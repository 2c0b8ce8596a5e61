package conformance

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// front stands before a simulation. It answers calls in its place, and counts.
type front struct {
	simulation http.Handler

	mu     sync.Mutex
	faults []fault
	calls  map[string]int // of the API, by path
	acks   map[string]acknowledgement
	down   bool
	bearer string        // of the last call of the API
	held   chan struct{} // closed when an acknowledgement is held; nil holds none
	// replace is put in place of texts in answers about subscriptions.
	replace *strings.Replacer
}

// fault is what happens to a call of the API in place of its answer.
type fault struct {
	// of is a part of the paths that it is for, "" for all.
	of     string
	status int // 0: the connection ends without an answer
	reason string
	raw    bool   // the body is not in Google's form
	after  string // the header Retry-After
	hang   bool   // until the client ends the call
}

// acknowledgement is one that the simulation accepted.
type acknowledgement struct {
	times   int
	account string // the account id that was sent with it
}

// The parts of the API in paths.
const (
	ofReads = "/subscriptionsv2/tokens/"
	ofAcks  = ":acknowledge"
	// ofConsumes is for products that are bought for days.
	ofConsumes = ":consume"
)

func newFront(s http.Handler) *front {
	return &front{simulation: s, calls: map[string]int{}, acks: map[string]acknowledgement{}}
}

// fail has the next n calls fail.
func (f *front) fail(n int, next fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		f.faults = append(f.faults, next)
	}
}

// cut has nothing answered, as an outage does, or ends that.
func (f *front) cut(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// holdAcknowledgement has the next acknowledgement wait until its client ends. The channel is
// closed when it has come.
func (f *front) holdAcknowledgement() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = make(chan struct{})
	return f.held
}

// reads counts how often a token was read.
func (f *front) reads(token string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, times := range f.calls {
		if strings.HasSuffix(path, ofReads+token) {
			n += times
		}
	}
	return n
}

// tried counts how often somebody tried to acknowledge a token.
func (f *front) tried(token string) int { return f.called(token + ofAcks) }

// called counts the calls whose paths have an end.
func (f *front) called(end string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, times := range f.calls {
		if strings.HasSuffix(path, end) {
			n += times
		}
	}
	return n
}

// heal takes back all faults.
func (f *front) heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = nil
}

func (f *front) acknowledgement(token string) acknowledgement {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.acks[token]
}

// next returns the fault of a call, nil for none.
func (f *front) next(r *http.Request) *fault {
	path := r.URL.Path
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return &fault{}
	}
	if !strings.HasPrefix(path, "/androidpublisher/") {
		return nil
	}
	f.calls[path]++
	f.bearer = r.Header.Get("Authorization")
	if f.held != nil && strings.HasSuffix(path, ofAcks) {
		close(f.held)
		f.held = nil
		return &fault{hang: true}
	}
	for i, next := range f.faults {
		if strings.Contains(path, next.of) {
			f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
			return &next
		}
	}
	return nil
}

// ServeHTTP implements [http.Handler].
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if next := f.next(r); next != nil {
		next.serve(w, r)
		return
	}
	if strings.Contains(r.URL.Path, ofReads) {
		f.serveRead(w, r)
		return
	}
	if !strings.HasSuffix(r.URL.Path, ofAcks) {
		f.simulation.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	watched := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	f.simulation.ServeHTTP(watched, r)
	if watched.status < 300 {
		f.noteAcknowledgement(r.URL.Path, body)
	}
}

// acknowledge acknowledges a purchase as another server of the app does.
func (f *front) acknowledge(t testing.TB, product, token string) {
	t.Helper()
	path := "/androidpublisher/v3/applications/" + appPackage + "/purchases/subscriptions/" + product + "/tokens/" + token + ofAcks
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader("{}"))
	f.mu.Lock()
	r.Header.Set("Authorization", f.bearer)
	f.mu.Unlock()
	w := httptest.NewRecorder()
	f.simulation.ServeHTTP(w, r)
	if w.Code >= 300 {
		t.Fatalf("acknowledge: %d %s", w.Code, w.Body)
	}
}

// rewrite has texts in answers about subscriptions replaced, as pairs of old and new; no pairs end that.
func (f *front) rewrite(pairs ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replace = strings.NewReplacer(pairs...)
}

func (f *front) serveRead(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	replace := f.replace
	f.mu.Unlock()
	if replace == nil {
		f.simulation.ServeHTTP(w, r)
		return
	}
	answer := httptest.NewRecorder()
	f.simulation.ServeHTTP(answer, r)
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	_, _ = replace.WriteString(w, answer.Body.String())
}

func (f *front) noteAcknowledgement(path string, body []byte) {
	var sent struct {
		IDs struct {
			Account string `json:"obfuscatedAccountId"`
		} `json:"externalAccountIds"`
	}
	_ = json.Unmarshal(body, &sent) // the simulation has read it
	_, token, _ := strings.Cut(strings.TrimSuffix(path, ofAcks), "/tokens/")
	f.mu.Lock()
	defer f.mu.Unlock()
	done := f.acks[token]
	done.times++
	if sent.IDs.Account != "" {
		done.account = sent.IDs.Account
	}
	f.acks[token] = done
}

func (n *fault) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case n.hang:
		_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is noticed only then
		<-r.Context().Done()
		return
	case n.status == 0:
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	if n.after != "" {
		w.Header().Set("Retry-After", n.after)
	}
	w.WriteHeader(n.status)
	if n.raw {
		_, _ = io.WriteString(w, "<html>Bad gateway</html>")
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"code": n.status, "message": "Simulated", "errors": []map[string]string{{"message": "Simulated", "domain": "androidpublisher", "reason": n.reason}},
	}})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
