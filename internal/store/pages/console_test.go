package pages_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/webtest"
)

const validCode = "7c0f3b1e-5d2a-4c44-9b1e-000000000001"

// numberOf is the number at the end of a key's address.
func numberOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// flushed has the calls until now written to the log.
func (s team) flushed(t *testing.T) {
	t.Helper()
	ended, stop := context.WithCancel(t.Context())
	stop()
	s.Requests.Run(ended)
}

func TestTheConsoleCallsEveryEndpointWithTheKeyInEveryPlace(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		b := s.as(t, "manager")
		for endpoint, param := range map[string][]string{
			"/api/purchases/validation": {"purchase_code", " " + strings.ToUpper(validCode), validCode},
			"/api/items/item":           {"item_id", "1229", "1229"},
			"/api/items/all":            {"unused", "", "1229"},
			"/api/account/details":      {"unused", "", "ada@shop.example"},
		} {
			for _, place := range []string{"bearer", "header", "json", "form", "query", "nowhere"} {
				page := b.Post("/w/ada/console", "endpoint", endpoint, "key", numberOf(path), "place", place, param[0], param[1]).
					Status(http.StatusOK).Says("200 OK", "The call was valid.", param[2]).SilentAbout(value)
				if strings.Contains(page.Body, value) {
					t.Errorf("%s, %s: the page has the key", endpoint, place)
				}
			}
		}
	})
}

func TestACallOfTheConsoleIsLoggedAndCanBeRepeated(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		b := s.as(t, "manager")
		page := b.Post("/w/ada/console", "endpoint", "/api/items/item", "key", numberOf(path), "place", "query", "item_id", "7").
			Status(http.StatusOK).Says("404 Not Found", "item_not_found", "The workspace has no item with this id.", "Item Not Found")
		id := regexp.MustCompile(`/requests/([0-9a-f]{16})`).FindStringSubmatch(page.Body)[1]
		s.flushed(t)
		b.Get("/w/ada/requests/"+id).Status(http.StatusOK).Says("GET /api/items/item", "till", "127.0.0.1", "Countersign console", "Repeat in the console").SilentAbout(value)
		again := b.Get("/w/ada/console?from=" + id).Status(http.StatusOK).Says("GET /api/items/item")
		if in := again.Form("/w/ada/console"); in.Get("item_id") != "7" || in.Get("key") != numberOf(path) || in.Get("place") != "query" {
			t.Errorf("%v", in)
		}
		code := b.Post("/w/ada/console", "endpoint", "/api/purchases/validation", "key", numberOf(path), "purchase_code", validCode)
		id = regexp.MustCompile(`/requests/([0-9a-f]{16})`).FindStringSubmatch(code.Body)[1]
		s.flushed(t)
		if repeated := b.Get("/w/ada/console?from=" + id).Says("The log does not keep purchase codes"); strings.Contains(repeated.Body, validCode) {
			t.Error("the console restores a purchase code of the log")
		}
		b.Get("/w/ada/console?from=0000000000000000").Status(http.StatusNotFound)
		s.as(t, "viewer").Get("/w/ada/requests/" + id).Status(http.StatusOK).SilentAbout("Repeat in the console")
		s.as(t, "owner").Get("/w/ada/audit").Says("Called the API with a key", email("manager"), "/api/items/item")
	})
}

func TestTheConsoleBeginsWithWhatIsThere(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.makeKey(t, "till")
		b := s.as(t, "manager")
		page := b.Get("/w/ada/console").Status(http.StatusOK).Says("Validate a purchase code", "curl", "PHP", "Laravel", "WordPress", "Node", "Python", "Go", "Dart", "Kotlin", "COUNTERSIGN_API_KEY", s.server.URL+"/api/purchases/validation")
		if page.Value("purchase_code") == "" || b.Get("/w/ada/console?endpoint=/api/items/item").Value("item_id") == "" {
			t.Error("a sample value is missing")
		}
		must.Get(s.CreateWorkspace(t.Context(), operator, store.Workspace{Account: countersign.Account{Username: "fresh", Currency: "USD"}}))(t)
		s.as(t, "administrator").Get("/w/fresh/console").Status(http.StatusOK).Says("No keys yet").SilentAbout("Send")
	})
}

func TestTheConsoleTakesNoKeysOfOthers(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		k, _, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "bob", Name: "of bob", Class: store.ClassSecret})
		must.Do(t, err)
		for who, status := range map[string]int{"manager": http.StatusNotFound, "administrator": http.StatusNotFound} {
			s.as(t, who).Post("/w/ada/console", "endpoint", "/api/account/details", "key", strconv.FormatInt(k.ID, 10)).
				Status(status).Wrong("key", "No key").SilentAbout("bob@shop.example")
		}
		s.as(t, "manager").Post("/w/ada/console", "endpoint", "/api/account/details").Status(http.StatusUnprocessableEntity).Wrong("key", "Choose a key")
	})
}

func TestWhatIsTypedIntoTheConsoleStaysText(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, _ := s.makeKey(t, "till")
		hostile := `</code></pre><script>alert(1)</script>'"$(id)`
		page := s.as(t, "manager").Post("/w/ada/console", "key", numberOf(path), "purchase_code", hostile).Status(http.StatusOK).Says("purchase_not_found")
		if strings.Contains(page.Body, "<script>alert") || page.Value("purchase_code") != hostile {
			t.Errorf("the field has %q", page.Value("purchase_code"))
		}
	})
}

func TestFailuresInTheConsoleLockNobodyOut(t *testing.T) {
	t.Parallel()
	teamStore.AnEngine(t, func(t *testing.T, db dbtest.DB) {
		s := storetest.Open(t, db, store.Options{Options: instance.Options{Now: now}, RequestLog: requests.DefaultKeep})
		server := httptest.NewServer(frontEnds(t, s, 3, ""))
		t.Cleanup(server.Close)
		shop := team{s, server}
		path, value := shop.makeKey(t, "till")
		b := shop.as(t, "manager")
		for range 5 {
			b.Post("/w/ada/console", "key", numberOf(path), "purchase_code", "none").Status(http.StatusOK).Says("404 Not Found", "purchase_not_found")
		}
		expect.Equalf(t, statusOf(t, server, value[:10]), http.StatusUnauthorized, "a program at the same address gets")
		for range 3 {
			statusOf(t, server, value[:10])
		}
		expect.Equalf(t, statusOf(t, server, value[:10]), http.StatusTooManyRequests, "a program that failed too often gets")
		b.Post("/w/ada/console", "key", numberOf(path), "purchase_code", "none").Says("404 Not Found")
	})
}

// statusOf is the status with which the API answers a program with a key.
func statusOf(t *testing.T, server *httptest.Server, key string) int {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/account/details", nil))(t)
	r.Header.Set("X-Api-Key", key)
	res := must.Get(http.DefaultClient.Do(r))(t)
	res.Body.Close()
	return res.StatusCode
}

func TestTheQuotaHoldsInTheConsole(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, _ := s.makeKey(t, "till")
		b := s.as(t, "owner")
		b.Post("/w/ada/settings/api/switches", "quota", "1").LeadsTo("/w/ada/settings/api")
		send := func() *webtest.Page {
			return b.Post("/w/ada/console", "key", numberOf(path), "purchase_code", validCode).Status(http.StatusOK)
		}
		send().Says("200 OK")
		send().Says("429 Too Many Requests", "quota_exceeded", "The workspace used up its quota for this minute.", "Retry-After")
	})
}
