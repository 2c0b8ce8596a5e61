package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// verdict is what a server says to a question.
type verdict int

const (
	refused     verdict = iota
	good                // 200
	unavailable         // 503: it can't tell, and says so
)

// benchRequest asks a server whether a code is good.
type benchRequest struct {
	client             *http.Client
	address, key, code string
	refusal            int // the status that says no
}

func (q benchRequest) send(ctx context.Context) (verdict, error) {
	form := strings.NewReader(url.Values{"purchase_code": {q.code}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.address+"/api/purchases/validation", form)
	if err != nil {
		return refused, err
	}
	r.Header.Set("X-Api-Key", q.key)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := q.client.Do(r)
	if err != nil {
		return refused, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return refused, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return good, nil
	case q.refusal:
		return refused, nil
	case http.StatusServiceUnavailable:
		return unavailable, nil
	}
	return refused, fmt.Errorf("status %d: %.200s", answer.StatusCode, body)
}
