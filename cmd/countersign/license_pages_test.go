package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
)

// answerTo sends a form to a server.
func (s *running) answerTo(path string, form url.Values) (status int, body string) {
	s.t.Helper()
	r, err := http.PostForm(s.said["store_url"]+path, form)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	var b strings.Builder
	if err := r.Write(&b); err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, b.String()
}

func TestTheStoreServesTheBuyersPageBesideItsAPI(t *testing.T) {
	t.Parallel()
	s := startServer(t, environment{envData: shop(t)}, "store", "serve", "--fail-limit", "2", "--base-url", "https://shop.example/store")
	for _, path := range []string{"/license", "/store/license"} {
		if status, body := s.get(path); status != 200 || !strings.Contains(body, `action="/store/license"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	if status, body := s.get("/"); status != 200 || !strings.Contains(body, `href="/store/license"`) {
		t.Errorf("/: %d %s", status, body)
	}
	if status, body := s.get("/nowhere"); status != 404 || body != `{"status":"error","msg":"Not found"}` {
		t.Errorf("/nowhere: %d %s", status, body)
	}
	form := url.Values{"code": {"nobody-sold-this"}, "purchase_code": {"nobody-sold-this"}, "domain": {"shop.example"}}
	for i, c := range []struct {
		path string
		want int
	}{{"/license", 422}, {"/api/licenses", 404}, {"/license", 429}, {"/api/licenses", 429}} {
		if status, body := s.answerTo(c.path, form); status != c.want {
			t.Errorf("%d: %s answers %d, want %d: %s", i+1, c.path, status, c.want, body)
		}
	}
}

// The addon gets its license file from a real store.
func TestAnAddonGetsItsLicenseFromAStore(t *testing.T) {
	t.Parallel()
	dbtest.Engines(t, func(t *testing.T, db dbtest.DB) {
		s := startServer(t, environment{envData: shop(t)}, "store", "serve")
		a := must.Get(addon.Open(t.Context(), addon.Options{Options: instance.Options{Dir: db.Dir, URL: db.URL, Now: time.Now}, AllowPrivate: loopback}))(t)
		t.Cleanup(func() { _ = a.Close() })
		must.Get(a.Setup.Update(t.Context(), operator(), nil))(t)
		order := license.Order{Store: s.said["store_url"], Code: "code-1", Domain: "site.example", Tests: []string{"localhost"}}
		made, err := a.Licenses.Make(t.Context(), operator(), order)
		if err != nil || len(made) != 2 || !made[0].Opens("www.site.example") || !made[1].Opens("localhost") {
			t.Fatalf("%+v, %v", made, err)
		}
		order.Domain = "new.example"
		if _, err := a.Licenses.Make(t.Context(), operator(), order); !fault.HasCode(err, "limit_reached") {
			t.Errorf("a second domain: %v", err)
		}
		if moved, err := a.Licenses.Move(t.Context(), operator(), made[0].Code.ID, "site.example", "new.example"); err != nil || !moved.Opens("new.example") {
			t.Errorf("moved: %+v, %v", moved, err)
		}
		if old, err := a.Licenses.Check(t.Context(), operator(), made[0].ID); err != nil || old.Good() || old.Answer != "not_found" { // strangers are told no more
			t.Errorf("the old one: %+v, %v", old, err)
		}
		order.Code = "nobody-sold-this"
		if _, err := a.Licenses.Make(t.Context(), operator(), order); !fault.HasCode(err, "purchase_not_found") {
			t.Errorf("a code that nobody sold: %v", err)
		}
	})
}
