package pages_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestTheStartPageLeadsVisitorsToWhatTheyWant(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "/store")
	p := s.get(t, "/").Status(http.StatusOK).Says("Get a license file", "Use the API", "Read the manuals")
	for _, path := range []string{"/store/license", "/store/docs/api", "/store/docs"} {
		if len(p.Having("href", path)) == 0 {
			t.Errorf("no link leads to %s", path)
		}
	}
}

func TestTheStartPageIsOnlyForThoseWhoTakePages(t *testing.T) {
	t.Parallel()
	s := openShop(t, shopStore.New(t, dbtest.SQLite), 0, "")
	for accept, status := range map[string]int{"": 200, "*/*": 200, "text/html, application/json": 200, "application/json": 404, "application/json, */*": 404} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		p := s.send(t, r).Status(status)
		if status == http.StatusNotFound && p.Body != `{"status":"error","msg":"Not found","message":"Not found","code":"not_found"}` {
			t.Errorf("%q: %s", accept, p.Body)
		}
	}
}
