//go:build linux

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/store/sample"
)

// answerLimit is the time in which every request has to be answered.
const answerLimit = 10 * time.Second

// answer is what became of one request.
type answer struct {
	began, ended time.Time
	// status is 0 without an answer.
	status int
	body   string
	header http.Header
	// gaveUp reports that the client ended the request before the limit of an answer.
	gaveUp bool
	// cause is why there is no answer.
	cause error
}

// clients have idle connections enough for the whole load.
var transport = &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}

// get asks for a page, without a key.
func get(ctx context.Context, url string) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return answer{cause: err}
	}
	return send(ctx, answerLimit, r)
}

// validate asks whether a purchase code is valid.
func (s *store) validate(ctx context.Context, code string) answer {
	return s.post(ctx, answerLimit, "/api/purchases/validation", url.Values{"purchase_code": {code}})
}

// license asks for the license of a purchase code. The domain is always the same for a
// code, so a second request asks for the same license.
func (s *store) license(ctx context.Context, timeout time.Duration, code string) answer {
	return s.post(ctx, timeout, "/api/licenses", url.Values{"purchase_code": {code}, "domain": {"d" + code + ".example"}})
}

func (s *store) post(ctx context.Context, timeout time.Duration, path string, form url.Values) answer {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+path, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{cause: err}
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("X-Api-Key", sample.BigKey())
	return send(ctx, timeout, r)
}

// send sends a request and waits for its answer as long as its client does.
func send(ctx context.Context, timeout time.Duration, r *http.Request) answer {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	a := answer{began: time.Now()}
	response, err := transport.RoundTrip(r.WithContext(ctx))
	if err == nil {
		defer response.Body.Close()
		var body []byte
		body, err = io.ReadAll(response.Body)
		a.status, a.header, a.body = response.StatusCode, response.Header, string(body)
	}
	a.ended = time.Now()
	if err != nil {
		a.status, a.cause = 0, err
		a.gaveUp = timeout < answerLimit && ctx.Err() != nil && isTimeout(err)
	}
	return a
}

// isTimeout reports whether an error is the end of a client's own time.
func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

func (a answer) took() time.Duration { return a.ended.Sub(a.began) }
