package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/expect"
)

func TestALicenseIsRevokedAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example", "localhost")
		const at, test = licensePath + "/1/revoke", licensePath + "/2/revoke"
		for _, path := range []string{licensePath, licensePath + "/1"} {
			expect.Equalf(t, len(b.Get(path).Having("href", at)), 1, "%s does not lead to %s", path, at)
		}
		b.Get(at).Status(http.StatusOK).Says("Revoke the license of shop.example", "7c0f…8e37", "stops at its next start", "one of the moves", "unless the seller counts it as a test domain").SilentAbout(purchaseCode)
		b.Get(test).Status(http.StatusOK).Says("costs no move")
		for code, why := range map[string]string{
			countersign.CodeMovesUsed: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeMoveTooSoon: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeDomainNotActivated: "domain_not_activated",
		} {
			store.refuse = code
			b.Post(at).Status(http.StatusConflict).Says("Revoke the license of shop.example", why)
		}
		store.refuse = ""
		b.Fill(at, at).LeadsTo(licensePath + "/1")
		b.Get(licensePath+"/1").Says("The license of shop.example was revoked", "Revoked", "Do not build apps with this file")
		if left := b.Get(licensePath+"/1").Having("href", at); len(left) != 0 {
			t.Error("it can be revoked again")
		}
		b.Post(at).Status(http.StatusConflict).Says("This file is no longer valid. Nothing was changed.") // a page that was left open
		b.Get(licensePath).Says("Revoked", "Test domain")
		b.Get("/api-addons/admin/audit").Says("Revoked a license", "shop.example")
		b.Fill(licensePath, licensePath, "domain", "new.example").LeadsTo(licensePath + "/3")
		store.Close()
		b.Post(licensePath + "/3/revoke").Status(http.StatusServiceUnavailable).Says("can't be reached")
		b.Get(licensePath + "/9/revoke").Status(http.StatusNotFound)
		b.Post(licensePath + "/9/revoke").Status(http.StatusNotFound)
	})
}

func TestAFileIsForgottenAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example", "localhost")
		const at = licensePath + "/2/forget"
		b.Get(at).Status(http.StatusOK).Says("Remove the file for localhost", "The store is not contacted")
		b.Fill(at, at).LeadsTo(licensePath)
		b.Get(licensePath).Says("The file for localhost was removed from the list", "shop.example")
		b.Get(licensePath + "/2").Status(http.StatusNotFound)
		b.Get("/api-addons/admin/audit").Says("Removed a license file from the list", "localhost")
		b.Get(at).Status(http.StatusNotFound)
		b.Post(at).Status(http.StatusNotFound)
	})
}

func TestAPurchaseCodeIsForgottenAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		b.Get(licensePath).SilentAbout("Stored purchase codes")
		s.mustLicense(t, store, "shop.example", "localhost")
		const at = licensePath + "/codes/1/forget"
		p := b.Get(licensePath).Says("Stored purchase codes", "localhost, shop.example")
		if len(p.Having("href", at)) != 1 {
			t.Fatalf("nothing leads to %s", at)
		}
		b.Get(at).Status(http.StatusOK).Says("Delete the purchase code 7c0f…8e37", "its 2 files (localhost, shop.example)", "The store is not contacted").SilentAbout(purchaseCode)
		b.Fill(at, at).LeadsTo(licensePath)
		b.Get(licensePath).Says("The purchase code 7c0f…8e37 was deleted", "No license file yet").SilentAbout("Stored purchase codes")
		b.Get("/api-addons/admin/audit").Says("Deleted a purchase code").SilentAbout("7c0f")
		b.Get(at).Status(http.StatusNotFound)
		b.Post(at).Status(http.StatusNotFound)
	})
}

// A code is kept before the store is asked, so it may be one of no file.
func TestAPurchaseCodeWithoutFilesIsForgottenToo(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.Close()
		if _, err := s.Licenses.Make(t.Context(), operator, license.Order{Store: store.URL, Code: purchaseCode, Domain: "shop.example"}); err == nil {
			t.Fatal("the store is down")
		}
		b.Get(licensePath).Says("Stored purchase codes", "none")
		b.Get(licensePath + "/codes/1/forget").Says("is deleted here. The store").SilentAbout("removed from the list")
		b.Fill(licensePath+"/codes/1/forget", licensePath+"/codes/1/forget").LeadsTo(licensePath)
	})
}

// The dates come from the store, so a domain whose file was made elsewhere has one.
func TestADomainWhoseFileWasMadeElsewhereHasADate(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.domain = "elsewhere.example"
		p := b.Fill(licensePath, licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).Status(http.StatusConflict)
		p.Says("already licensed for another domain", "elsewhere.example , since 3 May 2026", "Move it here")
		expect.Equalf(t, len(p.Having("href", licensePath+"/move?domain=shop.example&from=elsewhere.example&kept=1")), 1, "nothing leads to the move")
	})
}
