package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
)

// beside runs a statement on a store's database, as another program would.
func beside(t *testing.T, at dbtest.DB, statement string, args ...any) {
	t.Helper()
	db := must.Get(sqldb.Open(t.Context(), sqldb.Options{URL: at.URL, Path: filepath.Join(at.Dir, store.Product.DatabaseName())}))(t)
	defer db.Close()
	if n, err := db.Queries().Exec(t.Context(), statement, args...); err != nil || (len(args) > 0 && n != 1) {
		t.Fatalf("%s: %d rows, %v", statement, n, err)
	}
}

func statusOf(h http.Handler, path string) int {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code
}

// A digest that is found with another text is damage, which is never "Invalid
// purchase code"; the store goes on answering what is sound.
func TestADigestWithAnotherTextIs500(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		s := openShop(t, at)
		h := newHandler(s, 0)
		beside(t, at, `UPDATE purchases SET code = 'damaged' WHERE code = $1`, "license-fresh")
		for path, form := range map[string]url.Values{
			"/api/purchases/validation": {"api_key": {"ada0000000000000000000000000000000000000000000000000000000000001"}, "purchase_code": {"license-fresh"}},
			"/api/licenses":             {"purchase_code": {"license-fresh"}, "domain": {"shop.example"}},
			"/api/licenses/check":       {"purchase_code": {"license-fresh"}, "domain": {"shop.example"}},
		} {
			a := post(h, path, form)
			if a.status != http.StatusInternalServerError || strings.Contains(a.body, "damage") || !strings.Contains(a.body, "Internal error") {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		expect.Equalf(t, s.Validation.Damages(), 3, "were counted")
		expect.Equalf(t, statusOf(h, "/readyz"), http.StatusOK, "/readyz")
	})
}

func TestReadyzOfAStoreWithoutItsTables(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		h := newHandler(openShop(t, at), 0)
		if status := statusOf(h, "/readyz"); status != http.StatusOK {
			t.Fatalf("before: %d", status)
		}
		beside(t, at, `DROP TABLE meta`)
		expect.Equalf(t, statusOf(h, "/readyz"), http.StatusServiceUnavailable, "after")
	})
}

// A database whose tables are gone says nothing about a code: it can't be asked.
func TestADatabaseThatLostItsTablesIs503(t *testing.T) {
	shopStore.Engines(t, func(t *testing.T, at dbtest.DB) {
		h := newHandler(openShop(t, at), 0)
		beside(t, at, `ALTER TABLE purchases RENAME TO gone`)
		a := post(h, "/api/purchases/validation", url.Values{"api_key": {"ada0000000000000000000000000000000000000000000000000000000000001"}, "purchase_code": {"license-fresh"}})
		if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
			t.Errorf("%d %s", a.status, a.body)
		}
	})
}
