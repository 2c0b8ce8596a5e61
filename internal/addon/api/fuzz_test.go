package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/expect"
)

// FuzzBody: a body is one good JSON object of the shape that is wanted, or it is
// refused with an error that may be shown.
func FuzzBody(f *testing.F) {
	for _, s := range []string{
		"", " ", "{}", `{"settings":{"appName":"X"}}`, `{"revision":7,"settings":{"pushEnabled":true}}`, `{"settings":{"a":1,"a":2}}`,
		`{"settings":{}} {}`, `[1]`, `"x"`, `{"settings":{"a":"\u0000"}}`, strings.Repeat(`{"settings":`, 40), "\xff", `{"revision":1e99}`,
	} {
		f.Add("application/json", s)
	}
	f.Add("text/plain", "{}")
	f.Add("text/json; charset=latin1", "\ufeff{}")
	f.Add("application/json", "null")
	f.Add("application/x-www-form-urlencoded", "a=b")
	f.Fuzz(func(t *testing.T, contentType, text string) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.Header["Content-Type"] = []string{contentType}
		var in struct {
			Revision *int64                    `json:"revision"`
			Settings map[string]jsontext.Value `json:"settings"`
		}
		if err := decode(r, []byte(text), &in); err != nil {
			apiErr, ok := err.(*countersign.Error)
			if !ok || apiErr.Kind != countersign.KindInvalid && apiErr.Kind != countersign.KindUnsupportedType {
				t.Fatalf("%q: %v", text, err)
			}
			if body := errorBody(r, apiErr); !json.Valid(body) || !utf8.Valid(body) {
				t.Errorf("%q: %s", text, body)
			}
			return
		}
		if text := strings.TrimPrefix(text, "\ufeff"); strings.TrimSpace(text) != "" && (!json.Valid([]byte(text)) || !utf8.ValidString(text)) {
			t.Errorf("%q was taken", text)
		}
		for key, value := range in.Settings {
			if strings.ContainsRune(key, 0) || !json.Valid(value) {
				t.Errorf("%q: %q is %q", text, key, value)
			}
		}
	})
}

// FuzzAccept: whatever Accept says, a request is for a page only when it names
// HTML or a range of texts or of everything.
func FuzzAccept(f *testing.F) {
	for _, s := range []string{
		"", "*/*", "text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json", "text/*;q=0.3, application/json;q=0.2",
		"text/html;q=x", ";;,,", "text/html; level=1; q=0.5, application/json;q=0.5", "text/html;q=NaN", "TEXT/HTML",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Accept"] = []string{accept}
		if wantsPage(r) && !strings.Contains(strings.ToLower(accept), "text/") {
			t.Errorf("%q is for a page", accept)
		}
		for _, media := range []string{"text/html", "application/json"} {
			if w := liking(r.Header["Accept"], media); !(w >= 0 && w <= 1) {
				t.Errorf("%q likes %s by %v", accept, media, w)
			}
		}
	})
}

// FuzzIfMatch: If-Match names a revision that could be, any, or none.
func FuzzIfMatch(f *testing.F) {
	for _, s := range []string{"", "*", `"7"`, `W/"7"`, `"0"`, `"-1"`, `"007"`, "7", `"7", "8"`, `"99999999999999999999"`, `""`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		revision, given := ifMatch([]string{text})
		if !given {
			t.Fatalf("%q was not taken for given", text)
		}
		switch {
		case revision == noRevision:
		case revision == anyRevision:
			expect.Equalf(t, strings.TrimSpace(text), "*", "%q is any", text)
		case revision < 1 || !strings.Contains(text, strconv.FormatInt(revision, 10)):
			t.Errorf("%q is %d", text, revision)
		}
	})
}
