package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/countersign/countersign/internal/dial"
)

const (
	// timeout bounds one delivery, from the look-up of the name to the end of the response.
	timeout = 15 * time.Second
	// maxAnswer is how many bytes of a response are read.
	maxAnswer = 4 << 10
	// maxExcerpt is how many characters of a response are kept.
	maxExcerpt = 300
	// maxRetryAfter bounds the wait that a receiver asks for.
	maxRetryAfter = 24 * time.Hour
)

// Outcome is what a delivery came to.
type Outcome string

// The outcomes of a delivery.
const (
	// Delivered is a response of 2xx.
	Delivered Outcome = "delivered"
	// Gone is a response of 410: the endpoint wants no webhooks any more.
	Gone Outcome = "gone"
	// Retry is everything else.
	Retry Outcome = "retry"
)

// Message is one webhook for one endpoint.
type Message struct {
	// ID is the same in every attempt, so that the receiver knows a repetition.
	ID   string
	URL  string
	Body []byte // JSON
	// Secrets sign it: one, or several while a secret is rotated.
	Secrets []Secret
}

// Result is the result of one attempt.
type Result struct {
	Outcome Outcome
	// Status of the response, 0 when there was none.
	Status int
	Took   time.Duration
	// RetryAfter is how long the receiver asks to wait, at most a day, 0 when it does not say.
	RetryAfter time.Duration
	// Text says in a line what happened: the beginning of the response, or why there was none.
	// It holds neither the secrets nor the address.
	Text string
}

// Sender sends webhooks. Its methods may be called from many goroutines.
type Sender struct {
	public, private *dial.Policy
	agent           string
	now             func() time.Time
}

// New returns a sender that also calls addresses in the allowed private networks. Addresses of
// http are called there only, those of https everywhere. version is that of this build.
func New(allowed []netip.Prefix, version string, now func() time.Time) *Sender {
	return &Sender{public: dial.New(allowed), private: dial.NewPrivate(allowed), agent: "Countersign/" + version, now: now}
}

// Close closes idle connections.
func (s *Sender) Close() {
	s.public.Client().CloseIdleConnections()
	s.private.Client().CloseIdleConnections()
}

// Send makes one attempt to deliver a message.
func (s *Sender) Send(ctx context.Context, m Message) Result {
	began := s.now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	result := s.send(ctx, m, began)
	for _, secret := range m.Secrets { // a receiver may repeat what it was sent, or more
		result.Text = strings.ReplaceAll(result.Text, strings.TrimPrefix(secret.Text(), secretPrefix), "[secret]")
	}
	result.Took, result.Text = s.now().Sub(began), excerpt(result.Text)
	return result
}

func (s *Sender) send(ctx context.Context, m Message, at time.Time) Result {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return Result{Outcome: Retry, Text: "Invalid address of the endpoint"}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.agent)
	r.Header.Set("Webhook-Id", m.ID)
	r.Header.Set("Webhook-Timestamp", unix(at))
	r.Header.Set("Webhook-Signature", signatures(m.Secrets, m.ID, at, m.Body))
	client := s.private.Client()
	if r.URL.Scheme == "https" {
		client = s.public.Client()
	}
	answer, err := client.Do(r)
	if err != nil {
		return Result{Outcome: Retry, Text: reason(err)}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return Result{Outcome: Retry, Status: answer.StatusCode, Text: "The response ended early: " + reason(err)}
	}
	return Result{Outcome: outcome(answer.StatusCode), Status: answer.StatusCode, RetryAfter: s.retryAfter(answer.Header), Text: string(body)}
}

func outcome(status int) Outcome {
	switch {
	case status >= 200 && status < 300:
		return Delivered
	case status == http.StatusGone:
		return Gone
	}
	return Retry
}

// retryAfter reads a number of seconds, or a date.
func (s *Sender) retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	wait, err := time.ParseDuration(text + "s")
	if err != nil {
		if at, err := http.ParseTime(text); err == nil {
			wait = at.Sub(s.now())
		}
	}
	return min(maxRetryAfter, max(0, wait))
}

// reason returns why the receiver sent no response, without the address that was called.
func reason(err error) string {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err
	}
	var name *net.DNSError
	var network net.Error
	switch {
	case errors.Is(err, dial.ErrRefused):
		return "Not sent: the host has an address that webhooks may not be sent to"
	case errors.As(err, &name):
		return "The host name can't be resolved"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return fmt.Sprintf("No response within %s", timeout)
	case errors.Is(err, context.Canceled):
		return "The delivery was broken off, because this server stopped"
	}
	return "The connection failed: " + err.Error()
}

// excerpt returns the beginning of a text as one line of printable characters.
func excerpt(text string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	clean = strings.Join(strings.Fields(clean), " ")
	if all := []rune(clean); len(all) > maxExcerpt {
		return string(all[:maxExcerpt]) + "…"
	}
	return clean
}
