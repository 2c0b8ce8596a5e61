package pages_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestWrongMethodsAreRefused(t *testing.T) {
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, path := range []string{"/license", "/license/", "/license/move", "/license/revoke"} {
		for _, method := range []string{http.MethodDelete, http.MethodPut, "BREW"} {
			r := httptest.NewRequest(method, path, nil)
			p := s.send(t, r).is(http.StatusMethodNotAllowed).says("Not possible here", "takes no "+method+" requests")
			if got := p.header.Get("Allow"); got != "GET, HEAD, POST, OPTIONS" {
				t.Errorf("%s: Allow %q", p.name, got)
			}
			r = httptest.NewRequest(method, path, nil)
			r.Header.Set("Accept", "application/json")
			if p = s.send(t, r).is(http.StatusMethodNotAllowed); p.root != nil || p.header.Get("Allow") == "" {
				t.Errorf("%s: %s", p.name, p.body)
			}
		}
		if p := s.send(t, httptest.NewRequest(http.MethodOptions, path, nil)).is(http.StatusNoContent); p.header.Get("Allow") != "GET, HEAD, POST, OPTIONS" {
			t.Errorf("%s: Allow %q", p.name, p.header.Get("Allow"))
		}
	}
	s.get(t, "/license/nowhere").is(http.StatusNotFound)
}

func TestAFormIsNotDoneForAClientThatTakesNoPages(t *testing.T) {
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		r := httptest.NewRequest(method, "/license", nil)
		r.Header.Set("Accept", "application/json")
		if p := s.send(t, r).is(http.StatusNotAcceptable); p.header.Get("X-Error-Code") != "not_acceptable" {
			t.Errorf("%s: %s", p.name, p.body)
		}
	}
}
