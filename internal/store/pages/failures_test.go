package pages_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// apiPattern finds the addresses in the API's table of routes.
var apiPattern = regexp.MustCompile(`handle\("(?:GET|POST|PUT|PATCH|DELETE)?(?: |", ")?(/\S*)"`)

// Whatever column a handler can't read, the log has the cause of its 500.
func TestEvery500HasItsCauseInTheLog(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, teamStore.New(t, dbtest.SQLite), store.Options{Now: now})
	log := &webtest.Log{}
	server := httptest.NewServer(logged(t, s, slog.New(slog.NewTextHandler(log, nil))))
	defer server.Close()
	_, value, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
	if err != nil {
		t.Fatal(err)
	}
	ask := asker(t, server.URL, map[string]string{"Authorization": "Bearer " + value, "Sec-Fetch-Site": "same-origin"})
	all := routes(t)
	text, err := os.ReadFile("../api/routes.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range apiPattern.FindAllStringSubmatch(string(text), -1) {
		all = append(all, "GET "+found[1], "POST "+found[1])
	}
	example := regexp.MustCompile(`\{[a-z]+\}`)
	faults := 0
	for _, fault := range []string{"users.email", "workspaces.username", "items.name", "purchases.code", "audit.action"} {
		table, column, _ := strings.Cut(fault, ".")
		rename(t, s, table, column, "gone")
		for _, route := range all {
			method, path, _ := strings.Cut(example.ReplaceAllString(strings.Replace(route, "{workspace}", "ada", 1), "1"), " ")
			if strings.HasSuffix(path, "/live") || path == "/logout" {
				continue
			}
			told := log.String()
			status, id := ask(method, path)
			if status != http.StatusInternalServerError {
				continue
			}
			faults++
			line := strings.TrimPrefix(log.String(), told)
			if !strings.Contains(line, id) || !strings.Contains(line, "SQL logic error") {
				t.Errorf("without %s, %s: request %q, log %q", fault, route, id, line)
			}
		}
		rename(t, s, table, "gone", column)
	}
	if faults < 100 {
		t.Errorf("only %d of the requests failed", faults)
	}
}

// asker returns what sends requests of an administrator, with headers. A response that is broken off counts as 500.
func asker(t *testing.T, at string, headers map[string]string) func(method, path string) (status int, id string) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(method, path, form string) (status int, id string) {
		r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(form))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		r.Header.Set("Accept", "text/html, */*")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		answer, err := client.Do(r)
		if err != nil {
			return http.StatusInternalServerError, ""
		}
		answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("X-Request-Id")
	}
	form := url.Values{"email": {email("administrator")}, "password": {password}}
	if status, _ := send("POST", "/login", form.Encode()); status != http.StatusSeeOther {
		t.Fatalf("the sign-in got %d", status)
	}
	return func(method, path string) (int, string) { return send(method, path, "") }
}

func rename(t *testing.T, s *store.Store, table, from, to string) {
	t.Helper()
	err := s.Backups.DB.Tx(t.Context(), func(q sqldb.Queries) error {
		_, err := q.Exec(context.WithoutCancel(t.Context()), `ALTER TABLE `+table+` RENAME COLUMN `+from+` TO `+to)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// logged is frontEnds with a log.
func logged(t *testing.T, s *store.Store, log *slog.Logger) http.Handler {
	t.Helper()
	o := pages.FrameOptions(s)
	o.Now, o.Log = now, log
	f, err := frame.New(o)
	if err != nil {
		t.Fatal(err)
	}
	guard := web.NewGuard(limit.NewGuard(limit.Options{Now: now}))
	shown := func(console http.Handler) http.Handler {
		return pages.New(pages.Options{Store: s, Frame: f, Guard: guard, API: console})
	}
	return api.New(s, api.Options{Guard: guard, Pages: shown, Now: now, Log: log})
}
