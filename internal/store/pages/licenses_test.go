package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
)

// license issues the license of a purchase of ada for a domain, and returns its id.
func (s team) license(t *testing.T, code, domain string) (id string) {
	t.Helper()
	issued := must.Get(s.Licensing.Issue(t.Context(), operator, "", code, domain))(t)
	return issued.ID
}

func TestAManagerMovesAndRevokesALicense(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		purchase, _ := s.sell(t, store.Purchase{Code: "to-be-licensed"})
		path := "/w/ada/licenses/" + s.license(t, "to-be-licensed", "old.example")
		b := s.as(t, "manager")
		b.Get(purchase).Status(http.StatusOK).Says("old.example", "Active")
		b.Get(path+"/move").Status(http.StatusOK).Says("Move the license for old.example", "does not count")
		b.Post(path+"/move", "domain", "").Status(http.StatusUnprocessableEntity).Wrong("domain", "Type the new domain")
		b.Post(path+"/move", "domain", "co.uk").Status(http.StatusUnprocessableEntity).Wrong("domain", "co.uk")
		b.Post(path+"/move", "domain", "new.example").LeadsTo(purchase)
		b.Get(purchase).Says("The license was moved to new.example.", "Ended", "License for old.example ended: replaced")
		b.Post(path+"/move", "domain", "other.example").Status(http.StatusConflict).Says("Nothing changed")
		b.Post(path + "/revoke").Status(http.StatusConflict).Says("Nothing was revoked.")

		var links []string
		for _, n := range b.Get(purchase).All("a") {
			for _, a := range n.Attr {
				if a.Key == "href" && strings.HasSuffix(a.Val, "/revoke") && strings.Contains(a.Val, "/licenses/") {
					links = append(links, a.Val)
				}
			}
		}
		if len(links) != 1 {
			t.Fatalf("%d licenses can be revoked: %v", len(links), links)
		}
		b.Get(links[0]).Status(http.StatusOK).Says("Revoke the license for new.example", "can't be undone")
		b.Post(links[0]).LeadsTo(purchase)
		b.Get(purchase).Says("The license for new.example is revoked.", "ended: revoked")
		s.as(t, "viewer").Get(purchase).SilentAbout("Move")
		b.Get("/w/ada/licenses/nonsense/revoke").Status(http.StatusNotFound)
		s.as(t, "stranger").Get(strings.Replace(path, "/ada/", "/bob/", 1) + "/revoke").Status(http.StatusNotFound)
	})
}
