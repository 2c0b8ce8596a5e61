package pages_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/requests"
)

func TestTheOverviewHasTheNumbersOfAWorkspace(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, before := s.sell(t, store.Purchase{})
		s.sellThree(t)
		s.logCalls(t, requests.Entry{Status: 200}, requests.Entry{Status: 404, Reason: "purchase_not_found"}, requests.Entry{Status: 404, Reason: "purchase_not_found"})
		p := s.as(t, "viewer").Get("/w/ada").Status(http.StatusOK).
			Says("1 valid", "2 failed, 66.7 % of all", "1 no longer active", "sold-tod", before.Code[:8], "purchase_not_found", "Today, in UTC, is not over yet.")
		for _, link := range []string{"/w/ada/requests?result=failed", "/w/ada/purchases?from=2026-10-03&to=2026-11-01", "/w/ada/reports?metric=revenue&days=30", "/w/ada/requests?reason=purchase_not_found"} {
			if len(p.Having("href", link)) == 0 {
				t.Errorf("nothing leads to %s", link)
			}
		}
	})
}

func TestTheOverviewListsWhatIsToDoUntilItIsDone(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		keys := must.Get(s.Keys(t.Context(), operator, "ada"))(t)
		for _, k := range keys {
			if _, err := s.RevokeKey(t.Context(), operator, k.ID); err != nil && !fault.HasCode(err, "key_revoked") {
				t.Fatal(err)
			}
		}
		b := s.as(t, "owner")
		p := b.Get("/w/ada").Says("Set up", "First key", "First call")
		expect.Equalf(t, len(p.Having("href", "/w/ada/settings/api/new")), 1, "nothing leads to a new key")
		expect.Equalf(t, len(s.as(t, "viewer").Get("/w/ada").Having("href", "/w/ada/settings/api/new")), 0, "a viewer is led to a form that refuses")
		_, value := s.makeKey(t, "till")
		b.Get("/w/ada").Says("First call")
		s.call(t, value)
		s.Validation.Close(t.Context()) // writes when keys were used
		b.Get("/w/ada").SilentAbout("Set up", "First call")
	})
}

// The log of SQLite lies in a file of its own, which can be damaged alone.
func TestPagesStayWhenTheLogOfCallsIsGone(t *testing.T) {
	t.Parallel()
	db := teamStore.New(t, dbtest.SQLite)
	must.Do(t, os.WriteFile(filepath.Join(db.Dir, requests.DatabaseName), []byte("not a database, but long enough for one to look at it"), 0o600))
	s := openTeam(t, db)
	b := s.as(t, "viewer")
	b.Get("/w/ada").Status(http.StatusOK).Says("The log of calls can't be read at present.", "Last purchases")
	b.Get("/w/ada/reports").Status(http.StatusOK).Says("Calls can't be counted at present")
	b.Get("/w/ada/reports?metric=sales").Status(http.StatusOK).SilentAbout("at present")
	key, _ := s.makeKey(t, "till")
	for _, page := range []string{key, key + "/rotate", key + "/revoke"} {
		s.as(t, "owner").Get(page).Status(http.StatusOK).Says("The log of calls can't be read at present.")
	}
	if status := b.Get("/w/ada/reports.csv").StatusCode; status < 500 {
		t.Errorf("the file has status %d", status)
	}
}
