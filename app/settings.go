package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
)

// Settings is the public settings of a site by their keys (spec 2.5): strings, booleans and json.Numbers.
type Settings map[string]any

// maxSettings is the longest answer that is read, in bytes.
const maxSettings = 1 << 20

const userAgent = "countersign-app-go (+https://github.com/countersign/countersign)"

// readSettings asks a site for its settings.
func readSettings(ctx context.Context, client *http.Client, address *url.URL) (Settings, error) {
	settings, err := fetchSettings(ctx, client, address.String())
	if err == nil {
		return settings, nil
	}
	return nil, &countersign.Error{
		Kind: countersign.KindUnavailable, Code: "settings_unreadable",
		Message: "the settings can't be read from " + address.String() + "; check that the addon runs there and that the address is correct",
		Cause:   err,
	}
}

func fetchSettings(ctx context.Context, client *http.Client, address string) (Settings, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", userAgent)
	r, err := withoutRedirects(client).Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxSettings+1))
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode != http.StatusOK:
		return nil, answerError(r.StatusCode, body)
	case len(body) > maxSettings:
		return nil, fmt.Errorf("the response is longer than %d bytes", maxSettings)
	}
	return parseSettings(body)
}

// withoutRedirects is the client as mobile clients are: an answer other than 200 is none.
func withoutRedirects(client *http.Client) *http.Client {
	own := http.Client{Timeout: 10 * time.Second}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// answerError repeats what the site said, in the order in which clients look for it.
func answerError(status int, body []byte) error {
	var said struct {
		Message string `json:"message"`
		Msg     string `json:"msg"`
	}
	_ = json.Unmarshal(body, &said) // an answer that is not JSON says nothing
	if message := cmp.Or(said.Message, said.Msg); message != "" {
		return fmt.Errorf("the site answered %d: %s", status, message)
	}
	return fmt.Errorf("the site answered %d", status)
}

// parseSettings reads a flat JSON object.
func parseSettings(body []byte) (Settings, error) {
	var members map[string]jsontext.Value
	if err := jsonv2.Unmarshal(body, &members); err != nil || members == nil {
		return nil, errors.New("the response is not a JSON object")
	}
	settings := Settings{}
	for key, text := range members {
		value, err := parseValue(text)
		if err != nil {
			return nil, fmt.Errorf("invalid setting %q: expected a text, a number, true or false", key)
		}
		settings[key] = value
	}
	return settings, nil
}

func parseValue(text jsontext.Value) (any, error) {
	switch text.Kind() {
	case jsontext.KindString:
		var value string
		err := jsonv2.Unmarshal(text, &value)
		return value, err
	case jsontext.KindNumber:
		return json.Number(text), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return text.Kind() == jsontext.KindTrue, nil
	}
	return nil, errors.New("another kind")
}
