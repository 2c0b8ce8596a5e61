package pages_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/limit"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/api"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/web"
	"github.com/countersign/countersign/internal/webtest"
)

// Whatever column a handler can't read, the log has the cause of its 500.
func TestEvery500HasItsCauseInTheLog(t *testing.T) {
	t.Parallel()
	s := storetest.Open(t, teamStore.New(t, dbtest.SQLite), store.Options{Options: instance.Options{Now: now}})
	log := &webtest.Log{}
	server := httptest.NewServer(logged(t, s, slog.New(slog.NewTextHandler(log, nil))))
	defer server.Close()
	_, value, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
	must.Do(t, err)
	b := webtest.NewBrowser(t, server.URL, "")
	b.Post("/login", "email", email("administrator"), "password", password).LeadsTo("/")
	example := regexp.MustCompile(`\{[a-z]+\}`)
	faults := 0
	for _, fault := range []string{"users.email", "workspaces.username", "items.name", "purchases.code", "audit.action"} {
		table, column, _ := strings.Cut(fault, ".")
		rename(t, s, table, column, "gone")
		for _, route := range append(webtest.Routes(t, "routes.go"), webtest.Routes(t, "../api/routes.go")...) {
			route = example.ReplaceAllString(strings.Replace(route, "{workspace}", "ada", 1), "1")
			if strings.HasSuffix(route, "/live") || strings.HasSuffix(route, " /logout") {
				continue
			}
			if b.WantCause(log, "SQL logic error", route, "", "Authorization", "Bearer "+value, "Sec-Fetch-Site", "same-origin",
				"Accept", "text/html, */*", "Content-Type", "application/x-www-form-urlencoded") {
				faults++
			}
		}
		rename(t, s, table, "gone", column)
	}
	if faults < 100 {
		t.Errorf("only %d of the requests failed", faults)
	}
}

func rename(t *testing.T, s *store.Store, table, from, to string) {
	t.Helper()
	must.Do(t, s.Instance.Backups.DB.Tx(t.Context(), func(q sqldb.Queries) error {
		_, err := q.Exec(context.WithoutCancel(t.Context()), `ALTER TABLE `+table+` RENAME COLUMN `+from+` TO `+to)
		return err
	}))
}

// logged is frontEnds with a log.
func logged(t *testing.T, s *store.Store, log *slog.Logger) http.Handler {
	t.Helper()
	o := pages.FrameOptions(s)
	o.Now, o.Log = now, log
	f := must.Get(frame.New(o))(t)
	limits := web.NewRateLimits(limit.NewGuesses(limit.Options{Now: now}))
	shown := func(console http.Handler) http.Handler {
		return pages.New(pages.Options{Store: s, Frame: f, Limits: limits, API: console})
	}
	return api.New(s, api.Options{Limits: limits, Pages: shown, Now: now, Log: log})
}
