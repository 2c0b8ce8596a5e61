package play_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/play/playfake"
)

// withMembers returns a service-account file with members replaced.
func withMembers(t *testing.T, file []byte, members map[string]string) []byte {
	t.Helper()
	all := map[string]string{}
	must.Do(t, json.Unmarshal(file, &all))
	for name, value := range members {
		all[name] = value
	}
	return must.Get(json.Marshal(all))(t)
}

func TestTheFileDoesNotChooseWhoGetsWhatItsKeySigns(t *testing.T) {
	var called atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer other.Close()
	s := newStore(t)
	o := optionsOf(t, s)
	o.ServiceAccount = withMembers(t, o.ServiceAccount, map[string]string{"token_uri": other.URL + "/token", "universe_domain": "example.com"})
	token := buy(t, s, playfake.BuyOptions{})
	get(t, openWith(t, o), token)

	// Without another address, all goes to Google's hosts.
	hosts := map[string]int{}
	inner := s.Transport()
	o.URL, o.Transport = "", roundTripper(func(r *http.Request) (*http.Response, error) {
		hosts[r.URL.Scheme+"://"+r.URL.Host]++
		return inner.RoundTrip(r)
	})
	t.Setenv("GOOGLE_API_USE_MTLS_ENDPOINT", "always")
	t.Setenv("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "example.com")
	get(t, openWith(t, o), token)
	if len(hosts) != 2 || hosts["https://oauth2.googleapis.com"] != 1 || hosts["https://androidpublisher.googleapis.com"] != 1 {
		t.Errorf("requests went to %v", hosts)
	}
	if n := called.Load(); n != 0 {
		t.Errorf("the server that the file names got %d requests", n)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRedirectsAreNotFollowed(t *testing.T) {
	var followed atomic.Int64
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer target.Close()
	for _, path := range []string{"/token", "/androidpublisher"} {
		s := newStore(t)
		fake := s.Handler()
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, path) {
				http.Redirect(w, r, target.URL, http.StatusTemporaryRedirect)
				return
			}
			fake.ServeHTTP(w, r)
		}))
		o := optionsOf(t, s)
		o.URL = server.URL
		_, err := openWith(t, o).Subscription(t.Context(), strings.Repeat("a", 64))
		wantReason(t, err, play.Unavailable)
		server.Close()
	}
	expect.Equalf(t, followed.Load(), 0, "a redirect was followed")
}

// TestErrorsHoldNoSecrets makes every call fail in every way, with answers that repeat what was
// sent, and looks for tokens and keys in all that the errors hold.
func TestErrorsHoldNoSecrets(t *testing.T) {
	s := newStore(t)
	token := buy(t, s, playfake.BuyOptions{}) + "+~:"
	fake := s.Handler()
	var accessToken atomic.Value
	accessToken.Store("")
	failure := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" && failure != "token" {
			fake.ServeHTTP(w, r)
			return
		}
		accessToken.Store(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		echo := r.URL.String() + " " + r.Header.Get("Authorization") + " " + token + " " + url.QueryEscape(token)
		switch failure {
		case "token":
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":"invalid_grant %s","error_description":%q}`, r.PostFormValue("assertion"), r.PostFormValue("assertion"))
		case "form":
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":{"code":400,"message":%q,"errors":[{"reason":%q,"message":%q}],"details":[{"a":%q}]}}`, accessToken.Load().(string)+" "+token, token, echo, echo)
		case "raw":
			w.WriteHeader(404)
			_, _ = w.Write([]byte(echo))
		case "cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	server.Config.ErrorLog = nil
	o := optionsOf(t, s)
	o.URL = server.URL
	for _, failure = range []string{"token", "form", "raw", "cut"} {
		c := openWith(t, o)
		_, readErr := c.Subscription(t.Context(), token)
		_, deferErr := c.Defer(t.Context(), token, "etag", 48*60*60*1e9)
		for call, err := range map[string]error{
			"read": readErr, "acknowledge": c.Acknowledge(t.Context(), "gold_monthly", token, "account-id", ""),
			"cancel": c.Cancel(t.Context(), token, play.StopPayments), "revoke": c.Revoke(t.Context(), token, play.ProratedRefund), "defer": deferErr,
		} {
			if err == nil {
				t.Fatalf("%s, %s: no error", failure, call)
			}
			wantNoSecret(t, failure+", "+call, err, token, url.QueryEscape(token), url.PathEscape(token), strings.TrimPrefix(accessToken.Load().(string), "ya29."), "eyJ")
		}
	}
}

// wantNoSecret looks for secrets in an error and in all that it wraps.
func wantNoSecret(t *testing.T, name string, err error, secrets ...string) {
	t.Helper()
	for at := err; at != nil; at = errors.Unwrap(at) {
		for _, secret := range secrets {
			if text := fmt.Sprintf("%v %+v %#v", at, at, at); secret != "" && strings.Contains(text, secret) {
				t.Errorf("%s: the error holds a secret: %s", name, text)
			}
		}
	}
}

func TestAMessageOfGoogleIsKeptForTheOperator(t *testing.T) {
	const message = "Google Play Android Developer API is disabled. Enable it at https://console.developers.google.com/apis/api/androidpublisher.googleapis.com/overview?project=123456789012"
	s := newStore(t)
	c := open(t, s)
	s.FailRaw(1, 403, fmt.Sprintf(`{"error":{"code":403,"message":%q,"errors":[{"reason":"accessNotConfigured"}]}}`, message))
	_, err := c.Subscription(t.Context(), buy(t, s, playfake.BuyOptions{}))
	if text := wantReason(t, err, play.Unauthorized).Error(); !strings.Contains(text, message) {
		t.Errorf("the error is %q", text)
	}
}

func TestServiceAccountsThatCantBeUsed(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	good := o.ServiceAccount
	for name, file := range map[string][]byte{
		"nothing": nil, "no JSON": []byte("secret-text"), "another type": withMembers(t, good, map[string]string{"type": "secret-text"}),
		"no e-mail": withMembers(t, good, map[string]string{"client_email": ""}), "no key": withMembers(t, good, map[string]string{"private_key": "secret-text"}),
		"a damaged key": withMembers(t, good, map[string]string{"private_key": "-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXRleHQ=\n-----END PRIVATE KEY-----"}),
	} {
		t.Run(name, func(t *testing.T) {
			o.ServiceAccount = file
			_, err := play.Open(o)
			wantReason(t, err, play.Unauthorized)
			wantNoSecret(t, name, err, "secret-text")
		})
	}
}

func TestAKeyWhoseLineBreaksWereEscapedTwiceSigns(t *testing.T) {
	s := newStore(t)
	o := optionsOf(t, s)
	o.ServiceAccount = bytes.ReplaceAll(o.ServiceAccount, []byte(`\n`), []byte(`\\n`))
	get(t, openWith(t, o), buy(t, s, playfake.BuyOptions{}))
}

func TestAddressesAndPackagesThatCantBeUsed(t *testing.T) {
	s := newStore(t)
	good := optionsOf(t, s)
	for _, address := range []string{"example.com", "ftp://example.com", "https://", "https://user:pass@example.com", "https://example.com/?a=b"} {
		o := good
		o.URL = address
		_, err := play.Open(o)
		wantReason(t, err, play.Refused)
	}
	for _, name := range []string{"", "app", "com..app", "com.example/../x", "com.exämple"} {
		o := good
		o.Package = name
		_, err := play.Open(o)
		wantReason(t, err, play.Refused)
	}
}
