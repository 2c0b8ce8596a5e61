package pages_test

import (
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/expect"
)

const dashboardPath = "/api-addons/admin"

func TestDashboardCountsTheRequestsFromApps(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(dashboardPath).Says("Requests from apps in 24 h 0 No requests yet.")
		for range 1234 {
			s.NoteRequest(addon.AddressSettings)
		}
		s.NoteRequest(addon.AddressIAP)
		b.Get(dashboardPath).Says("Requests from apps in 24 h 1,235 1,234 for the app settings, 1 for in-app purchases.")
	})
}

func TestDashboardSaysHowTheLicenseFileStands(t *testing.T) {
	s := one(t)
	b := s.signedIn(t)
	b.Get(dashboardPath).Says("License file Not created An app does not start without one.")
	store := newLicenseStore(t)
	s.mustLicense(t, store, "old.example", "127.0.0.1")
	b.Get(dashboardPath).Says("License file Test domain For 127.0.0.1. Created on 1 Nov 2026, ")
	store.answer = countersign.CheckRefunded
	b.Post(licensePath + "/2/check").LeadsTo(licensePath + "/2")
	b.Get(dashboardPath).Says("License file Another domain For old.example; this addon is reached at 127.0.0.1.")
	b.Post(licensePath + "/1/check").LeadsTo(licensePath + "/1")
	b.Get(dashboardPath).Says("License file No longer valid On 1 Nov 2026, 12:00 UTC the store said: the purchase was refunded.")
}

func TestDashboardSaysThatAnUpdateIsWaiting(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		b.Get(dashboardPath).Says("Addon Up to date Version 1.2.3.", "The update has run")
		addontest.Execute(t, s.at, `DELETE FROM definitions WHERE name = 'appName'`)
		p := b.Get(dashboardPath).Says("Addon Update available Version 1.2.3 has", "An update is available")
		expect.Equalf(t, mainOf(p), updatePath, "the main button leads to")
	})
}
