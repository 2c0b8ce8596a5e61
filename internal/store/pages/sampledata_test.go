package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
)

func TestSampleDataIsLoadedIntoAnEmptyWorkspaceAndRemoved(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "administrator")
		b.Post("/w", "username", "fresh", "currency", "EUR").LeadsTo("/w/fresh")
		b.Get("/w/fresh").Says("Load sample data")
		b.Post("/w/fresh/sample").LeadsTo("/w/fresh")
		b.Get("/w/fresh").Says("Sample data was loaded: 40 items and 1,200 purchases.", "This workspace has sample data").SilentAbout("Load sample data")
		b.Post("/w/fresh/sample").Status(http.StatusConflict).Says("sample data is for a workspace without items")
		b.Get("/w/fresh/sample/remove").Status(http.StatusOK).Says("The 40 items and 1,200 purchases that were loaded are removed")
		b.Post("/w/fresh/sample/remove").LeadsTo("/w/fresh")
		b.Get("/w/fresh").Says("Sample data was removed: 40 items and 1,200 purchases.", "Load sample data")
		b.Get("/w/fresh/sample/remove").LeadsTo("/w/fresh")
	})
}

func TestTheRemovalOfSampleDataSaysWhatStays(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "administrator")
		b.Post("/w", "username", "fresh", "currency", "EUR", "sample", "1").LeadsTo("/w/fresh")
		b.Get("/w/fresh").Says("was created. Sample data was loaded: 40 items")
		items := must.Get(s.PageItems(t.Context(), operator, "fresh", store.ItemFilter{Limit: 1}))(t)
		sold := store.Purchase{ItemID: items.Items[0].ID, License: countersign.LicenseRegular}
		must.Get(s.CreatePurchase(t.Context(), operator, "fresh", sold))(t)
		b.Post("/w/fresh/sample/remove").Status(http.StatusOK).Says("Sample data that stays", "1 item and 0 purchases stay as they are.", items.Items[0].Name, "It has purchases or keys since.")
		b.Get("/w/fresh").SilentAbout("sample data").Says("Sales in 30 days")
		s.as(t, "viewer").Get("/w/ada").SilentAbout("sample data")
	})
}
