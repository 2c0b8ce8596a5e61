package pages_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/webtest"
)

// audience says who gets further than a refusal at a route.
type audience string

const (
	everybody      audience = "everybody" // without signing in
	signedIn       audience = "signed in"
	viewers        audience = "viewers" // and everybody above them
	managers       audience = "managers"
	owners         audience = "owners"
	administrators audience = "administrators"
)

// routeAudiences is the table of routes and roles: every address of the pages has a row.
var routeAudiences = map[string]audience{
	"GET /":                 everybody,
	"GET /invite":           everybody,
	"POST /invite":          everybody,
	"GET /download/{token}": everybody,
	"GET /license":          everybody,
	"POST /license":         everybody,
	"GET /license/move":     everybody,
	"POST /license/move":    everybody,
	"GET /license/revoke":   everybody,
	"POST /license/revoke":  everybody,

	"GET /w":              signedIn,
	"POST /w":             administrators,
	"GET /workspaces/new": administrators,

	"GET /health":                    administrators,
	"GET /users/{id}/administrator":  administrators,
	"POST /users/{id}/administrator": administrators,

	"GET /audit":       administrators,
	"GET /audit.csv":   administrators,
	"GET /audit.jsonl": administrators,

	"GET /w/{workspace}":             viewers,
	"GET /w/{workspace}/reports":     viewers,
	"GET /w/{workspace}/reports.csv": viewers,
	"GET /w/{workspace}/audit":       viewers,
	"GET /w/{workspace}/audit.csv":   viewers,
	"GET /w/{workspace}/audit.jsonl": viewers,
	"GET /w/{workspace}/settings":    viewers,

	"GET /w/{workspace}/settings/general":  owners,
	"POST /w/{workspace}/settings/general": owners,
	"GET /w/{workspace}/settings/profile":  owners,
	"POST /w/{workspace}/settings/profile": owners,

	"GET /w/{workspace}/purchases":                           viewers,
	"GET /w/{workspace}/purchases/lookup":                    viewers,
	"POST /w/{workspace}/purchases/lookup":                   viewers,
	"GET /w/{workspace}/purchases/new":                       managers,
	"POST /w/{workspace}/purchases/new":                      managers,
	"GET /w/{workspace}/purchases/{purchase}":                viewers,
	"GET /w/{workspace}/purchases/{purchase}/terms":          managers,
	"POST /w/{workspace}/purchases/{purchase}/terms":         managers,
	"GET /w/{workspace}/purchases/{purchase}/download-link":  managers,
	"POST /w/{workspace}/purchases/{purchase}/download-link": managers,
	"GET /w/{workspace}/purchases/{purchase}/refund":         managers,
	"POST /w/{workspace}/purchases/{purchase}/refund":        managers,
	"GET /w/{workspace}/purchases/{purchase}/charge-back":    managers,
	"POST /w/{workspace}/purchases/{purchase}/charge-back":   managers,
	"GET /w/{workspace}/purchases/{purchase}/revoke":         managers,
	"POST /w/{workspace}/purchases/{purchase}/revoke":        managers,
	"GET /w/{workspace}/purchases/{purchase}/restore":        managers,
	"POST /w/{workspace}/purchases/{purchase}/restore":       managers,

	"GET /w/{workspace}/licenses/{license}/move":    managers,
	"POST /w/{workspace}/licenses/{license}/move":   managers,
	"GET /w/{workspace}/licenses/{license}/revoke":  managers,
	"POST /w/{workspace}/licenses/{license}/revoke": managers,

	"GET /w/{workspace}/items":                   viewers,
	"GET /w/{workspace}/items.csv":               viewers,
	"POST /w/{workspace}/items/bulk":             managers,
	"GET /w/{workspace}/items/new":               managers,
	"POST /w/{workspace}/items/new":              managers,
	"GET /w/{workspace}/items/{item}":            viewers,
	"GET /w/{workspace}/items/{item}/edit":       managers,
	"POST /w/{workspace}/items/{item}/edit":      managers,
	"GET /w/{workspace}/items/{item}/licensing":  managers,
	"POST /w/{workspace}/items/{item}/licensing": managers,

	"GET /w/{workspace}/items/{item}/media":                managers,
	"GET /w/{workspace}/items/{item}/media/{slot}":         managers,
	"POST /w/{workspace}/items/{item}/media/{slot}":        managers,
	"GET /w/{workspace}/items/{item}/media/{slot}/remove":  managers,
	"POST /w/{workspace}/items/{item}/media/{slot}/remove": managers,

	"GET /w/{workspace}/settings/profile/media":                owners,
	"GET /w/{workspace}/settings/profile/media/{slot}":         owners,
	"POST /w/{workspace}/settings/profile/media/{slot}":        owners,
	"GET /w/{workspace}/settings/profile/media/{slot}/remove":  owners,
	"POST /w/{workspace}/settings/profile/media/{slot}/remove": owners,

	"GET /w/{workspace}/import":                    managers,
	"POST /w/{workspace}/import":                   managers,
	"GET /w/{workspace}/import/{job}":              managers,
	"POST /w/{workspace}/import/{job}/cancel":      managers,
	"POST /w/{workspace}/import/{job}/run":         managers,
	"GET /w/{workspace}/uploads/{upload}":          managers,
	"POST /w/{workspace}/uploads/{upload}":         managers,
	"POST /w/{workspace}/uploads/{upload}/discard": managers,
	"GET /w/{workspace}/import/{job}/rejected.csv": managers,
	"GET /w/{workspace}/import/{job}/undo":         managers,
	"POST /w/{workspace}/import/{job}/undo":        managers,

	"GET /w/{workspace}/requests":           viewers,
	"GET /w/{workspace}/requests/live":      viewers,
	"GET /w/{workspace}/requests/{request}": viewers,

	"POST /w/{workspace}/sample":        managers,
	"GET /w/{workspace}/sample/remove":  managers,
	"POST /w/{workspace}/sample/remove": managers,

	"GET /w/{workspace}/console":  managers,
	"POST /w/{workspace}/console": managers,

	"GET /w/{workspace}/settings/api":                viewers,
	"POST /w/{workspace}/settings/api/switches":      owners,
	"GET /w/{workspace}/settings/api/new":            owners,
	"POST /w/{workspace}/settings/api/new":           owners,
	"GET /w/{workspace}/settings/api/{key}":          viewers,
	"GET /w/{workspace}/settings/api/{key}/reveal":   owners,
	"POST /w/{workspace}/settings/api/{key}/reveal":  owners,
	"GET /w/{workspace}/settings/api/{key}/rotate":   owners,
	"POST /w/{workspace}/settings/api/{key}/rotate":  owners,
	"GET /w/{workspace}/settings/api/{key}/expiry":   owners,
	"POST /w/{workspace}/settings/api/{key}/expiry":  owners,
	"GET /w/{workspace}/settings/api/{key}/revoke":   owners,
	"POST /w/{workspace}/settings/api/{key}/revoke":  owners,
	"POST /w/{workspace}/settings/api/{key}/restore": owners,

	"GET /w/{workspace}/settings/members":                            owners,
	"POST /w/{workspace}/settings/members":                           owners,
	"GET /w/{workspace}/settings/members/new":                        owners,
	"GET /w/{workspace}/settings/members/{user}":                     owners,
	"POST /w/{workspace}/settings/members/{user}":                    owners,
	"GET /w/{workspace}/settings/members/{user}/remove":              owners,
	"POST /w/{workspace}/settings/members/{user}/remove":             owners,
	"POST /w/{workspace}/settings/members/invitations/{id}/withdraw": owners,
}

// forms are what a form needs so that the role is what decides.
var forms = map[string][]string{
	"POST /w/{workspace}/purchases/lookup":                   {"code", "nobody-has-this"},
	"POST /w/{workspace}/purchases/new":                      {"item", "1229"},
	"POST /w/{workspace}/purchases/{purchase}/terms":         {"license", "Regular", "downloaded", "true"},
	"POST /w/{workspace}/purchases/{purchase}/download-link": {"days", "7"},
	"POST /w/{workspace}/uploads/{upload}":                   {"do", "dry_run"},
	"POST /w/{workspace}/items/bulk":                         {"item", "1229", "new_category", "Loops"},
	"POST /w":                                                {"username", "new", "currency", "USD"},
	"POST /w/{workspace}/settings/api/new":                   {"name", "made by the test"},
	"POST /w/{workspace}/settings/api/{key}/reveal":          {"password", password},
	"POST /w/{workspace}/settings/api/{key}/revoke":          {"name", "till"},
	"POST /w/{workspace}/settings/members":                   {"email", "eve@shop.example", "role", "viewer"},
	"POST /w/{workspace}/settings/members/{user}":            {"role", "owner"},
}

func TestEveryRouteHasARowInTheTableOfRoles(t *testing.T) {
	all := webtest.Routes(t, "routes.go")
	for _, route := range all {
		if routeAudiences[route] == "" {
			t.Errorf("%s has no row", route)
		}
	}
	for route := range routeAudiences {
		if !slices.Contains(all, route) {
			t.Errorf("%s is not a route", route)
		}
	}
}

func TestEveryRouteAsksForTheRole(t *testing.T) {
	for who := range rank {
		t.Run("as "+who, func(t *testing.T) {
			teams(t, func(t *testing.T, s team) {
				browser := s.browser(t)
				if who != "" {
					browser = s.as(t, who)
				}
				viewer := must.Get(s.Instance.People.UserNamed(t.Context(), operator, email("viewer")))(t)
				key, value, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
				must.Do(t, err)
				sold, err := s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: 1229, License: "Regular"})
				must.Do(t, err)
				file := transfer.NewImport{File: "a.jsonl", Workspace: "ada", DryRun: true}
				tried := must.Get(s.Transfer.Upload(t.Context(), operator, file, strings.NewReader("{}")))(t)
				job := must.Get(s.Transfer.Confirm(t.Context(), operator, tried, file))(t)
				upload := must.Get(s.Transfer.Upload(t.Context(), operator, file, strings.NewReader("{}")))(t)
				must.Get(s.Media.SetItem(t.Context(), operator, 1229, media.File, media.Upload{Name: "rain.zip", From: strings.NewReader("rain")}))(t)
				link, _, err := s.Media.CreateLink(t.Context(), operator, sold.ID, time.Hour)
				must.Do(t, err)
				slots := strings.NewReplacer("profile/media/{slot}", "profile/media/avatar", "{slot}", "thumbnail", "{token}", link)
				address := strings.NewReplacer(
					"/users/{id}", "/users/"+strconv.FormatInt(viewer.ID, 10), "{id}", "none",
					"{workspace}", "ada", "{item}", "1229", "{purchase}", strconv.FormatInt(sold.ID, 10),
					"{job}", strconv.FormatInt(job, 10), "{upload}", strconv.FormatInt(upload, 10),
					"{key}", strconv.FormatInt(key.ID, 10), "{user}", strconv.FormatInt(viewer.ID, 10),
					"{license}", s.license(t, sold.Code, "till.example"), "{request}", s.call(t, value),
				)
				for _, route := range slices.Sorted(maps.Keys(routeAudiences)) { // reading comes first, and removing last
					method, path, _ := strings.Cut(address.Replace(slots.Replace(route)), " ")
					status := 0
					if strings.HasSuffix(path, "/live") { // it has no end
						status = open(t, browser, path).StatusCode
					} else {
						status = visit(browser, method, path, forms[route]).StatusCode
					}
					if want := outcome(who, routeAudiences[route], route, status); want != "" {
						t.Errorf("%s: status %d, want %s", route, status, want)
					}
				}
			})
		})
	}
}

// visit opens an address or sends a form there.
func visit(b *webtest.Browser, method, path string, form []string) *webtest.Page {
	if method == http.MethodGet {
		return b.Get(path)
	}
	return b.Post(path, form...)
}

// ranks are how much people may do, from the least.
var ranks = []audience{everybody, signedIn, viewers, managers, owners, administrators}

// rank is that of one of the people in the workspace ada.
var rank = map[string]audience{"": everybody, "stranger": signedIn, "viewer": viewers, "manager": managers, "owner": owners, "administrator": administrators}

// outcome is "" when a status is right for somebody at a route, else what would be.
func outcome(who string, whom audience, route string, status int) string {
	allowed := slices.Index(ranks, rank[who]) >= slices.Index(ranks, whom)
	switch {
	case allowed && (status < 400 || status == http.StatusUnprocessableEntity || status == http.StatusConflict):
		return ""
	case allowed:
		return "an answer"
	case who == "" && (status == http.StatusSeeOther || strings.HasPrefix(route, "POST") && status == http.StatusUnprocessableEntity):
		return "" // to sign in, with what was typed
	case who == "":
		return "sign-in"
	case who == "stranger" && strings.Contains(route, "{workspace}"):
		if status == http.StatusNotFound {
			return ""
		}
		return "404"
	case status == http.StatusForbidden:
		return ""
	}
	return "403"
}

func TestWorkspacesOfOthersAreNotFound(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "owner")
		of := b.Get("/w/bob").Status(http.StatusNotFound)
		missing := b.Get("/w/nobody").Status(http.StatusNotFound)
		if strings.ReplaceAll(of.Text(), "bob", "nobody") != missing.Text() {
			t.Errorf("%s\n%s", of.Text(), missing.Text())
		}
	})
}
