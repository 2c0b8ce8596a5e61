package pages_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/webtest"
)

const password = "four quiet green words"

var operator = people.Operator("tester")

// members are the people of the workspace ada, by role; "stranger" is the owner of bob, and
// "administrator" that of the store.
var members = map[string]store.Role{"viewer": store.RoleViewer, "manager": store.RoleManager, "owner": store.RoleOwner}

func email(who string) string { return who + "@shop.example" }

// team is a shop with people, served over HTTP.
type team struct {
	*store.Store
	server *httptest.Server
}

// teamStore is the shop with its people.
var teamStore = storetest.NewTemplate("../api/testdata/shop.jsonl", store.Options{Options: instance.Options{Now: now}}, func(ctx context.Context, s *store.Store) error {
	if _, err := s.Instance.People.CreateAdministrator(ctx, operator, email("administrator"), password); err != nil {
		return err
	}
	join := func(who, workspace string, role store.Role) error {
		_, token, err := s.Invite(ctx, operator, workspace, email(who), role)
		if err != nil {
			return err
		}
		_, _, err = s.AcceptAsNew(ctx, people.Origin{}, token, email(who), password)
		return err
	}
	for who, role := range members {
		if err := join(who, "ada", role); err != nil {
			return err
		}
	}
	return join("stranger", "bob", store.RoleOwner)
})

// teams runs fn with a team on both engines.
func teams(t *testing.T, fn func(t *testing.T, s team)) {
	t.Helper()
	t.Parallel()
	teamStore.AnEngine(t, func(t *testing.T, db dbtest.DB) { fn(t, openTeam(t, db)) })
}

func openTeam(t *testing.T, db dbtest.DB) team { return openTeamAs(t, db, store.Options{}) }

func openTeamAs(t *testing.T, db dbtest.DB, o store.Options) team {
	t.Helper()
	o.Now, o.RequestLog = now, requests.DefaultKeep
	s := storetest.Open(t, db, o)
	server := httptest.NewServer(frontEnds(t, s, 0, ""))
	t.Cleanup(server.Close)
	return team{s, server}
}

// browser is a browser in which nobody is signed in.
func (s team) browser(t *testing.T) *webtest.Browser {
	return webtest.NewBrowser(t, s.server.URL, "")
}

// as is a browser in which one of the people is signed in.
func (s team) as(t *testing.T, who string) *webtest.Browser {
	t.Helper()
	b := s.browser(t)
	b.Post("/login", "email", email(who), "password", password).LeadsTo("/")
	return b
}

// call asks the API for the account with a key, and returns the id of the request, which is
// in the log then.
func (s team) call(t *testing.T, key string) (id string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL+"/api/account/details", nil))(t)
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("User-Agent", "<i>till</i>/2.1")
	res := must.Get(http.DefaultClient.Do(r))(t)
	res.Body.Close()
	s.flush(t)
	return res.Header.Get("X-Request-Id")
}

// validate asks the API about a code, and returns the status of the answer.
func (s team) validate(t *testing.T, key, code string) int {
	t.Helper()
	res := must.Get(http.PostForm(s.server.URL+"/api/purchases/validation", url.Values{"api_key": {key}, "purchase_code": {code}}))(t)
	res.Body.Close()
	s.flush(t)
	return res.StatusCode
}

// flush writes the log of calls.
func (s team) flush(t *testing.T) {
	t.Helper()
	ended, stop := context.WithCancel(t.Context())
	stop()
	s.Requests.Run(ended)
}
