package api_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// loggedShop opens a shop that logs its calls. The function that it returns writes what waits.
func loggedShop(t *testing.T, db dbtest.DB) (s *store.Store, written func()) {
	t.Helper()
	s = storetest.Open(t, db, store.Options{Options: instance.Options{Now: now}, CacheBytes: 8 << 20, RequestLog: requests.DefaultKeep})
	return s, func() {
		t.Helper()
		ended, stop := context.WithCancel(t.Context())
		stop()
		s.Requests.Run(ended)
	}
}

// call is one call of the API, with a header in pairs.
func call(h http.Handler, method, target, body string, header ...string) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.RemoteAddr = "192.0.2.7:4711"
	r.Header.Set("User-Agent", "shop/1.0 "+strings.Repeat("till/2 ", 40))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestEveryCallIsLogged(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	inHeader, inBody := requests.Param{Place: requests.InHeader, Name: "api_key"}, requests.Param{Place: requests.InBody, Name: "purchase_code", Value: "7c0f…01"}
	tests := []struct {
		name                 string
		method, target, body string
		header               []string
		want                 requests.Call
		code                 string // of the purchase, "" for none
	}{
		{"a valid code", "POST", "/api/purchases/validation", "purchase_code=" + adaCode, []string{"X-Api-Key", adaKey, "Content-Type", form},
			requests.Call{Workspace: 1, Key: 1, Item: 1229, Endpoint: "/api/purchases/validation", Status: 200, Sent: []requests.Param{inHeader, inBody}}, adaCode},
		{"a license", "POST", "/api/licenses", "domain=shop.example&purchase_code=license-fresh", []string{"Content-Type", form},
			requests.Call{Workspace: 1, Item: 1229, Endpoint: "/api/licenses", Status: 200, Sent: []requests.Param{
				{Place: requests.InBody, Name: "domain", Value: "…"}, {Place: requests.InBody, Name: "purchase_code", Value: "…"},
			}}, "license-fresh"},
		{"a check of a license that is not valid", "POST", "/api/licenses/check", "purchase_code=license-fresh&domain=another.example", []string{"Content-Type", form},
			requests.Call{Endpoint: "/api/licenses/check", Status: 200, Reason: "check_limit_reached", Sent: []requests.Param{
				{Place: requests.InBody, Name: "purchase_code", Value: "…"}, {Place: requests.InBody, Name: "domain", Value: "…"},
			}}, ""},
		{"a refunded one, as JSON", "POST", "/api/purchases/validation/", `{"api_key":"` + adaKey + `","purchase_code":"7c0f3b1e-5d2a-4c44-9b1e-0000000000a1"}`, []string{"Content-Type", "application/json"},
			requests.Call{Workspace: 1, Key: 1, Item: 1229, Endpoint: "/api/purchases/validation", Status: 404, Reason: "purchase_refunded", Sent: []requests.Param{
				{Place: requests.InBody, Name: "api_key"}, {Place: requests.InBody, Name: "purchase_code", Value: "7c0f…a1"},
			}}, "7c0f3b1e-5d2a-4c44-9b1e-0000000000a1"},
		{"an unknown key", "GET", "/api/items/all", "", []string{"Authorization", "Bearer unknown"},
			requests.Call{Endpoint: "/api/items/all", Status: 401, Reason: "key_unknown", Sent: []requests.Param{{Place: requests.InAuthorization, Name: "api_key"}}}, ""},
		{"no key", "GET", "/api/account/details", "", nil, requests.Call{Endpoint: "/api/account/details", Status: 401, Reason: "key_missing"}, ""},
		{"an item, with the key in the query", "GET", "/api/items/item?item_id=1229&other=1&api_key=" + adaKey, "", nil,
			requests.Call{Workspace: 1, Key: 1, Item: 1229, Endpoint: "/api/items/item", Status: 200, Sent: []requests.Param{
				{Place: requests.InQuery, Name: "api_key"}, {Place: requests.InQuery, Name: "item_id", Value: "1229"},
			}}, ""},
		{"an unknown path", "GET", "/api/" + adaCode, "", nil, requests.Call{Endpoint: "other", Status: 404, Reason: "not_found"}, ""},
		{"a wrong method", "GET", "/api/licenses", "", nil, requests.Call{Endpoint: "/api/licenses", Status: 405, Reason: "method_not_allowed"}, ""},
		{"a body that is too large", "POST", "/api/purchases/validation", strings.Repeat("x", 1<<21), []string{"Content-Type", form},
			requests.Call{Endpoint: "/api/purchases/validation", Status: 413, Reason: "body_too_large"}, ""},
		{"another method", "SECRET", "/api/items/all", "", nil, requests.Call{Endpoint: "/api/items/all", Status: 405, Reason: "method_not_allowed"}, ""},
		{"too many failures", "GET", "/api/items/all", "", []string{"X-Api-Key", "unknown"},
			requests.Call{Endpoint: "/api/items/all", Status: 429, Reason: "rate_limited", Sent: []requests.Param{inHeader}}, ""},
	}
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s, written := loggedShop(t, db)
		limits := web.NewRateLimits(limit.NewGuesses(limit.Options{Failures: 3, Now: now}))
		h := api.New(s, api.Options{Now: now, Limits: limits})
		ids := make([]string, len(tests))
		for i, tt := range tests {
			res := call(h, tt.method, tt.target, tt.body, tt.header...)
			if ids[i] = res.Header.Get("X-Request-Id"); res.StatusCode != tt.want.Status {
				t.Fatalf("%s: status %d", tt.name, res.StatusCode)
			}
		}
		for _, target := range []string{"/healthz", "/openapi.json", "/.well-known/jwks.json", "/apifoo", "/"} {
			call(h, "GET", target, "")
		}
		written()
		for i, tt := range tests {
			got, err := s.Requests.Call(t.Context(), people.Operator("test"), 0, ids[i])
			if err != nil {
				t.Errorf("%s: %v", tt.name, err)
				continue
			}
			want := tt.want
			want.ID, want.Address, want.Agent, want.Took = got.ID, "192.0.2.7", ("shop/1.0 " + strings.Repeat("till/2 ", 40))[:64], got.Took
			if want.Method = tt.method; tt.method == "SECRET" {
				want.Method = "other"
			}
			if tt.code != "" {
				check, err := s.Validation.Check(t.Context(), people.Operator("test"), tt.code)
				if want.Purchase = check.Purchase.ID; err != nil || want.Purchase == 0 {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" || got.Took < 0 {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		page, err := s.Requests.Calls(t.Context(), people.Operator("test"), requests.Filter{})
		if err != nil || len(page.Calls) != len(tests) {
			t.Errorf("%d calls are logged, want %d; %v", len(page.Calls), len(tests), err)
		}
	})
}

// stored returns all that the blocks of a log hold, as bytes.
func stored(t *testing.T, db dbtest.DB) []byte {
	t.Helper()
	pool := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: db.URL, Path: filepath.Join(db.Dir, requests.DatabaseName)}))(t)
	defer pool.Close()
	blocks := must.Get(sqldb.List(t.Context(), pool.Queries(), sqldb.Value[[]byte], `SELECT data FROM request_blocks`))(t)
	decoder := must.Get(zstd.NewReader(nil))(t)
	defer decoder.Close()
	var all []byte
	for _, block := range blocks {
		all = must.Get(decoder.DecodeAll(block, all))(t)
	}
	return all
}

func TestNoSecretIsLogged(t *testing.T) {
	secrets := []string{"csk_" + strings.Repeat("S3cretKey", 6), "purchase-S3cretCode-0001", "S3cretQuery"}
	key, code, query := secrets[0], secrets[1], secrets[2]
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s, written := loggedShop(t, db)
		h := newHandler(s, 0)
		for _, path := range []string{"/api/account/details", "/api/items/all", "/api/items/item", "/api/purchases/validation", "/api/licenses", "/api/licenses/move", "/api/licenses/revoke", "/api/licenses/check", "/api/licenses/revoked", "/api/" + code} {
			for _, method := range []string{"GET", "POST"} {
				for _, name := range []string{"api_key", "purchase_code", "item_id", "domain", "from", "license_id", query} {
					for _, value := range []string{key, code} {
						pair := name + "=" + value
						call(h, method, path+"?"+pair+"&"+query+"=1", "")
						call(h, method, path, pair, "Content-Type", "application/x-www-form-urlencoded")
						call(h, method, path, fmt.Sprintf("{%q:%q}", name, value), "Content-Type", "application/json")
					}
				}
				for _, header := range []string{"Authorization", "X-Api-Key", "User-Agent", "Cookie", "Referer"} {
					call(h, method, path, "", header, "Bearer "+key)
				}
			}
			call(h, query, path, "")
		}
		written()
		if n := s.Requests.Written(); n < 800 {
			t.Fatalf("only %d calls were logged", n)
		}
		all := stored(t, db)
		if !bytes.Contains(all, []byte("/api/purchases/validation")) {
			t.Fatal("what is stored was not found")
		}
		for _, secret := range secrets {
			for _, part := range []string{secret, secret[:len(secret)/2], secret[len(secret)/2:]} {
				if bytes.Contains(all, []byte(part)) {
					t.Errorf("%q is stored", part)
				}
			}
		}
	})
}

func TestTheAPIAnswersWithoutItsLog(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, db dbtest.DB) {
		s, written := loggedShop(t, db)
		h := newHandler(s, 0)
		valid := func() {
			t.Helper()
			if res := call(h, "POST", "/api/purchases/validation", "purchase_code="+adaCode, "X-Api-Key", adaKey, "Content-Type", "application/x-www-form-urlencoded"); res.StatusCode != 200 {
				t.Fatalf("status %d", res.StatusCode)
			}
		}
		if db.URL == "" {
			must.Do(t, os.WriteFile(filepath.Join(db.Dir, requests.DatabaseName), []byte(strings.Repeat("not a database. ", 1000)), 0o600))
		} else {
			beside(t, db, `CREATE TABLE request_log_versions (something text)`)
		}
		valid()
		written()
		valid()
		if failure := s.Requests.Failing(); failure == nil {
			t.Error("the log was written")
		}
		state, err := s.Requests.State(t.Context(), people.Operator("test"), 0)
		if err != nil || state.Failure == nil || state.Written != 0 {
			t.Errorf("%+v, %v", state, err)
		}
	})
}

func TestACallThatIsLoggedAllocatesNoMore(t *testing.T) {
	allocations := func(keep requests.Keep) float64 {
		s := storetest.Open(t, shopStore.New(t, dbtest.SQLite), store.Options{Options: instance.Options{Now: now}, CacheBytes: 8 << 20, RequestLog: keep})
		h := newHandler(s, 0)
		body := new(repeatable)
		r := httptest.NewRequest(http.MethodPost, "/api/purchases/validation", body)
		r.Header = http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "X-Api-Key": {adaKey}, "User-Agent": {"shop/1.0"}}
		w := &discard{header: http.Header{}}
		return testing.AllocsPerRun(2000, func() {
			body.Reader = *strings.NewReader("purchase_code=" + adaCode)
			r.ContentLength = body.Size()
			h.ServeHTTP(w, r)
		})
	}
	const pooled = 1 // with the race detector, pools forget at random
	if on, off := allocations(requests.DefaultKeep), allocations(requests.Keep{}); on > off+pooled {
		t.Errorf("%v allocations with the log, %v without", on, off)
	}
}

func TestEveryErrorCodeOfTheContractHasASentence(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, script := range scripts {
		text := must.Get(os.ReadFile(script))(t)
		for _, found := range regexp.MustCompile(`X-Error-Code: ([a-z_]+)`).FindAllStringSubmatch(string(text), -1) {
			codes[found[1]] = true
		}
	}
	if len(codes) < 15 {
		t.Fatalf("only %d codes were found", len(codes))
	}
	for code := range codes {
		if strings.Contains(requests.Why(code), code) {
			t.Errorf("%s has no sentence", code)
		}
	}
}
