package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/web"
)

// answered is what came back for a request about a license.
type answered struct {
	status int
	header http.Header
	body   string
}

func post(h http.Handler, path string, form url.Values) answered {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, _ := io.ReadAll(w.Body)
	return answered{w.Code, w.Header(), string(body)}
}

// A purchase code is asked for 60 times an hour, whether somebody sold it or not,
// and checked another 60 times. --fail-limit 0 switches that off.
func TestAPurchaseCodeIsAskedFor60TimesAnHour(t *testing.T) {
	for _, code := range []string{"license-fresh", "nobody-sold-this"} {
		clock := today
		s := openShop(t, shopStore.New(t, dbtest.SQLite))
		ticking := func() time.Time { return clock }
		limited := api.New(s, api.Options{Limits: web.NewRateLimits(limit.NewGuesses(limit.Options{Failures: 1_000_000, Now: ticking})), Now: ticking})
		free := api.New(s, api.Options{Now: now})
		form := func(code string) url.Values {
			return url.Values{"purchase_code": {code}, "domain": {"shop.example"}}
		}
		ask := func(h http.Handler, path string, n int) (refused int) {
			for i := range n {
				asked := code
				if i%2 == 1 {
					asked = " " + strings.ToUpper(code)
				}
				a := post(h, path, form(asked))
				if a.status != http.StatusTooManyRequests {
					continue
				}
				refused++
				if a.header.Get("X-Error-Code") != "rate_limited" || a.header.Get("RateLimit-Limit") != "60" || a.header.Get("Retry-After") != "3600" {
					t.Errorf("%s: %v %s", path, a.header, a.body)
				}
			}
			return refused
		}
		if n := ask(limited, "/api/licenses", 20) + ask(limited, "/api/licenses/move", 20) + ask(limited, "/api/licenses/revoke", 22); n != 2 {
			t.Errorf("%s: of 62 requests for a license %d were refused", code, n)
		}
		if n := ask(limited, "/api/licenses/check", 61); n != 1 {
			t.Errorf("%s: of 61 checks %d were refused", code, n)
		}
		expect.Equalf(t, post(limited, "/api/licenses", form("license-used")).status, http.StatusOK, "%s: another code is refused", code)
		clock = clock.Add(time.Hour)
		if n := ask(limited, "/api/licenses", 60); n != 0 {
			t.Errorf("%s: an hour later %d were refused", code, n)
		}
		if n := ask(free, "/api/licenses", 100) + ask(free, "/api/licenses/check", 100); n != 0 {
			t.Errorf("%s: without a limit %d were refused", code, n)
		}
	}
}

func TestALicenseIsCheckedBySixtyQuestionsAnHourToo(t *testing.T) {
	h := newHandler(openShop(t, shopStore.New(t, dbtest.SQLite)), 1_000_000)
	refused := 0
	for range 61 {
		if post(h, "/api/licenses/check", url.Values{"license_id": {"used-shop"}, "domain": {"shop.example"}}).status == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("of 61 checks %d were refused", refused)
	}
}

// A thousand requests at once over HTTP, each for a domain of its own.
func TestOfAThousandRequestsOneGetsTheLicense(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		background(t, s)
		h := newHandler(s, 0)
		oracle := newOracle(t)
		const many = 1000
		answers := make([]answered, many)
		var all sync.WaitGroup
		for i := range many {
			all.Go(func() {
				answers[i] = post(h, "/api/licenses", url.Values{"purchase_code": {"license-fresh"}, "domain": {fmt.Sprintf("shop%d.example", i)}})
			})
		}
		all.Wait()
		statuses := map[int]int{}
		for _, a := range answers {
			statuses[a.status]++
			must.Do(t, oracle.Check(http.MethodPost, "/api/licenses", a.status, a.header, []byte(a.body)))
		}
		if statuses[http.StatusOK] != 1 || statuses[http.StatusConflict] != many-1 {
			t.Errorf("statuses %v", statuses)
		}
	})
}

func TestWhatIsSignedNamesTheBaseURLOrTheKeyAndNeverTheHost(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := openShop(t, db)
		background(t, s)
		for base, want := range map[string]string{"": "urn:countersign:" + keyID(t, s), "https://store.example": "https://store.example"} {
			h := api.New(s, api.Options{BaseURL: base, Now: now, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
			lists := map[string]bool{}
			for _, host := range []string{"evil.example", "other.example", "store.example"} {
				ask := func(method, path string, form url.Values) string {
					r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
					r.Host = host
					r.Header.Set("X-Forwarded-Host", host)
					r.Header.Set("X-Forwarded-Proto", "https")
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					return w.Body.String()
				}
				license := ask(http.MethodPost, "/api/licenses", url.Values{"purchase_code": {"license-used"}, "domain": {"shop.example"}})
				expect.Equalf[any](t, claims(t, license, "license")["iss"], want, "base URL %q, host %s: the license is of", base, host)
				text := ask(http.MethodGet, "/api/licenses/revoked", nil)
				lists[text] = true
				if list := claims(t, text, "list"); list["iss"] != want || len(list["revoked"].([]any)) != 8 {
					t.Errorf("base URL %q, host %s: the list says %v", base, host, list)
				}
			}
			expect.Equalf(t, len(lists), 1, "base URL %q: lists within an hour", base)
		}
	})
}

// keyID is the id of the key that signs licenses.
func keyID(t *testing.T, s *store.Store) string {
	t.Helper()
	d := must.Get(s.Licensing.KeySet(t.Context()))(t)
	var set struct{ Keys []struct{ Kid string } }
	must.Do(t, json.Unmarshal(d.Plain.Body, &set))
	return set.Keys[0].Kid
}

// claims reads the payload of a JWS in an answer's data, unverified.
func claims(t *testing.T, body, member string) map[string]any {
	t.Helper()
	var answer struct{ Data map[string]string }
	must.Do(t, json.Unmarshal([]byte(body), &answer))
	payload := must.Get(base64.RawURLEncoding.DecodeString(strings.Split(answer.Data[member], ".")[1]))(t)
	var said map[string]any
	must.Do(t, json.Unmarshal(payload, &said))
	return said
}
