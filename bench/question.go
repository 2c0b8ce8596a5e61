package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// question asks a server whether a code is good.
type question struct {
	client             *http.Client
	address, key, code string
	refusal            int // the status that says no
}

func (q question) ask(ctx context.Context) (good bool, err error) {
	form := strings.NewReader(url.Values{"purchase_code": {q.code}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, q.address+"/api/purchases/validation", form)
	if err != nil {
		return false, err
	}
	r.Header.Set("X-Api-Key", q.key)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := q.client.Do(r)
	if err != nil {
		return false, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK && answer.StatusCode != q.refusal {
		err = fmt.Errorf("status %d: %.200s", answer.StatusCode, body)
	}
	return answer.StatusCode == http.StatusOK, err
}
