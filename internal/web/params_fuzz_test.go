package web

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
)

// FuzzParams checks that no request panics, that every refusal is one that a client may see, and that a JSON body
// which is accepted means to us what it means to encoding/json.
func FuzzParams(f *testing.F) {
	f.Add("", "api_key=k&item_id=1", "")
	f.Add(typeForm, "api_key=k", "api_key=k&item_id=%31&x=+")
	f.Add(typeJSON, "", `{"api_key":"k","item_id":1229,"x":[{"y":null}],"z":"\u00e9\ud83d\ude00"}`)
	f.Add(typeJSON, "api_key=k", `{"api_key":"\u006b","item_id":"\\u0000"}`)
	f.Add("text/plain", "", ` {"\u0061pi_key":1e5}`)
	f.Add(typeFile, "", "--B\r\nContent-Disposition: form-data; name=\"api_key\"\r\n\r\nk\r\n--B--\r\n")
	f.Add("application/json; charset=latin1", "%", "{}")
	f.Add("text/json; charset=utf-16", "", "\ufeff{\"api_key\":null}")
	f.Add(typeJSON, "api_key=k", "null")
	f.Add("application/json", "", strings.Repeat(`{"x":`, 40))
	f.Fuzz(func(t *testing.T, contentType, query, body string) {
		if _, err := readTwo(post{query: query, contentType: contentType, body: body}); err != nil {
			checkRefusal(t, err)
			return
		}
		if p, err := readTwo(post{query: query}); err != nil {
			t.Fatalf("refused without its body: %v", err)
		} else {
			checkAgainstURL(t, p, query)
		}
		p, err := readTwo(post{contentType: contentType, body: body})
		if err != nil {
			t.Fatalf("refused without its query: %v", err)
		}
		if text := strings.TrimPrefix(body, "\ufeff"); isJSON(contentType, text) {
			checkAgainstJSON(t, p, text)
		}
	})
}

func readTwo(p post) (*Params, error) {
	return ReadParams(httptest.NewRecorder(), p.request(), "api_key", "item_id")
}

// isJSON reports whether a body that was accepted was read as JSON.
func isJSON(contentType, body string) bool {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	media = strings.TrimSpace(media)
	if media == "" || media == "text/plain" {
		return strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{")
	}
	if media == typeForm {
		return strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "{") && json.Valid([]byte(body))
	}
	return body != "" && strings.HasSuffix(media, "json")
}

// checkAgainstURL compares with net/url, which takes a semicolon for an error.
func checkAgainstURL(t *testing.T, p *Params, query string) {
	t.Helper()
	if strings.Contains(query, ";") {
		return
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatalf("net/url refuses what we accepted: %v", err)
	}
	for _, name := range []string{"api_key", "item_id"} {
		got, given := p.Get(name)
		if given != values.Has(name) || p.InQuery(name) != given {
			t.Fatalf("%s: given %v, net/url says %v", name, given, values[name])
		}
		for _, want := range values[name] {
			if strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Fatalf("%s: %q, net/url says %q", name, got, want)
			}
		}
	}
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	apiErr, ok := errors.AsType[*countersign.Error](err)
	if !ok {
		t.Fatalf("the error is not ours: %v", err)
	}
	switch apiErr.Kind {
	case countersign.KindInvalid, countersign.KindTooLarge, countersign.KindUnsupportedType:
	default:
		t.Fatalf("the error is of kind %s", apiErr.Kind)
	}
	if apiErr.Code == "" || apiErr.Message == "" {
		t.Fatalf("the error has code %q and message %q", apiErr.Code, apiErr.Message)
	}
}

func checkAgainstJSON(t *testing.T, p *Params, body string) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		t.Fatalf("encoding/json refuses what we accepted: %v", err)
	}
	for _, name := range []string{"api_key", "item_id"} {
		got, given := p.Get(name)
		raw, member := members[name]
		if member && string(raw) == "null" {
			member = false
		}
		if given != member {
			t.Fatalf("%s: given %v, encoding/json says %v", name, given, member)
		}
		if !given {
			continue
		}
		want := string(raw)
		if isString := raw[0] == '"'; isString {
			must.Do(t, json.Unmarshal(raw, &want))
		} else if !p.IsNumber(name) {
			t.Fatalf("%s: %s was taken for a string", name, raw)
		}
		if got != want {
			t.Fatalf("%s: %q, encoding/json says %q", name, got, want)
		}
		if strings.ContainsRune(got, 0) {
			t.Fatalf("%s holds NUL", name)
		}
	}
}
