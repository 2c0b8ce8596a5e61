package pages_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store/requests"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/webtest"
)

func TestACallIsInTheListAndFoundByItsID(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, value := s.makeKey(t, "till")
		id := s.call(t, value)
		failed := s.call(t, value[:len(value)-8]+"00000000") // of nobody
		b := s.as(t, "viewer")
		b.Get("/w/ada/requests").Status(http.StatusOK).Says(id, "account/details", "till", "Valid").SilentAbout(failed, value)
		b.Get("/w/ada/requests?id=" + id).LeadsTo("/w/ada/requests/" + id)
		page := b.Get("/w/ada/requests/"+id).Status(http.StatusOK).Says("GET /api/account/details", "200", "The call was valid.", "<i>till</i>/2.1", "api_key", "X-Api-Key").SilentAbout(value)
		if strings.Contains(page.Body, "<i>till") || len(page.Having("href", path)) == 0 {
			t.Error("the program's name is not text, or the key is not linked")
		}
		b.Get("/w/ada/requests/" + failed).Status(http.StatusNotFound) // nobody knows whose it is
		b.Get("/w/ada/requests/nonsense").Status(http.StatusNotFound)
		s.as(t, "stranger").Get("/w/bob/requests/" + id).Status(http.StatusNotFound)
		b.Get(path).Says("In the last 24 hours: 1 call from 127.0.0.1.")
		s.as(t, "owner").Get(path + "/revoke").Says("In the last 24 hours: 1 call from 127.0.0.1.")
	})
}

func TestPagesSayThatTheLogOfCallsIsDamaged(t *testing.T) {
	t.Parallel()
	db := teamStore.New(t, dbtest.SQLite)
	s := openTeam(t, db)
	path, value := s.makeKey(t, "till")
	id := s.call(t, value)
	b := s.as(t, "manager")
	must.Do(t, s.Requests.Close())
	storetest.Damage(t, filepath.Join(db.Dir, requests.DatabaseName))
	for _, page := range []string{"/w/ada/requests", "/w/ada/requests?id=" + id, "/w/ada/requests/" + id, "/w/ada/reports.csv?metric=failed"} {
		b.Get(page).Status(http.StatusServiceUnavailable).Says("The log of API requests is damaged")
	}
	b.Get("/w/ada/reports?metric=valid").Status(http.StatusOK).Says("can't be read")
	for _, page := range []string{"/w/ada", path, "/w/ada/items/1229"} {
		b.Get(page).Status(http.StatusOK)
	}
	expect.Equalf(t, s.validate(t, value, "unknown"), http.StatusNotFound, "a validation")
	s.as(t, "administrator").Get("/health").Says("request log", "is damaged")
}

func TestTheListOfCallsIsNarrowed(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, value := s.makeKey(t, "till")
		path, other := s.makeKey(t, "second")
		id, of := s.call(t, value), s.call(t, other)
		number := path[strings.LastIndex(path, "/")+1:]
		b := s.as(t, "viewer")
		for query, has := range map[string][2]bool{
			"key=" + number:                 {false, true},
			"result=valid":                  {true, true},
			"result=failed":                 {false, false},
			"reason=key_unknown":            {false, false},
			"address=127.0.0.1":             {true, true},
			"address=192.0.2.1":             {false, false},
			"endpoint=/api/account/details": {true, true},
			"endpoint=/api/items/all":       {false, false},
			"endpoint=account/details":      {true, true},
			"endpoint=items/all":            {false, false},
			"item=1229":                     {false, false},
		} {
			text := b.Get("/w/ada/requests?" + query).Status(http.StatusOK).Text()
			if strings.Contains(text, id) != has[0] || strings.Contains(text, of) != has[1] {
				t.Errorf("%s: %s", query, text)
			}
		}
		b.Get("/w/ada/requests?item=theme").Status(http.StatusUnprocessableEntity).Says("whole number")
		b.Get("/w/ada/requests?id=nonsense").Status(http.StatusUnprocessableEntity).Says("No call of this workspace")
		b.Get("/w/ada/requests?id=" + id).LeadsTo("/w/ada/requests/" + id)
	})
}

func TestTheListOfCallsIsNarrowedToAnErrorCodeThatOccurred(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		s.logCalls(t, requests.Entry{Status: 200}, requests.Entry{Status: 404, Reason: "purchase_not_found"}, requests.Entry{Status: 404, Reason: "item_not_found"})
		b := s.as(t, "viewer")
		for query, want := range map[string]string{
			"":                           "[* item_not_found purchase_not_found] 3",
			"?reason=purchase_not_found": "[ item_not_found *purchase_not_found] 1",
			"?reason=%20quota_exceeded":  "[ item_not_found purchase_not_found *quota_exceeded] 0",
		} {
			p := b.Get("/w/ada/requests" + query).Status(http.StatusOK)
			var codes []string
			for n := range p.Having("id", "field-reason")[0].Descendants() {
				if n.Data != "option" {
					continue
				}
				code := webtest.Attr(n, "value")
				if webtest.Has(n, "selected") {
					code = "*" + code
				}
				codes = append(codes, code)
			}
			calls := strings.Count(p.Text(), "purchases/validation")
			expect.Equalf(t, fmt.Sprint(codes, " ", calls), want, "%s", query)
		}
	})
}

func TestPagesOfCallsLeadToAllOfThem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, value := s.makeKey(t, "till")
		var made []string
		for range 51 {
			made = append(made, s.call(t, value))
		}
		shown := func(p *webtest.Page) (ids []string) {
			for _, id := range made {
				if strings.Contains(p.Status(http.StatusOK).Text(), id) {
					ids = append(ids, id)
				}
			}
			return ids
		}
		b := s.as(t, "viewer")
		newest := b.Get("/w/ada/requests?result=valid")
		oldest := b.Get(relOf(newest, "next"))
		back := b.Get(relOf(oldest, "prev"))
		if first, last := shown(newest), shown(oldest); len(first) != 50 || len(last) != 1 || slices.Contains(first, last[0]) || !slices.Equal(shown(back), first) {
			t.Errorf("%d and %d calls, then %d", len(first), len(last), len(shown(back)))
		}
	})
}
