package pages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/frame"
)

const licensePath = "/api-addons/admin/license"

func TestALicenseFileIsMadeAndDownloaded(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		form := b.get(licensePath).status(http.StatusOK).says("License file", "No license file yet", "Address of the store").form(licensePath)
		if form.Get("domain") != "127.0.0.1" || form.Get("code") != "" {
			t.Errorf("the form begins with %v", form)
		}
		b.fill(licensePath, licensePath, "code", " "+purchaseCode+" ", "domain", "https://Shop.example/", "tests", "localhost shop.test", "store", store.URL).leadsTo(licensePath + "/1")
		p := b.get(licensePath+"/1").status(http.StatusOK).says("The license file for shop.example is here", "Rain Kit (1229)", "Regular", "7c0f…8e37", "Until 3 May 2027", "What to do next", "Replace the license file")
		text := p.value("text")
		file := b.get(licensePath + "/1/file").status(http.StatusOK)
		if file.body != text || strings.Count(text, ".") != 2 || file.Header.Get("Content-Disposition") != `attachment; filename="license-shop.example.jwt"` {
			t.Errorf("the file is %q with %v", file.body, file.Header)
		}
		list := b.get(licensePath).says("shop.example", "localhost", "shop.test", "In use", "For tests", "7c0f…8e37 – Rain Kit").silentAbout(purchaseCode)
		if form := list.form(licensePath); form.Get("kept") != "1" || form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		b.fill(licensePath, licensePath, "domain", "shop.example").leadsTo(licensePath + "/1")
		b.get("/api-addons/admin").says("Done: The license file is made")
		b.get("/api-addons/admin/audit").says("Got a license file", "shop.example").silentAbout(purchaseCode)
		if strings.Contains(s.log.String(), purchaseCode) {
			t.Error("the purchase code is in the log")
		}
	})
}

func TestALicenseFormThatIsWrongIsShownAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		b.post(licensePath).status(http.StatusUnprocessableEntity).wrong("code", "Paste the purchase code").wrong("domain", "omain").wrong("store", "Type the address of the store")
		p := b.post(licensePath, "code", purchaseCode, "domain", "co.uk", "tests", "shop.example", "store", "http://store.example").status(http.StatusUnprocessableEntity)
		p.wrong("domain", "co.uk").wrong("tests", "not a test domain").wrong("store", "https://").silentAbout(purchaseCode)
		if p.value("tests") != "shop.example" || p.value("store") != "http://store.example" {
			t.Error("what was typed is gone")
		}
		b.post(licensePath, "code", "nobody-sold-this-one", "domain", "shop.example", "store", store.URL).status(http.StatusUnprocessableEntity).wrong("code", "does not know this purchase code").silentAbout("nobody-sold-this-one", "nobo…")
		b.post(licensePath, "kept", "99", "domain", "shop.example", "store", store.URL).status(http.StatusNotFound)
	})
}

// While the store is down the code is kept for its address, and chosen in the form
// that is shown again.
func TestNothingIsLostWhileTheStoreIsDown(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.down = true
		p := b.post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).status(http.StatusServiceUnavailable)
		p.wrong("store", "Nothing is lost").says("7c0f…8e37").silentAbout(purchaseCode, "Store for new purchase codes")
		form := p.form(licensePath)
		if form.Get("kept") != "1" || form.Get("domain") != "shop.example" || form.Get("store") != store.URL {
			t.Errorf("the form holds %v", form)
		}
		if form := b.get(licensePath).form(licensePath); form.Get("kept") != "1" || form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		store.down = false
		b.postForm(licensePath, form).leadsTo(licensePath + "/1")
		b.get(licensePath).says("Store for new purchase codes")
	})
}

// Somebody with a session and without the password must not get a kept code out.
func TestAFormCanNotSendAKeptCodeToAnAddressInTheForm(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example")
		var mu sync.Mutex
		var sent []string
		thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, r.URL.Path+" "+string(body))
		}))
		t.Cleanup(thief.Close)
		p := b.fill(licensePath, licensePath, "store", thief.URL).status(http.StatusUnprocessableEntity)
		p.wrong("code", "is sent nowhere else").silentAbout(purchaseCode)
		if form := p.form(licensePath); form.Get("kept") != "1" || form.Get("store") != thief.URL {
			t.Errorf("the form holds %v", form)
		}
		for _, path := range []string{"/move", "/1/check", "/1/revoke"} {
			b.post(licensePath+path, "kept", "1", "from", "shop.example", "domain", "new.example", "store", thief.URL)
		}
		if form := b.get(licensePath).form(licensePath); form.Get("store") != store.URL {
			t.Errorf("the next form holds %v", form)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(sent) != 0 {
			t.Errorf("sent: %s", sent)
		}
	})
}

// Whoever may type an address must not learn from the page what is there.
func TestThePageSaysTheSameOfEveryAddressWithoutAStore(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		b := s.signedIn(t)
		closed, page := httptest.NewServer(http.NotFoundHandler()), httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		t.Cleanup(page.Close)
		said := map[string]bool{}
		for _, address := range []string{closed.URL, page.URL, "http://10.0.0.1", "http://169.254.169.254", "https://nobody.invalid"} {
			p := b.post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", address).status(http.StatusServiceUnavailable).wrong("store", "can't be reached right now")
			p.silentAbout(purchaseCode)
			said[strings.ReplaceAll(p.text(), address, "ADDRESS")] = true
			known, err := s.Licenses(t.Context(), operator)
			if err == nil {
				err = s.ForgetCode(t.Context(), operator, known.Codes[0].ID)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if len(said) != 1 {
			t.Errorf("%d different pages", len(said))
		}
	})
}

func TestTheStoresAddressAloneIsChangedWithThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example")
		const at, other = licensePath + "/store", "https://other.example"
		if len(b.get(licensePath).having("href", at)) != 1 {
			t.Errorf("nothing leads to %s", at)
		}
		if form := b.get(at).form(at); form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		for _, wrong := range []string{"", "four quiet green birds"} {
			b.fill(at, at, "store", other, "password", wrong).status(http.StatusUnprocessableEntity).wrong("password", "password")
		}
		b.fill(at, at, "store", "http://other.example", "password", password).status(http.StatusUnprocessableEntity).wrong("store", "https://")
		b.get(licensePath).silentAbout("other.example")
		b.fill(at, at, "store", other, "password", password).leadsTo(licensePath)
		list := b.get(licensePath).says("address was changed", other)
		if form := list.form(licensePath); form.Get("store") != other || form.Get("kept") != "0" {
			t.Errorf("the form begins with %v", form) // no kept code is for that address
		}
		b.get("/api-addons/admin/audit").says("Changed the license store's address", other)
		b.fill(licensePath, licensePath, "kept", "1", "domain", "shop.example").status(http.StatusUnprocessableEntity).wrong("code", "Type that address below")
		b.fill(licensePath, licensePath, "kept", "1", "domain", "shop.example", "store", store.URL).leadsTo(licensePath + "/1")
		if form := b.get(licensePath).form(licensePath); form.Get("store") != store.URL || form.Get("kept") != "1" {
			t.Errorf("the form begins with %v", form)
		}
	})
}

func TestALicenseMovesToAnotherDomain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "old.example", "localhost")
		p := b.fill(licensePath, licensePath, "domain", "new.example").status(http.StatusConflict)
		p.says("No file was made", "already used for another domain", "old.example , since 3 May 2026", "Move it here")
		query := url.Values{"kept": {"1"}, "from": {"old.example"}, "domain": {"new.example"}}
		at := licensePath + "/move?" + query.Encode()
		if len(p.having("href", at)) != 1 {
			t.Fatalf("nothing leads to %s", at)
		}
		b.get(at).status(http.StatusOK).says("Move the license of old.example", "7c0f…8e37", "may stop")
		b.fill(at, licensePath+"/move", "domain", "co.uk").status(http.StatusUnprocessableEntity).wrong("domain", "co.uk")
		b.fill(at, licensePath+"/move").leadsTo(licensePath + "/3")
		b.get(licensePath+"/3").says("moved from old.example to new.example", "In use")
		b.get(licensePath+"/1").says("Moved away", "Do not build apps with this file any more")
		b.get(licensePath).says("Moved away", "In use")

		for code, why := range map[string]string{
			countersign.CodeMovesUsed: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeMoveTooSoon: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeDomainNotActivated: "domain_not_activated",
		} {
			store.refuse = code
			b.post(licensePath+"/move", "kept", "1", "from", "new.example", "domain", "third.example").status(http.StatusConflict).wrong("domain", why)
		}
		store.Close()
		b.post(licensePath+"/move", "kept", "1", "from", "new.example", "domain", "third.example").status(http.StatusServiceUnavailable).says("Nothing was moved", "can't be reached")
		b.get(licensePath + "/move?kept=99&from=old.example").status(http.StatusNotFound)
		b.post(licensePath+"/move", "kept", "99", "from", "new.example").status(http.StatusNotFound)
	})
}

func TestATestDomainInUseIsNotOfferedToMove(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.domain = "demo.test"
		p := b.post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).status(http.StatusConflict)
		p.wrong("domain", "limit_reached").says("No file was made.").silentAbout("Move it here")
	})
}

func TestFilesThatWereMadeBeforeARefusalAreNamed(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.noTests = true
		p := b.post(licensePath, "code", purchaseCode, "domain", "Shop.example", "tests", "localhost, demo.test", "store", store.URL).status(http.StatusConflict)
		p.wrong("tests", "limit_reached").says("The file for shop.example was made; no file for localhost, demo.test.", "In use").silentAbout("No file was made", "Move it here")
	})
}

func TestTheStoreIsAskedWhetherAFileIsGood(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example")
		b.post(licensePath + "/1/check").leadsTo(licensePath + "/1")
		b.get(licensePath+"/1").says("The store says: the license is good", "The store said")
		store.answer = countersign.CheckRevoked
		b.post(licensePath + "/1/check").leadsTo(licensePath + "/1")
		b.get(licensePath+"/1").says("revoked, or moved to another domain", "Revoked", "Do not build apps with this file any more")
		b.get("/api-addons/admin").says("To do: The license file is made")
		store.Close()
		b.post(licensePath+"/1/check").status(http.StatusServiceUnavailable).says("The store could not be asked", "can't be reached")
		b.post(licensePath + "/9/check").status(http.StatusNotFound)
		b.get(licensePath + "/9/file").status(http.StatusNotFound)
	})
}

// A file for another host than the site's own is a common mistake: the app would
// not start.
func TestAFileForAnotherHostIsWarnedAbout(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.Origin = "https://www.shop.example" })
	s.install(t)
	store, b := newLicenseStore(t), s.signedIn(t)
	const warning = "No license file is for this address"
	b.get(licensePath).silentAbout(warning)
	s.mustLicense(t, store, "old.example")
	b.get(licensePath).says(warning, "reached at www.shop.example", "your files are for old.example", "does not start for www.shop.example")
	b.get(licensePath + "/1").says("This file is not for this address")
	if _, err := s.MoveLicense(t.Context(), operator, 1, "old.example", "shop.example"); err != nil {
		t.Fatal(err)
	}
	b.get(licensePath).silentAbout(warning)
	b.get(licensePath + "/2").silentAbout("This file is not for this address")
}
