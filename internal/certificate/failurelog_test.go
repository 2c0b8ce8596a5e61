package certificate

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
)

// answering is an authority with one response, or none.
type answering struct{ kind, body string }

func (a answering) RoundTrip(*http.Request) (*http.Response, error) {
	if a.body == "" {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body))}, nil
}

func TestFailuresOfTheAuthorityAreLogged(t *testing.T) {
	const document = "application/json"
	for name, c := range map[string]struct {
		authority answering
		says      string
	}{
		"it can't be reached":           {answering{}, "connection refused"},
		"a problem":                     {answering{"application/problem+json; charset=utf-8", `{"type":"urn:ietf:params:acme:error:rateLimited","detail":"too many certificates"}`}, "too many certificates"},
		"a challenge that failed":       {answering{document, `{"status":"invalid","challenges":[{"type":"http-01"},{"type":"tls-alpn-01","error":{"detail":"connection refused by shop.example"}}]}`}, "connection refused by shop.example"},
		"an order that failed":          {answering{document, `{"status":"invalid","error":{"detail":"no such name"}}`}, "no such name"},
		"a nonce, which is replaced":    {answering{document, `{"type":"urn:ietf:params:acme:error:badNonce","detail":"JWS has an invalid nonce"}`}, ""},
		"an order that goes on":         {answering{document, `{"status":"pending","authorizations":["https://ca.example/1"]}`}, ""},
		"a certificate":                 {answering{"application/pem-certificate-chain", "-----BEGIN CERTIFICATE-----"}, ""},
		"a document that can't be read": {answering{document, strings.Repeat("[", maxDocument+10)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			log, out := logged()
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "https://ca.example/order/1", nil))(t)
			w, err := failureLog{c.authority, log}.RoundTrip(r)
			if (err != nil) != (c.authority.body == "") {
				t.Fatal(err)
			}
			if err == nil {
				if text, err := io.ReadAll(w.Body); err != nil || string(text) != c.authority.body {
					t.Errorf("the body is %d bytes, %v", len(text), err)
				}
			}
			if got := out.String(); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("logged %q", got)
			}
		})
	}
}
