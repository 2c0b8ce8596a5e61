package play

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// endpoint is a token endpoint whose answers wait until they are released.
type endpoint struct {
	asked    atomic.Int64
	released chan struct{}
	status   int
	body     string
}

// RoundTrip implements [http.RoundTripper].
func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	e.asked.Add(1)
	select {
	case <-e.released:
		return &http.Response{StatusCode: e.status, Body: io.NopCloser(strings.NewReader(e.body)), Request: r}, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

func (e *endpoint) tokens(t *testing.T) *tokenSource {
	t.Helper()
	e.released = make(chan struct{})
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	return &tokenSource{account: account{key: key}, url: "http://play.example/token", client: &http.Client{Transport: e}, now: time.Now}
}

// reasonIn is the reason of an [Error], "" for another one.
func reasonIn(err error) Reason {
	if playErr, ok := errors.AsType[*Error](err); ok {
		return playErr.Reason
	}
	return ""
}

func TestCallersAtOnceShareARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{status: http.StatusBadRequest, body: `{"error":"invalid_grant"}`}
		s := e.tokens(t)
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if _, err := s.get(t.Context()); reasonIn(err) != Unauthorized {
					t.Errorf("error %v, want one of an account that is refused", err)
				}
			})
		}
		synctest.Wait()
		close(e.released)
		all.Wait()
		expect.Equalf(t, e.asked.Load(), 1, "calls of the token endpoint for 50 callers at once")
		if _, err := s.get(t.Context()); reasonIn(err) != Unauthorized || e.asked.Load() != 2 {
			t.Errorf("afterwards: %v, %d calls", err, e.asked.Load())
		}
	})
}

func TestACallerThatGivesUpDoesNotEndTheCallOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &endpoint{status: http.StatusOK, body: `{"access_token":"a","expires_in":3600}`}
		s := e.tokens(t)
		first, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := s.get(first); reasonIn(err) != Unavailable {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if token, err := s.get(t.Context()); token != "a" || err != nil {
				t.Errorf("the second: %q, %v", token, err)
			}
		})
		synctest.Wait()
		stop()
		synctest.Wait()
		close(e.released)
		all.Wait()
		expect.Equalf(t, e.asked.Load(), 1, "calls of the token endpoint")
	})
}
