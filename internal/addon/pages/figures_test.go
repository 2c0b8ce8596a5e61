package pages_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
)

const dashboardPath = "/api-addons/admin"

func TestDashboardCountsTheRequestsFromApps(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.get(dashboardPath).says("Requests from apps in 24 h 0 No app has asked.")
		for range 1234 {
			s.NoteRequest(addon.AddressSettings)
		}
		s.NoteRequest(addon.AddressIAP)
		b.get(dashboardPath).says("Requests from apps in 24 h 1,235 1,234 for the app settings, 1 for in-app purchases.")
	})
}

func TestDashboardSaysHowTheLicenseFileStands(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.get(dashboardPath).says("License file Not made An app does not start without one.")
	store := newLicenseStore(t)
	s.mustLicense(t, store, "old.example", "127.0.0.1")
	b.get(dashboardPath).says("License file For tests For 127.0.0.1. Made on 1 November 2026.")
	store.answer = countersign.CheckRefunded
	b.post(licensePath + "/2/check").leadsTo(licensePath + "/2")
	b.get(dashboardPath).says("License file Another domain For old.example; this addon is reached at 127.0.0.1.")
	b.post(licensePath + "/1/check").leadsTo(licensePath + "/1")
	b.get(dashboardPath).says("License file Not good any more On 1 November 2026 the store said: the purchase was refunded.")
}

func TestDashboardSaysThatAnUpdateIsWaiting(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.get(dashboardPath).says("Addon Up to date Version 1.2.3.", "The update ran")
		s.exec(t, `DELETE FROM definitions WHERE name = 'appName'`)
		p := b.get(dashboardPath).says("Addon Update waiting Version 1.2.3 has", "An update is waiting")
		if got := p.main(); got != updatePath {
			t.Errorf("the main button leads to %q", got)
		}
	})
}
