package countersign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
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

// do makes attempts until one is final. The answer of the last one comes back beside its error.
func (c *Client) do(ctx context.Context, r operation) (*answer, error) {
	retries := c.Retries
	if retries == 0 {
		retries = defaultRetries
	}
	if r.once {
		retries = 0
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
func (c *Client) attempt(ctx context.Context, r operation) (*answer, error) {
	a := &answer{redact: c.redact}
	req, err := c.request(ctx, r)
	if err != nil {
		return a, err
	}
	res, err := c.httpClient(r).Do(req)
	if err != nil {
		a.passing = true
		return a, err
	}
	defer res.Body.Close()
	a.status = res.StatusCode
	a.errorCode = res.Header.Get("X-Error-Code")
	a.requestID = res.Header.Get("X-Request-Id")
	a.retryAfter = retryAfter(res.Header)
	a.etag = res.Header.Get("ETag")
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
	if r.ifNoneMatch != "" && a.unchanged() || r.plain && a.status == http.StatusOK {
		return a, nil
	}
	return a, a.read()
}

// fetch sends a request and returns a member of the response. name is the operation in its error.
func fetch[T any](ctx context.Context, c *Client, name string, r operation, member string) (T, *answer, error) {
	var value, none T
	a, err := c.do(ctx, r)
	if err == nil {
		err = a.decode(member, &value)
	}
	if err != nil {
		return none, a, c.wrap(name, err)
	}
	return value, a, nil
}

// post is fetch for the data of the response to some parameters. check says what is missing in it.
func post[T any](ctx context.Context, c *Client, name, path string, sent map[string]string, check func(T) error) (T, *answer, error) {
	var none T
	body, _ := EncodeJSON(sent) // texts always can be encoded
	data, a, err := fetch[T](ctx, c, name, operation{method: http.MethodPost, path: path, body: body, limit: maxAnswer}, "data")
	if err != nil {
		return none, a, err
	}
	if err := check(data); err != nil {
		return none, a, c.wrap(name, a.notUnderstood(err))
	}
	return data, a, nil
}

// httpClient is the caller's client, except that it follows no redirect: net/http would send the key along.
func (c *Client) httpClient(r operation) *http.Client {
	client := http.Client{Timeout: attemptTimeout}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	if client.Timeout > 0 {
		client.Timeout += r.extraTime
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// backoff is the pause after attempt n, counted from 0: it doubles, and its second half is left to chance, so that
// many clients do not come back at the same moment.
func backoff(n int) time.Duration {
	pause := min(firstPause<<min(n, 10), longestPause)
	return pause/2 + rand.N(pause/2)
}

// wait returns after pause, or with the error of ctx when that ends first.
func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-time.After(pause):
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

// operation is one request of the API; limit is the longest answer in bytes. A plain one succeeds without an envelope.
type operation struct {
	method, path string
	query        url.Values
	body         []byte
	limit        int64
	plain        bool
	// once is for a change that is not made again by itself; extraTime is how much longer than others it may take.
	once      bool
	extraTime time.Duration
	// ifNoneMatch is the ETag of what the caller has, "" for nothing.
	ifNoneMatch string
	// sign adds what proves who sends the request, besides the key; nil adds nothing.
	sign func(req *http.Request, body []byte)
}

const userAgent = "countersign-go (+https://github.com/countersign/countersign)"

// request makes the HTTP request of one attempt. The key travels in a header, which logs and caches leave alone.
func (c *Client) request(ctx context.Context, r operation) (*http.Request, error) {
	base, err := url.Parse(c.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
		return nil, errors.New("the base URL is not an http or https address")
	}
	if base.RawQuery != "" || base.Fragment != "" {
		return nil, errors.New("the base URL has a query or a fragment")
	}
	u := base.JoinPath(r.path)
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("X-Api-Key", c.key())
	if r.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.ifNoneMatch != "" {
		req.Header.Set("If-None-Match", r.ifNoneMatch)
	}
	if r.sign != nil {
		r.sign(req, r.body)
	}
	return req, nil
}
