package countersign

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const (
	attemptTimeout = 10 * time.Second
	defaultRetries = 2
	firstPause     = 200 * time.Millisecond
	longestPause   = 5 * time.Second
	// longestRetryAfter is the longest wait that a store may ask for; beyond it the caller decides.
	longestRetryAfter = 30 * time.Second
)

// call makes attempts until one is final. The answer of the last one comes back beside its error.
func (c *Client) call(ctx context.Context, r call) (*answer, error) {
	retries := c.Retries
	if retries == 0 {
		retries = defaultRetries
	}
	for n := 0; ; n++ {
		a, err := c.attempt(ctx, r)
		if err == nil || !a.passing || n >= retries || ctx.Err() != nil {
			return a, err
		}
		pause := max(backoff(n), a.retryAfter)
		if deadline, ok := ctx.Deadline(); a.retryAfter > longestRetryAfter || ok && time.Until(deadline) <= pause {
			return a, err
		}
		if stopped := wait(ctx, pause); stopped != nil {
			return a, fmt.Errorf("%w, after: %w", stopped, err)
		}
	}
}

// attempt sends the request once.
func (c *Client) attempt(ctx context.Context, r call) (*answer, error) {
	a := &answer{redact: c.redact}
	req, err := c.request(ctx, r)
	if err != nil {
		return a, err
	}
	res, err := c.httpClient().Do(req)
	if err != nil {
		a.passing = true
		return a, err
	}
	defer res.Body.Close()
	a.status = res.StatusCode
	a.errorCode = res.Header.Get("X-Error-Code")
	a.requestID = res.Header.Get("X-Request-Id")
	a.retryAfter = retryAfter(res.Header)
	if location := res.Header.Get("Location"); location != "" && res.StatusCode/100 == 3 {
		return a, &RedirectError{Status: res.StatusCode, Location: c.redact(location)}
	}
	a.body, err = io.ReadAll(io.LimitReader(res.Body, r.limit+1))
	if err != nil {
		a.passing = true
		return a, fmt.Errorf("read the answer: %w", err)
	}
	if int64(len(a.body)) > r.limit {
		return a, ErrAnswerTooLarge
	}
	if r.plain && a.status == http.StatusOK {
		return a, nil
	}
	return a, a.read()
}

// httpClient is the caller's client, except that it follows no redirect: net/http would send the key along.
func (c *Client) httpClient() *http.Client {
	client := http.Client{Timeout: attemptTimeout}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// backoff is the pause after attempt n, counted from 0: it doubles, and its second half is left to chance, so that
// many clients do not come back at the same moment.
func backoff(n int) time.Duration {
	pause := longestPause
	if n < 10 {
		pause = min(firstPause<<n, longestPause)
	}
	return pause/2 + rand.N(pause/2)
}

// wait returns after pause, or with the error of ctx when that ends first.
func wait(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads the header Retry-After: seconds, or a date, which is compared with the server's own clock.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, until.Sub(now))
}
