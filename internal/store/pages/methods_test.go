package pages_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
)

func TestWrongMethodsAreRefused(t *testing.T) {
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, path := range []string{"/license", "/license/", "/license/move", "/license/revoke"} {
		for _, method := range []string{http.MethodDelete, http.MethodPut, "BREW"} {
			r := httptest.NewRequest(method, path, nil)
			p := s.send(t, r).Status(http.StatusMethodNotAllowed).Says("Not possible here", "does not accept "+method+" requests")
			expect.Equalf(t, p.Header.Get("Allow"), "GET, HEAD, POST, OPTIONS", "%s: Allow", p.Name)
			r = httptest.NewRequest(method, path, nil)
			r.Header.Set("Accept", "application/json")
			if p = s.send(t, r).Status(http.StatusMethodNotAllowed); p.Root != nil || p.Header.Get("Allow") == "" {
				t.Errorf("%s: %s", p.Name, p.Body)
			}
		}
		if p := s.send(t, httptest.NewRequest(http.MethodOptions, path, nil)).Status(http.StatusNoContent); p.Header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
			t.Errorf("%s: Allow %q", p.Name, p.Header.Get("Allow"))
		}
	}
	s.get(t, "/license/nowhere").Status(http.StatusNotFound)
}

func TestABrowserGetsAPageForAnAddressThatLeadsNowhere(t *testing.T) {
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for path, accepts := range map[string]map[string]bool{
		"/nowhere":                {"text/html,*/*;q=0.8": true, "*/*": false, "application/json": false},
		"/api/items/none":         {"text/html,*/*;q=0.8": false},
		"/media/none.png":         {"text/html,*/*;q=0.8": true, "image/avif,*/*;q=0.8": false, "application/json": false},
		"/media/default/none.png": {"text/html,*/*;q=0.8": true, "*/*": false},
	} {
		for accept, page := range accepts {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			r.Header.Set("Accept", accept)
			p := s.send(t, r).Status(http.StatusNotFound)
			if strings.Contains(p.Body, "Page not found") != page || strings.HasPrefix(p.Body, "{") == page {
				t.Errorf("%s for %s: %s", path, accept, p.Body)
			}
		}
	}
}

func TestAPageOfAWorkspaceThatDoesNotExistStaysInIt(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.as(t, "viewer").Get("/w/ada/nowhere").Status(http.StatusNotFound).Says("Page not found", "Purchases")
		s.as(t, "stranger").Get("/w/ada/nowhere").Status(http.StatusNotFound).SilentAbout("Purchases")
	})
}

func TestAFormIsNotDoneForAClientThatTakesNoPages(t *testing.T) {
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r := httptest.NewRequest(method, "/license", nil)
		r.Header.Set("Accept", "application/json")
		if p := s.send(t, r).Status(http.StatusNotAcceptable); p.Header.Get("X-Error-Code") != "not_acceptable" {
			t.Errorf("%s: %s", p.Name, p.Body)
		}
	}
}
