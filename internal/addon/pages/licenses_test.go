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
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/frame"
	"github.com/countersign/countersign/internal/must"
)

const licensePath = "/api-addons/admin/license"

func TestALicenseFileIsMadeAndDownloaded(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		form := b.Get(licensePath).Status(http.StatusOK).Says("License file", "No license file yet", "Address of the store").Form(licensePath)
		if form.Get("domain") != "127.0.0.1" || form.Get("code") != "" {
			t.Errorf("the form begins with %v", form)
		}
		b.Fill(licensePath, licensePath, "code", " "+purchaseCode+" ", "domain", "https://Shop.example/", "tests", "localhost shop.test", "store", store.URL).LeadsTo(licensePath + "/1")
		p := b.Get(licensePath+"/1").Status(http.StatusOK).Says("The license file for shop.example is here", "Rain Kit (1229)", "Regular", "7c0f…8e37", "Until 3 May 2027", "What to do next", "Replace the license file")
		text := p.Value("text")
		file := b.Get(licensePath + "/1/file").Status(http.StatusOK)
		if file.Body != text || strings.Count(text, ".") != 2 || file.Header.Get("Content-Disposition") != `attachment; filename="license-shop.example.jwt"` {
			t.Errorf("the file is %q with %v", file.Body, file.Header)
		}
		list := b.Get(licensePath).Says("shop.example", "localhost", "shop.test", "Licensed", "Test domain", "7c0f…8e37 – Rain Kit").SilentAbout(purchaseCode)
		if form := list.Form(licensePath); form.Get("kept") != "1" || form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		b.Fill(licensePath, licensePath, "domain", "shop.example").LeadsTo(licensePath + "/1")
		b.Get("/api-addons/admin").Says("Done: The license file is created")
		b.Get("/api-addons/admin/audit").Says("Created a license file", "shop.example").SilentAbout(purchaseCode)
		if strings.Contains(s.log.String(), purchaseCode) {
			t.Error("the purchase code is in the log")
		}
	})
}

func TestALicenseFormThatIsWrongIsShownAgain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		b.Post(licensePath).Status(http.StatusUnprocessableEntity).Wrong("code", "Paste the purchase code").Wrong("domain", "omain").Wrong("store", "Type the address of the store")
		p := b.Post(licensePath, "code", purchaseCode, "domain", "co.uk", "tests", "shop.example", "store", "http://store.example").Status(http.StatusUnprocessableEntity)
		p.Wrong("domain", "co.uk").Wrong("tests", "not a test domain").Wrong("store", "https://").SilentAbout(purchaseCode)
		if p.Value("tests") != "shop.example" || p.Value("store") != "http://store.example" {
			t.Error("what was typed is gone")
		}
		b.Post(licensePath, "code", "nobody-sold-this-one", "domain", "shop.example", "store", store.URL).Status(http.StatusUnprocessableEntity).Wrong("code", "does not recognize this purchase code").SilentAbout("nobody-sold-this-one", "nobo…")
		b.Post(licensePath, "kept", "99", "domain", "shop.example", "store", store.URL).Status(http.StatusNotFound)
	})
}

// While the store is down the code is kept for its address, and chosen in the form
// that is shown again.
func TestNothingIsLostWhileTheStoreIsDown(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.down = true
		p := b.Post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).Status(http.StatusServiceUnavailable)
		p.Wrong("store", "Nothing is lost").Says("7c0f…8e37").SilentAbout(purchaseCode, "Store for new purchase codes")
		form := p.Form(licensePath)
		if form.Get("kept") != "1" || form.Get("domain") != "shop.example" || form.Get("store") != store.URL {
			t.Errorf("the form holds %v", form)
		}
		if form := b.Get(licensePath).Form(licensePath); form.Get("kept") != "1" || form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		store.down = false
		b.PostForm(licensePath, form).LeadsTo(licensePath + "/1")
		b.Get(licensePath).Says("Store for new purchase codes")
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
		p := b.Fill(licensePath, licensePath, "store", thief.URL).Status(http.StatusUnprocessableEntity)
		p.Wrong("code", "This stored purchase code is for "+store.URL+" only.").SilentAbout(purchaseCode)
		if form := p.Form(licensePath); form.Get("kept") != "1" || form.Get("store") != thief.URL {
			t.Errorf("the form holds %v", form)
		}
		for _, path := range []string{"/move", "/1/check", "/1/revoke"} {
			b.Post(licensePath+path, "kept", "1", "from", "shop.example", "domain", "new.example", "store", thief.URL)
		}
		if form := b.Get(licensePath).Form(licensePath); form.Get("store") != store.URL {
			t.Errorf("the next form holds %v", form)
		}
		mu.Lock()
		defer mu.Unlock()
		expect.Equalf(t, len(sent), 0, "sent: %s", sent)
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
			p := b.Post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", address).Status(http.StatusServiceUnavailable).Wrong("store", "can't be reached right now")
			p.SilentAbout(purchaseCode)
			said[strings.ReplaceAll(p.Text(), address, "ADDRESS")] = true
			known, err := s.Licenses.List(t.Context(), operator)
			if err == nil {
				err = s.Licenses.ForgetCode(t.Context(), operator, known.Codes[0].ID)
			}
			must.Do(t, err)
		}
		expect.Equalf(t, len(said), 1, "different pages")
	})
}

func TestTheStoresAddressAloneIsChangedWithThePassword(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example")
		const at, other = licensePath + "/store", "https://other.example"
		expect.Equalf(t, len(b.Get(licensePath).Having("href", at)), 1, "nothing leads to %s", at)
		if form := b.Get(at).Form(at); form.Get("store") != store.URL {
			t.Errorf("the form begins with %v", form)
		}
		for _, wrong := range []string{"", "four quiet green birds"} {
			b.Fill(at, at, "store", other, "password", wrong).Status(http.StatusUnprocessableEntity).Wrong("password", "password")
		}
		b.Fill(at, at, "store", "http://other.example", "password", password).Status(http.StatusUnprocessableEntity).Wrong("store", "https://")
		b.Get(licensePath).SilentAbout("other.example")
		b.Fill(at, at, "store", other, "password", password).LeadsTo(licensePath)
		list := b.Get(licensePath).Says("address was changed", other)
		if form := list.Form(licensePath); form.Get("store") != other || form.Get("kept") != "0" {
			t.Errorf("the form begins with %v", form) // no kept code is for that address
		}
		b.Get("/api-addons/admin/audit").Says("Changed the license store's address", other)
		b.Fill(licensePath, licensePath, "kept", "1", "domain", "shop.example").Status(http.StatusUnprocessableEntity).Wrong("code", "Enter that address below")
		b.Fill(licensePath, licensePath, "kept", "1", "domain", "shop.example", "store", store.URL).LeadsTo(licensePath + "/1")
		if form := b.Get(licensePath).Form(licensePath); form.Get("store") != store.URL || form.Get("kept") != "1" {
			t.Errorf("the form begins with %v", form)
		}
	})
}

func TestALicenseMovesToAnotherDomain(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "old.example", "localhost")
		p := b.Fill(licensePath, licensePath, "domain", "new.example").Status(http.StatusConflict)
		p.Says("No file was created", "already licensed for another domain", "old.example , since 3 May 2026", "Move it here")
		query := url.Values{"kept": {"1"}, "from": {"old.example"}, "domain": {"new.example"}}
		at := licensePath + "/move?" + query.Encode()
		if len(p.Having("href", at)) != 1 {
			t.Fatalf("nothing leads to %s", at)
		}
		b.Get(at).Status(http.StatusOK).Says("Move the license of old.example", "7c0f…8e37", "may stop")
		b.Fill(at, licensePath+"/move", "domain", "co.uk").Status(http.StatusUnprocessableEntity).Wrong("domain", "co.uk")
		b.Fill(at, licensePath+"/move").LeadsTo(licensePath + "/3")
		b.Get(licensePath+"/3").Says("moved from old.example to new.example", "Licensed")
		b.Get(licensePath+"/1").Says("Moved", "Do not build apps with this file")
		b.Get(licensePath).Says("Moved", "Licensed")

		for code, why := range map[string]string{
			countersign.CodeMovesUsed: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeMoveTooSoon: "The next time is after 1 Nov 2026, 14:00 UTC", countersign.CodeDomainNotActivated: "domain_not_activated",
		} {
			store.refuse = code
			b.Post(licensePath+"/move", "kept", "1", "from", "new.example", "domain", "third.example").Status(http.StatusConflict).Wrong("domain", why)
		}
		store.Close()
		b.Post(licensePath+"/move", "kept", "1", "from", "new.example", "domain", "third.example").Status(http.StatusServiceUnavailable).Says("Nothing was moved", "can't be reached")
		b.Get(licensePath + "/move?kept=99&from=old.example").Status(http.StatusNotFound)
		b.Post(licensePath+"/move", "kept", "99", "from", "new.example").Status(http.StatusNotFound)
	})
}

func TestATestDomainInUseIsNotOfferedToMove(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.domain = "demo.test"
		p := b.Post(licensePath, "code", purchaseCode, "domain", "shop.example", "store", store.URL).Status(http.StatusConflict)
		p.Wrong("domain", "limit_reached").Says("No file was created.").SilentAbout("Move it here")
	})
}

func TestFilesThatWereMadeBeforeARefusalAreNamed(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		store.noTests = true
		p := b.Post(licensePath, "code", purchaseCode, "domain", "Shop.example", "tests", "localhost, demo.test", "store", store.URL).Status(http.StatusConflict)
		p.Wrong("tests", "limit_reached").Says("The file for shop.example was created; no file for localhost, demo.test.", "Licensed").SilentAbout("No file was created", "Move it here")
	})
}

func TestTheStoreIsAskedWhetherAFileIsGood(t *testing.T) {
	engines(t, func(t *testing.T, s *site) {
		store, b := newLicenseStore(t), s.signedIn(t)
		s.mustLicense(t, store, "shop.example")
		b.Post(licensePath + "/1/check").LeadsTo(licensePath + "/1")
		b.Get(licensePath+"/1").Says("The store says: the license is valid", "The store said")
		store.answer = countersign.CheckRevoked
		b.Post(licensePath + "/1/check").LeadsTo(licensePath + "/1")
		b.Get(licensePath+"/1").Says("revoked, or moved to another domain", "Revoked", "Do not build apps with this file")
		b.Get("/api-addons/admin").Says("To do: The license file is created")
		store.Close()
		b.Post(licensePath+"/1/check").Status(http.StatusServiceUnavailable).Says("The store can't be reached", "can't be reached")
		b.Post(licensePath + "/9/check").Status(http.StatusNotFound)
		b.Get(licensePath + "/9/file").Status(http.StatusNotFound)
	})
}

// A file for another host than the site's own is a common mistake: the app would
// not start.
func TestAFileForAnotherHostIsWarnedAbout(t *testing.T) {
	t.Parallel()
	s := newSite(t, dbtest.New(t, dbtest.SQLite), func(o *frame.Options) { o.Origin = "https://www.shop.example" })
	s.install(t)
	store, b := newLicenseStore(t), s.signedIn(t)
	const warning = "No license file for this address"
	b.Get(licensePath).SilentAbout(warning)
	s.mustLicense(t, store, "old.example")
	b.Get(licensePath).Says(warning, "reached at www.shop.example", "your files are for old.example", "does not start for www.shop.example")
	b.Get(licensePath + "/1").Says("This file is not for this address")
	must.Get(s.Licenses.Move(t.Context(), operator, 1, "old.example", "shop.example"))(t)
	b.Get(licensePath).SilentAbout(warning)
	b.Get(licensePath + "/2").SilentAbout("This file is not for this address")
}
