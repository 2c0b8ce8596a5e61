package pages_test

import (
	"net/http"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
)

func TestALicenseIsRevokedAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example", "localhost")
		const at, test = licensePath + "/1/revoke", licensePath + "/2/revoke"
		for _, path := range []string{licensePath, licensePath + "/1"} {
			if len(b.get(path).having("href", at)) != 1 {
				t.Errorf("%s does not lead to %s", path, at)
			}
		}
		b.get(at).status(http.StatusOK).says("Revoke the license of shop.example", "7c0f…8e37", "stops at its next start", "one of the moves", "unless the seller counts it as a test domain").silentAbout(purchaseCode)
		b.get(test).status(http.StatusOK).says("costs no move")
		for code, why := range map[string]string{
			countersign.CodeMovesUsed: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeMoveTooSoon: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeDomainNotActivated: "domain_not_activated",
		} {
			store.refuse = code
			b.post(at).status(http.StatusConflict).says("Revoke the license of shop.example", why)
		}
		store.refuse = ""
		b.fill(at, at).leadsTo(licensePath + "/1")
		b.get(licensePath+"/1").says("The license of shop.example was revoked", "Revoked", "Do not build apps with this file any more")
		if left := b.get(licensePath+"/1").having("href", at); len(left) != 0 {
			t.Error("it can be revoked again")
		}
		b.post(at).status(http.StatusConflict).says("This file is not good any more; nothing was changed.") // a page that was left open
		b.get(licensePath).says("Revoked", "For tests")
		b.get("/api-addons/admin/audit").says("Revoked a license", "shop.example")
		b.fill(licensePath, licensePath, "domain", "new.example").leadsTo(licensePath + "/3")
		store.Close()
		b.post(licensePath + "/3/revoke").status(http.StatusServiceUnavailable).says("can't be reached")
		b.get(licensePath + "/9/revoke").status(http.StatusNotFound)
		b.post(licensePath + "/9/revoke").status(http.StatusNotFound)
	})
}

func TestAFileIsForgottenAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example", "localhost")
		const at = licensePath + "/2/forget"
		b.get(at).status(http.StatusOK).says("Forget the file for localhost", "told nothing")
		b.fill(at, at).leadsTo(licensePath)
		b.get(licensePath).says("The file for localhost is forgotten", "shop.example")
		b.get(licensePath + "/2").status(http.StatusNotFound)
		b.get("/api-addons/admin/audit").says("Forgot a license file", "localhost")
		b.get(at).status(http.StatusNotFound)
		b.post(at).status(http.StatusNotFound)
	})
}

func TestAPurchaseCodeIsForgottenAfterAQuestion(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		b.get(licensePath).silentAbout("Kept purchase codes")
		s.mustLicense(t, store, "shop.example", "localhost")
		const at = licensePath + "/codes/1/forget"
		p := b.get(licensePath).says("Kept purchase codes", "localhost, shop.example")
		if len(p.having("href", at)) != 1 {
			t.Fatalf("nothing leads to %s", at)
		}
		b.get(at).status(http.StatusOK).says("Forget the purchase code 7c0f…8e37", "its 2 files (localhost, shop.example)", "told nothing").silentAbout(purchaseCode)
		b.fill(at, at).leadsTo(licensePath)
		b.get(licensePath).says("The purchase code 7c0f…8e37 is forgotten", "No license file yet").silentAbout("Kept purchase codes")
		b.get("/api-addons/admin/audit").says("Forgot a purchase code").silentAbout("7c0f")
		b.get(at).status(http.StatusNotFound)
		b.post(at).status(http.StatusNotFound)
	})
}

// A code is kept before the store is asked, so it may be one of no file.
func TestAPurchaseCodeWithoutFilesIsForgottenToo(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.Close()
		if _, err := s.MakeLicenses(t.Context(), operator, addon.LicenseOrder{Store: store.URL, Code: purchaseCode, Domain: "shop.example"}); err == nil {
			t.Fatal("the store is down")
		}
		b.get(licensePath).says("Kept purchase codes", "none")
		b.get(licensePath + "/codes/1/forget").says("is deleted here. The store").silentAbout("taken off")
		b.fill(licensePath+"/codes/1/forget", licensePath+"/codes/1/forget").leadsTo(licensePath)
	})
}

// The dates come from the store, so a domain whose file was made elsewhere has one.
func TestADomainWhoseFileWasMadeElsewhereHasADate(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.domain = "elsewhere.example"
		p := b.fill(licensePath, licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).status(http.StatusConflict)
		p.says("already used for another domain", "elsewhere.example , since 3 May 2026", "Move it here")
		if len(p.having("href", licensePath+"/move?domain=shop.example&from=elsewhere.example&kept=1")) != 1 {
			t.Error("nothing leads to the move")
		}
	})
}
