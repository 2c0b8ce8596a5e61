package countersign

import (
	"fmt"
	"io"
	"net/url"
	"strings"
)

func (c *Client) key() string { return strings.TrimSpace(c.Key) }

// redact takes the key and the secret out of text that came from elsewhere: a server may repeat what it was sent.
func (c *Client) redact(s string) string {
	for name, value := range map[string]string{"[key]": c.key(), "[secret]": c.secret} {
		if value != "" {
			s = strings.NewReplacer(value, name, url.QueryEscape(value), name).Replace(s)
		}
	}
	return s
}

// wrap names the operation that failed, and sees to it that the text does not hold the key.
func (c *Client) wrap(operation string, err error) error {
	err = fmt.Errorf("countersign: %s: %w", operation, err)
	if text := c.redact(err.Error()); text != err.Error() {
		return &redactedError{text, err}
	}
	return err
}

// redactedError is an error whose text would have held the key.
type redactedError struct {
	text  string
	cause error
}

func (e *redactedError) Error() string { return e.text }

func (e *redactedError) Unwrap() error { return e.cause }

// String describes the client without its key.
func (c Client) String() string {
	return c.redact("countersign.Client{" + redactedURL(c.BaseURL) + "}")
}

// Format prints [Client.String] for every verb, so that no way of printing shows the key.
func (c Client) Format(w fmt.State, _ rune) {
	_, _ = io.WriteString(w, c.String())
}

// MarshalText returns [Client.String], so that structured logs do not show the key either.
func (c Client) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// redactedURL prints an address without the password in it.
func redactedURL(s string) string {
	u, err := url.Parse(s)
	if err != nil {
		return "?"
	}
	return u.Redacted()
}
