package playfake

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// script is what goes wrong on purpose.
type script struct {
	failures []failure
	delay    time.Duration
	hangs    int
	denied   map[string]bool
	calls    map[string]int
	// reviews are the orders of chargebacks that wait for an answer, by the tokens for it, and
	// answers what the developer prefers, by the orders.
	reviews, answers map[string]string
}

// failure is an answer that replaces the real one.
type failure struct {
	status     int
	reason     string
	retryAfter time.Duration
	raw        string // a body that is not in Google's form
}

// Fail makes the next n calls of the API fail with a status and one of Google's reasons.
// Calls of the token endpoint and of the keys are not among them.
func (s *Store) Fail(n, status int, reason string) {
	s.fail(n, failure{status: status, reason: reason})
}

// FailQuota makes the next n calls of the API fail because of the quota.
func (s *Store) FailQuota(n int, retryAfter time.Duration) {
	s.fail(n, failure{status: http.StatusTooManyRequests, reason: "rateLimitExceeded", retryAfter: retryAfter})
}

// FailRaw makes the next n calls of the API fail with a body that is not in Google's form, as
// a proxy does.
func (s *Store) FailRaw(n, status int, body string) { s.fail(n, failure{status: status, raw: body}) }

func (s *Store) fail(n int, f failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.script.failures = append(s.script.failures, f)
	}
}

// Delay makes each answer of the API wait, in real time.
func (s *Store) Delay(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script.delay = d
}

// Hang makes the next n calls of the API wait until their client ends them.
func (s *Store) Hang(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script.hangs = n
}

// Parts of the API that can be denied.
const (
	PartPurchases = "purchases"
	PartVoided    = "voided"
	PartProducts  = "products"
	PartOrders    = "orders"
	PartPubSub    = "pubsub"
)

// Deny takes the permission for a part of the API from the service account, or returns it.
func (s *Store) Deny(part string, denied bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.denied == nil {
		s.script.denied = map[string]bool{}
	}
	s.script.denied[part] = denied
}

// Calls returns how many requests came for a path, without its host. Paths end before the query.
func (s *Store) Calls(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.script.calls[path]
}

// TotalCalls returns how many requests came for paths with a prefix.
func (s *Store) TotalCalls(prefix string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, calls := range s.script.calls {
		if strings.HasPrefix(path, prefix) {
			n += calls
		}
	}
	return n
}

// count notes a request.
func (s *Store) count(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.script.calls == nil {
		s.script.calls = map[string]int{}
	}
	s.script.calls[path]++
}

// disturb plays the script for a request, and reports whether it answered it.
func (s *Store) disturb(w http.ResponseWriter, r *http.Request) (answered bool) {
	s.mu.Lock()
	delay, hang := s.script.delay, s.script.hangs > 0
	if hang {
		s.script.hangs--
	}
	var next *failure
	if !hang && len(s.script.failures) > 0 {
		next = &s.script.failures[0]
		s.script.failures = s.script.failures[1:]
	}
	s.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return true
	}
	pause(r.Context(), delay)
	if next == nil {
		return false
	}
	if next.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(next.retryAfter/time.Second)))
	}
	if next.raw != "" {
		w.WriteHeader(next.status)
		_, _ = w.Write([]byte(next.raw))
		return true
	}
	refuse(w, next.status, next.reason, "Simulated failure")
	return true
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
