package play

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// errTooLarge ends the reading of a body that is larger than any that Google sends.
var errTooLarge = errors.New("the answer is too large")

// boundedTransport bounds the bodies of answers.
type boundedTransport struct {
	base http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (t *boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: maxBodyBytes}
	return response, nil
}

// boundedBody is a body that fails after a number of bytes.
type boundedBody struct {
	io.ReadCloser
	left int
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// authTransport adds the access token, and waits for its turn.
type authTransport struct {
	base   http.RoundTripper
	tokens *tokenSource
	pace   *pacer
}

// RoundTrip implements [http.RoundTripper].
func (t *authTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.pace.wait(r.Context()); err != nil {
		return nil, errors.Join(err, closeBody(r))
	}
	token, err := t.tokens.get(r.Context())
	if err != nil {
		return nil, errors.Join(err, closeBody(r))
	}
	signed := r.Clone(r.Context())
	signed.Header.Set("Authorization", "Bearer "+token)
	response, err := t.base.RoundTrip(signed)
	if err == nil && response.StatusCode == http.StatusUnauthorized {
		t.tokens.drop(token)
	}
	return response, err
}

// closeBody does what a round tripper has to do with each request.
func closeBody(r *http.Request) error {
	if r.Body == nil {
		return nil
	}
	return r.Body.Close()
}

// pacer spaces calls evenly. A nil pacer lets all pass.
type pacer struct {
	interval time.Duration
	mu       sync.Mutex
	next     time.Time
}

func newPacer(rate int) *pacer {
	if rate <= 0 {
		return nil
	}
	return &pacer{interval: time.Second / time.Duration(rate)}
}

// wait returns when the call may begin. It fails at once, and takes no turn, when that is
// after the deadline of ctx.
func (p *pacer) wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	delay, err := p.reserve(ctx)
	if err != nil || delay <= 0 {
		return err
	}
	turn := time.NewTimer(delay)
	defer turn.Stop()
	select {
	case <-turn.C:
		return nil
	case <-ctx.Done():
		return &Error{Reason: Unavailable, Cause: ctx.Err()}
	}
}

func (p *pacer) reserve(ctx context.Context) (time.Duration, error) {
	// The monotonic clock, because what is spaced are calls, not dates.
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	begin := p.next
	if begin.Before(now) {
		begin = now
	}
	if deadline, ok := ctx.Deadline(); ok && begin.After(deadline) {
		return 0, &Error{Reason: Unavailable, RetryAfter: begin.Sub(now), Cause: errors.New("too many calls to Google at once")}
	}
	p.next = begin.Add(p.interval)
	return begin.Sub(now), nil
}
