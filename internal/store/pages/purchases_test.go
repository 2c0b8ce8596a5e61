package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/storetest"
	"github.com/countersign/countersign/internal/webtest"
)

// sell records a purchase of the workspace ada and returns its address.
func (s team) sell(t *testing.T, p store.Purchase) (path string, sold store.Purchase) {
	t.Helper()
	if p.ItemID == 0 {
		p.ItemID = 1229
	}
	p.License = countersign.LicenseRegular
	sold = must.Get(s.CreatePurchase(t.Context(), operator, "ada", p))(t)
	return "/w/ada/purchases/" + strconv.FormatInt(sold.ID, 10), sold
}

func (s team) isValid(t *testing.T, code string) bool {
	t.Helper()
	c := must.Get(s.Validation.Check(t.Context(), operator, code))(t)
	return c.Valid
}

func TestTheListOfPurchasesLeadsThroughAllOfThem(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		day := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // later than those of the shop
		for i := range 120 {
			s.sell(t, store.Purchase{Code: "many-" + strconv.Itoa(1000+i), SoldAt: countersign.At(day.Add(time.Duration(i/7) * time.Hour))})
		}
		b := s.as(t, "viewer")
		var seen, back, pages []string
		for address := "/w/ada/purchases?from=2030-01-01"; address != ""; {
			page := b.Get(address).Status(http.StatusOK).Says("120 purchases")
			seen, pages = append(seen, codesOf(page)...), append(pages, address)
			address = relOf(page, "next")
		}
		if len(pages) != 3 || len(seen) != 120 || len(distinct(seen)) != 120 {
			t.Fatalf("%d pages, %d codes, %d of them distinct", len(pages), len(seen), len(distinct(seen)))
		}
		for address := pages[2]; address != ""; {
			page := b.Get(address).Status(http.StatusOK)
			back = append(codesOf(page), back...)
			address = relOf(page, "prev")
		}
		if strings.Join(back, " ") != strings.Join(seen, " ") {
			t.Errorf("forwards  %v\nbackwards %v", seen, back)
		}
	})
}

// codesOf are the codes of a list as it shows them.
func codesOf(p *webtest.Page) (codes []string) {
	for _, body := range p.All("tbody") {
		for row := range body.ChildNodes() {
			if fields := strings.Fields(webtest.TextOf(row)); len(fields) > 1 {
				codes = append(codes, fields[0])
			}
		}
	}
	return codes
}

// relOf is where a link of the pager leads, "" for none.
func relOf(p *webtest.Page, rel string) string {
	for _, n := range p.Having("rel", rel) {
		return webtest.Attr(n, "href")
	}
	return ""
}

func distinct(all []string) map[string]bool {
	set := map[string]bool{}
	for _, one := range all {
		set[one] = true
	}
	return set
}

func TestTheListOfPurchasesIsNarrowed(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		day := countersign.At(time.Date(2030, 1, 31, 23, 0, 0, 0, time.UTC))
		s.sell(t, store.Purchase{Code: "january", SoldAt: day})
		s.sell(t, store.Purchase{Code: "item-101", ItemID: 101, SoldAt: day})
		_, gone := s.sell(t, store.Purchase{Code: "gone", SoldAt: day})
		must.Get(s.EndPurchase(t.Context(), operator, gone.Code, store.StateChargedBack))(t)
		b := s.as(t, "viewer")
		for _, c := range []struct {
			query     string
			has, lack []string
		}{
			{"from=2030-01-31&to=2030-01-31", []string{"january", "item-101", "gone"}, nil},
			{"from=2030-02-01", nil, []string{"january", "item-101", "gone"}},
			{"to=2030-01-30&from=2030-01-01", nil, []string{"january"}},
			{"item=101&from=2030-01-01", []string{"item-101"}, []string{"january", "gone"}},
			{"state=charged_back", []string{"gone"}, []string{"january", "item-101"}},
			{"state=charged_back&item=101", nil, []string{"gone", "item-101"}},
		} {
			codes := distinct(codesOf(b.Get("/w/ada/purchases?" + c.query).Status(http.StatusOK)))
			for _, code := range c.has {
				if !codes[code] {
					t.Errorf("%s: lacks %s: %v", c.query, code, codes)
				}
			}
			for _, code := range c.lack {
				if codes[code] {
					t.Errorf("%s: has %s: %v", c.query, code, codes)
				}
			}
		}
		b.Get("/w/ada/purchases?state=lost").Status(http.StatusUnprocessableEntity).Says("from the list")
		b.Get("/w/ada/purchases?from=soon").Status(http.StatusUnprocessableEntity).Says("year, month and day")
		b.Get("/w/ada/purchases?item=theme").Status(http.StatusUnprocessableEntity).Says("whole number")
		b.Get("/w/ada/purchases?after=999999").Status(http.StatusNotFound)
	})
}

func TestALookUpExplainsEveryFailure(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, sold := s.sell(t, store.Purchase{Code: "7c0f3b1e-5d2a-4c44-9b1e-00000000abcd"})
		pathGone, gone := s.sell(t, store.Purchase{Code: "sold-and-refunded"})
		must.Get(s.EndPurchase(t.Context(), operator, gone.Code, store.StateRefunded))(t)
		_, key := s.makeKey(t, "till")
		of := must.Get(s.CreatePurchase(t.Context(), operator, "bob", store.Purchase{ItemID: 201, License: countersign.LicenseRegular, Code: "of-another-workspace"}))(t)
		b := s.as(t, "viewer")
		look := func(code string) *webtest.Page { return b.Post("/w/ada/purchases/lookup", "code", code) }
		look("  7C0F3B1E-5D2A-4C44-9B1E-00000000ABCD ").LeadsTo(path)
		b.Get(path).Says("This code is valid.")
		look("7c0f3b1e 5d2a-4c44").Status(http.StatusUnprocessableEntity).Says("No purchase has this code")
		look(gone.Code).LeadsTo(pathGone)
		if warned := b.Get(pathGone).Says("not valid", "was refunded on 2026-11-01"); len(warned.Having("class", "notice kind-warning")) != 1 {
			t.Error("a refunded code looks like a valid one")
		}
		look(key).Status(http.StatusUnprocessableEntity).Says("This is an API key, not a purchase code").SilentAbout("One character off")
		look("").Status(http.StatusUnprocessableEntity).Wrong("code", "Paste the purchase code")
		for name, slip := range map[string]string{
			"one character is another":    "7c0f3b1e-5d2a-4c44-9b1e-00000000abce",
			"one character is missing":    "7c0f3b1e-5d2a-4c44-9b1e-00000000abd",
			"one character is too many":   "7c0f3b1e-5d2a-4c44-9b1e-000000000abcd",
			"two are in the wrong order":  "7c0f3b1e-5d2a-4c44-9b1e-00000000acbd",
			"the first one is missing":    "c0f3b1e-5d2a-4c44-9b1e-00000000abcd",
			"one is added behind the end": "7c0f3b1e-5d2a-4c44-9b1e-00000000abcd0",
		} {
			if page := look(slip).Status(http.StatusUnprocessableEntity); !strings.Contains(page.Text(), sold.Code) {
				t.Errorf("%s: %s", name, page.Text())
			}
		}
		look("7c0f3b1e-5d2a-4c44-9b1e-00000000ab").Status(http.StatusUnprocessableEntity).SilentAbout("One character off", sold.Code)
		look(of.Code).Status(http.StatusUnprocessableEntity).Says("No purchase has this code").SilentAbout("bob")
		s.as(t, "administrator").Post("/w/ada/purchases/lookup", "code", of.Code).Status(http.StatusUnprocessableEntity).
			Says("This purchase belongs to the workspace bob")
	})
}

func TestAPurchaseEndsInThreeWaysAndIsRestored(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, sold := s.sell(t, store.Purchase{Price: 4900, Currency: "EUR", BuyerName: "Grace", BuyerEmail: "grace@home.example"})
		must.Get(s.Licensing.Issue(t.Context(), operator, "", sold.Code, "shop.example"))(t)
		b := s.as(t, "manager")
		for end, state := range map[string]string{"/refund": "Refunded", "/charge-back": "Charged back", "/revoke": "Revoked"} {
			b.Get(path+end).Status(http.StatusOK).Says("o money moves", "Grace", "grace@home.example", "49.00 EUR", "shop.example")
			if !s.isValid(t, sold.Code) {
				t.Fatalf("%s: asking has ended the purchase", end)
			}
			b.Post(path + end).LeadsTo(path)
			if s.isValid(t, sold.Code) {
				t.Errorf("%s: the code is valid", end)
			}
			b.Get(path).Says(state, "Restore")
			b.Post(path + end).Status(http.StatusConflict).Says("Nothing changed")
			b.Post(path + "/restore").LeadsTo(path)
			if !s.isValid(t, sold.Code) {
				t.Errorf("%s: the restored code is not valid", end)
			}
		}
		b.Post(path + "/restore").Status(http.StatusConflict).Says("this purchase is active")
	})
}

func TestTheTermsOfAPurchaseChange(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		until := countersign.At(time.Date(2027, 1, 31, 15, 30, 0, 0, time.UTC))
		path, sold := s.sell(t, store.Purchase{SupportedUntil: until})
		b := s.as(t, "manager")
		read := func() store.Purchase {
			c := must.Get(s.Validation.Purchase(t.Context(), operator, sold.ID))(t)
			return c.Purchase
		}
		form := b.Get(path + "/terms").Status(http.StatusOK).Form(path + "/terms")
		form.Set("downloaded", "true")
		b.PostForm(path+"/terms", form).LeadsTo(path)
		if p := read(); !p.Downloaded || p.SupportedUntil != until {
			t.Errorf("%+v", p) // the time of day is not on the form
		}
		b.Post(path+"/terms", "supported_until", "2028-02-29", "license", "Extended", "downloaded", "false").LeadsTo(path)
		if p := read(); p.License != countersign.LicenseExtended || p.Downloaded || p.SupportedUntil.String() != "2028-02-29T00:00:00Z" {
			t.Errorf("%+v", p)
		}
		b.Post(path+"/terms", "supported_until", "someday", "license", "Extended").Status(http.StatusUnprocessableEntity).Wrong("supported_until", "year, month and day")
		b.Post(path+"/terms", "supported_until", "", "license", "Free").Status(http.StatusUnprocessableEntity)
		b.Post(path+"/terms", "supported_until", "", "license", "Regular", "buyer.name", "Grace", "buyer.email", "grace@home.example").LeadsTo(path)
		if p := read(); p.BuyerName != "Grace" || p.BuyerEmail != "grace@home.example" || p.License != countersign.LicenseRegular || !p.SupportedUntil.IsZero() {
			t.Errorf("%+v", p)
		}
		b.Post(path+"/terms", "supported_until", "", "license", "Regular").LeadsTo(path) // a form without the buyer
		if p := read(); p.BuyerEmail != "grace@home.example" {
			t.Errorf("%+v", p)
		}
	})
}

func TestARecordedPurchaseIsValidAtOnce(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		b := s.as(t, "manager")
		form := func(more ...string) *webtest.Page {
			return b.Post("/w/ada/purchases/new", append([]string{"item", "1229"}, more...)...)
		}
		made := form("code", "A-New-Code", "buyer.name", "<b>Grace</b>", "buyer.email", "grace@home.example", "price", "12.50")
		address, err := url.Parse(made.Status(http.StatusSeeOther).Header.Get("Location"))
		if err != nil || !s.isValid(t, "a-new-code") {
			t.Fatalf("%v, %v", address, err)
		}
		page := b.Get(address.Path).Says("<b>Grace</b>", "grace@home.example", "12.50")
		if strings.Contains(page.Body, "<b>Grace") {
			t.Error("a name is not text")
		}
		s.as(t, "viewer").Get(address.Path).Says("Grace").SilentAbout("grace@home.example")
		form("code", "a-new-code").Status(http.StatusConflict).Wrong("code", "already exists")
		form("price", "12,50").Status(http.StatusUnprocessableEntity).Wrong("price", "49.00")
		form("supported_until", "2025-01-01").Status(http.StatusUnprocessableEntity)
		b.Post("/w/ada/purchases/new", "item", "201").Status(http.StatusNotFound).Wrong("item", "No item 201")
		b.Post("/w/ada/purchases/new", "item", "x").Status(http.StatusUnprocessableEntity).Wrong("item", "Choose the item")
	})
}

func TestTheTimelineOfAPurchaseHasItsValidationsAndWhatPeopleDid(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		_, token, err := s.CreateKey(t.Context(), operator, store.NewKey{Workspace: "ada", Name: "till", Class: store.ClassSecret})
		must.Do(t, err)
		var sold [2]store.Purchase
		for i := range sold {
			if sold[i], err = s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: 1229, License: "Regular"}); err != nil {
				t.Fatal(err)
			}
		}
		path := fmt.Sprintf("/w/ada/purchases/%d", sold[0].ID)
		b := s.as(t, "manager")
		b.Get(path).SilentAbout("alidation")
		for range 4 {
			if got := s.validate(t, token, sold[0].Code); got != http.StatusOK {
				t.Fatal(got)
			}
		}
		s.validate(t, token, sold[1].Code)
		b.Get(path).Says("First logged validation from 127.0.0.1", "3 validations", "Recorded a purchase by tester", "Sold")
		b.Post(path + "/refund").LeadsTo(path)
		if got := s.validate(t, token, sold[0].Code); got != http.StatusNotFound {
			t.Fatal(got)
		}
		page := b.Get(path).Says("Refunded a purchase by "+email("manager"), "ailed", "purchase_refunded", "Show its calls")
		if n := strings.Count(page.Text(), "Refunded"); n != 3 { // the state, since when, and the act
			t.Errorf("refunded is said %d times", n)
		}
		calls := b.Get(fmt.Sprintf("/w/ada/requests?item=1229&purchase=%d", sold[0].ID)).Status(http.StatusOK)
		expect.Equalf(t, len(calls.Having("role", "row")), 6, "rows")
		b.Get(fmt.Sprintf("/w/ada/purchases/%d", sold[1].ID)).Says("First logged validation").SilentAbout("3 validations", "Refunded")
	})
}

func TestABuyerIsFoundOnThePageOfPurchases(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		must.Get(s.CreatePurchase(t.Context(), operator, "ada", store.Purchase{ItemID: 1229, License: "Regular", Code: "sold-to-grace", BuyerName: "<b>Grace</b> Hopper", BuyerEmail: "rear@home.example"}))(t)
		b := s.as(t, "manager")
		b.Get("/w/ada/purchases?buyer=%3Cb%3Egr").Says("1 purchase found", "<b>Grace</b> Hopper")
		b.Get("/w/ada/purchases?buyer=REAR&state=refunded").Says("1 purchase found")
		b.Get("/w/ada/purchases?buyer=nobody").Says("No matching purchases")
		s.as(t, "viewer").Get("/w/ada/purchases?buyer=rear").Says("No matching purchases", "The beginning of a name.")
	})
}

func TestTermsThatSomebodyElseSavedFirstAreShownBesideTheInput(t *testing.T) {
	teams(t, func(t *testing.T, s team) {
		path, sold := s.sell(t, store.Purchase{})
		b := s.as(t, "manager")
		form := b.Get(path + "/terms").Form(path + "/terms")
		s.as(t, "owner").Fill(path+"/terms", path+"/terms", "license", "Extended", "supported_until", "2030-01-01").LeadsTo(path)
		form.Set("downloaded", "true")
		page := b.PostForm(path+"/terms", form).Status(http.StatusPreconditionFailed).Says("somebody else saved first", "owner@shop.example", "2030-01-01", "Extended", "Downloaded")
		c, err := s.Validation.Purchase(t.Context(), operator, sold.ID)
		if err != nil || c.Purchase.License != countersign.LicenseExtended || c.Purchase.Downloaded {
			t.Fatalf("%+v, %v", c.Purchase, err)
		}
		again := page.Form(path + "/terms")
		if again.Get("license") != "Regular" || again.Get("downloaded") != "true" {
			t.Errorf("the form lost its input: %v", again)
		}
		b.PostForm(path+"/terms", again).LeadsTo(path)
		if c, err = s.Validation.Purchase(t.Context(), operator, sold.ID); err != nil || c.Purchase.License != countersign.LicenseRegular || !c.Purchase.Downloaded {
			t.Errorf("%+v, %v", c.Purchase, err)
		}
	})
}

func TestLooksForCodesThatNobodyHasAreLimited(t *testing.T) {
	s := storetest.Open(t, teamStore.New(t, dbtest.SQLite), store.Options{Options: instance.Options{Now: now}})
	server := httptest.NewServer(frontEnds(t, s, 3, ""))
	t.Cleanup(server.Close)
	b := team{s, server}.as(t, "viewer")
	for range 3 {
		b.Post("/w/ada/purchases/lookup", "code", "guessed").Status(http.StatusUnprocessableEntity)
	}
	b.Post("/w/ada/purchases/lookup", "code", "guessed").Status(http.StatusTooManyRequests)
}
