package countersign

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign/countersign/internal/expect"
)

// failure is what one attempt meets: an answer, or an error of the network.
type failure struct {
	odd
	err error
}

func (f failure) RoundTrip(*http.Request) (*http.Response, error) {
	if f.err != nil {
		return nil, f.err
	}
	return f.response(), nil
}

// cut is an answer whose body ends too soon.
type cut struct{}

func (cut) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(`{"status":`), errorReader{})
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// inTurn is a client whose attempts meet the given transports one after the other, and the times when they began.
// It must be used in a bubble of synctest, where waiting takes no time.
func inTurn(attempts ...http.RoundTripper) (c *Client, times *[]time.Duration) {
	start := time.Now()
	times = new([]time.Duration)
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		n := len(*times)
		*times = append(*times, time.Since(start))
		return attempts[min(n, len(attempts)-1)].RoundTrip(r)
	})
	return &Client{BaseURL: "https://shop.example", Key: testKey, HTTP: &http.Client{Transport: transport}}, times
}

func TestRetries(t *testing.T) {
	good := failure{odd: odd{body: validated("A")}}
	answer := func(status int, body string) failure { return failure{odd: odd{status: status, body: body}} }
	code := func(c string) map[string]string { return map[string]string{"X-Error-Code": c} }
	tests := []struct {
		rule     string
		first    http.RoundTripper
		attempts int
	}{
		{"a network error is tried again", failure{err: io.EOF}, 2},
		{"a cut answer is tried again", cut{}, 2},
		{"429 is tried again", answer(429, envelope("Too many requests")), 2},
		{"500 is tried again", answer(500, envelope("Internal error")), 2},
		{"503 as a page is tried again", answer(503, page), 2},
		{"a limit that says 200 is tried again", failure{odd: odd{header: code(CodeRateLimited), body: envelope("x")}}, 2},
		{"a fault that says 200 is tried again", answer(200, envelope("Service unavailable")), 2},
		{"success is final", good, 1},
		{"400 is final", answer(400, envelope("Invalid request")), 1},
		{"401 is final", answer(401, envelope("Invalid request")), 1},
		{"403 is final", answer(403, page), 1},
		{"404 is final", answer(404, envelope("Invalid purchase code")), 1},
		{"a page with 200 is final", answer(200, page), 1},
		{"an unknown refusal with 200 is final", answer(200, envelope("Closed on Mondays")), 1},
		{"a redirect is final", failure{odd: odd{status: 307, header: map[string]string{"Location": "/x"}}}, 1},
		{"an answer that is too large is final", answer(503, strings.Repeat(" ", maxAnswer+1)), 1},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, times := inTurn(tt.first, good)
				v, err := c.ValidatePurchase(t.Context(), "A")
				expect.Equalf(t, len(*times), tt.attempts, "attempts (%+v, %v)", v, err)
				if tt.attempts == 2 && verdictOf(v, err) != valid {
					t.Errorf("the second attempt was good, but: %v", err)
				}
			})
		})
	}
}

func TestNumberOfRetries(t *testing.T) {
	for retries, attempts := range map[int]int{-1: 1, 0: 3, 1: 2, 5: 6} {
		synctest.Test(t, func(t *testing.T) {
			c, times := inTurn(failure{odd: odd{status: 503, body: envelope("Service unavailable")}})
			c.Retries = retries
			_, err := c.Account(t.Context())
			var refused *Error
			if len(*times) != attempts || !errors.As(err, &refused) || refused.Status != 503 {
				t.Errorf("Retries %d: %d attempts, want %d; %v", retries, len(*times), attempts, err)
			}
		})
	}
}

func TestPausesGrowAndStayBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, times := inTurn(failure{err: io.EOF})
		c.Retries = 20
		if _, err := c.Account(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		longest := 200 * time.Millisecond
		for i := 1; i < len(*times); i++ {
			if pause := (*times)[i] - (*times)[i-1]; pause < longest/2 || pause >= longest {
				t.Errorf("pause %d took %v, want half of %v or more, and less than the whole", i, pause, longest)
			}
			longest = min(2*longest, 5*time.Second)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	date := "Sat, 27 Apr 2024 12:00:00 GMT"
	tests := []struct {
		rule     string
		header   map[string]string
		attempts int
		atLeast  time.Duration
		want     time.Duration // RetryAfter of the error when the attempt was final
	}{
		{"seconds", map[string]string{"Retry-After": "7"}, 2, 7 * time.Second, 0},
		{"a date, by the server's clock", map[string]string{"Retry-After": "Sat, 27 Apr 2024 12:00:20 GMT", "Date": date}, 2, 20 * time.Second, 0},
		{"a date in the past", map[string]string{"Retry-After": "Sat, 27 Apr 2024 11:00:00 GMT", "Date": date}, 2, 0, 0},
		{"a date without the server's clock", map[string]string{"Retry-After": date}, 2, 0, 0},
		{"words", map[string]string{"Retry-After": "soon"}, 2, 0, 0},
		{"a negative number", map[string]string{"Retry-After": "-5"}, 2, 0, 0},
		{"the longest wait", map[string]string{"Retry-After": "30"}, 2, 30 * time.Second, 0},
		{"longer is left to the caller", map[string]string{"Retry-After": "31"}, 1, 0, 31 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limited := failure{odd: odd{status: 429, header: tt.header, body: envelope("Too many requests")}}
				c, times := inTurn(limited, failure{odd: odd{body: `{"status":"success","data":{}}`}})
				_, err := c.Account(t.Context())
				if len(*times) != tt.attempts {
					t.Fatalf("%d attempts, want %d; %v", len(*times), tt.attempts, err)
				}
				var refused *Error
				if past := retryAfter(limited.response().Header); past < 0 {
					t.Errorf("the wait is negative: %v", past)
				}
				if tt.attempts == 1 && (!errors.As(err, &refused) || refused.RetryAfter != tt.want) {
					t.Errorf("got %v", err)
				}
				if last := (*times)[len(*times)-1]; last < tt.atLeast || last > tt.atLeast+time.Second {
					t.Errorf("the second attempt began after %v, want %v", last, tt.atLeast)
				}
			})
		})
	}
}

func TestContextBoundsTheCall(t *testing.T) {
	limited := failure{odd: odd{status: 429, header: map[string]string{"Retry-After": "20"}, body: envelope("Too many requests")}}
	t.Run("a pause beyond the deadline is not begun", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c, _ := inTurn(limited)
			start := time.Now()
			_, err := c.Account(ctx)
			var refused *Error
			if !errors.As(err, &refused) || refused.RetryAfter != 20*time.Second || time.Since(start) != 0 {
				t.Errorf("after %v: %v", time.Since(start), err)
			}
		})
	})
	t.Run("a cancel ends the pause", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*time.Second, cancel)
			c, times := inTurn(limited)
			start := time.Now()
			_, err := c.Account(ctx)
			var refused *Error
			if !errors.Is(err, context.Canceled) || !errors.As(err, &refused) || len(*times) != 1 || time.Since(start) != 3*time.Second {
				t.Errorf("after %v and %d attempts: %v", time.Since(start), len(*times), err)
			}
		})
	})
	t.Run("nothing is tried again when the context ended during an attempt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			c, times := inTurn(hanging{})
			if _, err := c.Account(ctx); !errors.Is(err, context.DeadlineExceeded) || len(*times) != 1 {
				t.Errorf("after %d attempts: %v", len(*times), err)
			}
		})
	})
	t.Run("an attempt that hangs until the client's own timeout is tried again", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c, times := inTurn(hanging{}, failure{odd: odd{body: validated("A")}})
			c.HTTP.Timeout = 10 * time.Second
			if v, err := c.ValidatePurchase(t.Context(), "A"); verdictOf(v, err) != valid || len(*times) != 2 {
				t.Errorf("after %d attempts: %v", len(*times), err)
			}
		})
	})
}

// hanging never answers.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}
