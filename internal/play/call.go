package play

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// service is one of Google's services: the address that paths are added to, what each query
// has, and a client that signs.
type service struct {
	url    string
	query  url.Values
	client *http.Client
}

// request is a call of a service.
type request struct {
	method string
	path   string // with its parts escaped
	query  url.Values
	body   any // written as JSON, nil for none
	about  subject
	// secrets are taken out of the text of the error.
	secrets []string
}

// escape returns a part of a path, for example a token, in which no character has a meaning.
func escape(part string) string { return strings.ReplaceAll(url.QueryEscape(part), "+", "%20") }

// call makes a call of the Play Developer API, within callTimeout.
func (c *Client) call(ctx context.Context, r request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return c.send(ctx, c.api, r, answer)
}

// send makes a call and reads its answer. With a nil answer, an empty body is enough. Its error is an [Error], also of an
// answer that is not JSON: it comes from something between.
func (c *Client) send(ctx context.Context, to service, r request, answer any) error {
	sent, err := r.http(ctx, to)
	if err != nil {
		return &Error{Reason: Refused, Cause: errors.New("the request can't be written")}
	}
	response, err := to.client.Do(sent)
	if err != nil {
		return failureOf(ctx, err, r.secrets...)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return c.refusal(r, response, body)
	case response.StatusCode == http.StatusNoContent:
		return nil
	case err != nil:
		return failureOf(ctx, err, r.secrets...)
	case answer == nil && len(bytes.TrimSpace(body)) == 0:
		return nil
	case json.Unmarshal(body, cmp.Or(answer, any(&map[string]any{}))) != nil:
		return &Error{Reason: Unavailable, Cause: errors.New("the answer is not valid JSON")}
	}
	return nil
}

// http returns the request as it is sent.
func (r request) http(ctx context.Context, to service) (*http.Request, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, err
		}
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, to.url+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		sent.Header.Set("Content-Type", "application/json")
	}
	query := url.Values{}
	maps.Copy(query, to.query)
	maps.Copy(query, r.query)
	sent.URL.RawQuery = query.Encode()
	return sent, nil
}
