package license_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/sqldb"
)

const badCode = "11111111-2222-4333-8444-555555555555"

func mustKnow(t *testing.T, f *addontest.Fixture) license.Licenses {
	t.Helper()
	known := must.Get(f.Licenses.List(t.Context(), user))(t)
	return known
}

func TestALicenseFileIsGotAndKept(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		o := s.Order()
		o.Tests = []string{"localhost", "site.test"}
		made := f.MustMake(t, o)
		if n := s.Asked(); n != 4 {
			t.Errorf("%d requests, want one for each domain and one for the keys", n)
		}
		if len(made) != 3 || made[0].Domain != "site.example" || made[1].Domain != "localhost" || made[2].Domain != "site.test" {
			t.Fatalf("made %+v", made)
		}
		l := made[0]
		if l.ItemID != 7 || l.ItemName != "Rain" || l.LicenseType != "Regular" || !l.SupportedUntil.Equal(noon.AddDate(1, 0, 0)) || !l.Good() || l.Free() || !made[1].Free() {
			t.Errorf("%+v", l)
		}
		if !l.Opens("www.site.example") || l.Opens("localhost") || l.Opens("site.example.evil.test") {
			t.Errorf("opens for %v", l.Domains)
		}
		known := mustKnow(t, f)
		if known.Store != s.URL || len(known.Files) != 3 || len(known.Codes) != 1 || known.Codes[0].Hint != "7c0f…8e37" || known.Files[2].Code != known.Codes[0] {
			t.Errorf("known %+v", known)
		}
		_, text, err := f.Licenses.Find(t.Context(), user, l.ID)
		if err != nil || strings.Count(text, ".") != 2 {
			t.Errorf("the file is %q, %v", text, err)
		}
		again := f.MustMake(t, license.Order{Store: s.URL, Kept: l.Code.ID, Domain: "site.example"})
		if again[0].ID != l.ID || len(mustKnow(t, f).Files) != 3 {
			t.Errorf("again %+v", again)
		}
		f.MustMake(t, license.Order{Store: s.URL, Code: strings.ToLower(addontest.PurchaseCode), Domain: "site.example"})
		if known := mustKnow(t, f); len(known.Codes) != 1 {
			t.Errorf("%d codes are kept", len(known.Codes))
		}
		if _, _, err := f.Licenses.Find(t.Context(), user, 99); !isKind(err, countersign.KindNotFound) {
			t.Errorf("another license: %v", err)
		}
	})
}

func isKind(err error, kind countersign.Kind) bool {
	apiErr, ok := err.(*countersign.Error)
	return ok && apiErr.Kind == kind
}

// The purchase code is the buyer's secret: it is in no column, no line of the
// audit log, no log and no error.
func TestThePurchaseCodeIsKeptSecret(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		f.MustMake(t, s.Order())
		var errs []string
		for _, s.Refuse = range []string{countersign.CodeLimitReached, countersign.CodeMovesUsed, countersign.CodeDomainInvalid, "surprise"} {
			_, err := f.Licenses.Make(t.Context(), user, s.Order())
			errs = append(errs, fmt.Sprintf("%v %+v", err, err))
		}
		s.Refuse, s.Body = "", "<p>You sent "+addontest.PurchaseCode
		_, err := f.Licenses.Make(t.Context(), user, s.Order())
		errs = append(errs, fmt.Sprintf("%v %+v", err, err))
		rows, err := f.Licenses.DB().PurchaseCodes(t.Context())
		if err != nil || len(rows) != 1 || strings.Contains(string(rows[0].Sealed), addontest.PurchaseCode) {
			t.Fatalf("%d codes, %v", len(rows), err)
		}
		files := must.Get(f.Licenses.DB().Licenses(t.Context()))(t)
		for _, text := range append(append(errs, f.Audits(t)...), fmt.Sprint(rows), fmt.Sprint(files), f.Log.String()) {
			if strings.Contains(text, addontest.PurchaseCode) {
				t.Errorf("the purchase code is in %s", text)
			}
		}
		if !strings.Contains(strings.Join(f.Audits(t), "\n"), "license.make site.example") {
			t.Errorf("audit %v", f.Audits(t))
		}
	})
}

func TestWhatIsWrongWithAnOrderIsSaidBeforeAnybodyIsAsked(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		good := license.Order{Store: "https://store.example", Code: addontest.PurchaseCode, Domain: "site.example"}
		for name, c := range map[string]struct {
			change func(*license.Order)
			field  string
		}{
			"no store":                        {func(o *license.Order) { o.Store = " " }, "store"},
			"no address":                      {func(o *license.Order) { o.Store = "store" }, "store"},
			"an address of files":             {func(o *license.Order) { o.Store = "ftp://store.example" }, "store"},
			"a password in it":                {func(o *license.Order) { o.Store = "https://a:b@store.example" }, "store"},
			"in the open":                     {func(o *license.Order) { o.Store = "http://store.example" }, "store"},
			"no code":                         {func(o *license.Order) { o.Code = " " }, "code"},
			"a code with an emoji":            {func(o *license.Order) { o.Code = "7c0f🙂" }, "code"},
			"a code too long":                 {func(o *license.Order) { o.Code = strings.Repeat("a", 129) }, "code"},
			"no domain":                       {func(o *license.Order) { o.Domain = "" }, "domain"},
			"a public suffix":                 {func(o *license.Order) { o.Domain = "co.uk" }, "domain"},
			"a test domain that counts":       {func(o *license.Order) { o.Tests = []string{"localhost", "other.example"} }, "tests"},
			"a test domain that is not valid": {func(o *license.Order) { o.Tests = []string{"a b"} }, "tests"},
			"too many test domains":           {func(o *license.Order) { o.Tests = strings.Fields(strings.Repeat("a.test ", 11)) }, "tests"},
		} {
			o := good
			c.change(&o)
			_, err := f.Licenses.Make(t.Context(), user, o)
			apiErr, ok := err.(*countersign.Error)
			if !ok || apiErr.Kind != countersign.KindInvalid || apiErr.Fields[c.field] == "" || len(apiErr.Fields) != 1 {
				t.Errorf("%s: %v", name, err)
			}
		}
		if known := mustKnow(t, f); known.Store != "" || len(known.Codes) != 0 {
			t.Errorf("kept %+v", known)
		}
	})
}

func TestWhyThereIsNoLicenseIsSaidByItsCause(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		for name, c := range map[string]struct {
			prepare func()
			code    string
			kind    countersign.Kind
			field   string
		}{
			"no domain left":            {func() { s.Refuse = countersign.CodeLimitReached }, countersign.CodeLimitReached, countersign.KindConflict, ""},
			"a domain that it refuses":  {func() { s.Refuse = countersign.CodeDomainInvalid }, countersign.CodeDomainInvalid, countersign.KindInvalid, "domain"},
			"too many questions":        {func() { s.Refuse = countersign.CodeRateLimited }, countersign.CodeRateLimited, countersign.KindLimited, ""},
			"a file for another domain": {func() { s.Other = "evil.example" }, "license_unusable", countersign.KindConflict, ""},
		} {
			s.Status, s.Body, s.Refuse, s.Other = 0, "", "", ""
			c.prepare()
			_, err := f.Licenses.Make(t.Context(), user, s.Order())
			apiErr, ok := err.(*countersign.Error)
			if !ok || apiErr.Code != c.code || apiErr.Kind != c.kind || (c.field != "" && apiErr.Fields[c.field] == "") {
				t.Errorf("%s: %v", name, err)
			}
			if known := mustKnow(t, f); len(known.Files) != 0 || len(known.Codes) != 1 || known.Codes[0].Store != s.URL {
				t.Errorf("%s: %+v", name, known)
			}
		}
	})
}

// With the store down nothing is lost: the code is kept for its address, and can be
// used when it is back. The site's own address is that of a store that answered.
func TestNothingIsLostWhileTheStoreIsDown(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		s.Status = http.StatusBadGateway
		_, err := f.Licenses.Make(t.Context(), user, s.Order())
		if apiErr, ok := err.(*countersign.Error); !ok || apiErr.Code != "store_unreachable" || !strings.Contains(apiErr.Message, "Nothing is lost") {
			t.Fatal(err)
		}
		known := mustKnow(t, f)
		if known.Store != "" || len(known.Codes) != 1 || known.Codes[0].Store != s.URL || known.Kept(addontest.PurchaseCode, s.URL+"/") != known.Codes[0].ID {
			t.Fatalf("%+v", known)
		}
		s.Status = 0
		f.MustMake(t, license.Order{Kept: known.Codes[0].ID, Domain: "site.example"})
		if known := mustKnow(t, f); known.Store != s.URL || len(known.Codes) != 1 {
			t.Errorf("%+v", known)
		}
	})
}

func TestACodeThatNobodySoldIsForgotten(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		o := s.Order()
		o.Code = badCode
		_, err := f.Licenses.Make(t.Context(), user, o)
		if addontest.CodeOf(err) != countersign.CodePurchaseNotFound || len(mustKnow(t, f).Codes) != 0 {
			t.Errorf("%v, %+v", err, mustKnow(t, f).Codes)
		}
		f.MustMake(t, s.Order())
		kept := mustKnow(t, f).Codes[0].ID
		s.Refuse = countersign.CodePurchaseNotFound
		if _, err := f.Licenses.Make(t.Context(), user, s.Order()); addontest.CodeOf(err) != countersign.CodePurchaseNotFound {
			t.Error(err)
		}
		if known := mustKnow(t, f); len(known.Codes) != 1 || known.Codes[0].ID != kept {
			t.Error("a code with license files was forgotten")
		}
	})
}

func TestALicenseIsMoved(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		old := f.MustMake(t, s.Order())[0]
		_, err := f.Licenses.Make(t.Context(), user, license.Order{Store: s.URL, Kept: old.Code.ID, Domain: "new.example"})
		apiErr, ok := err.(*countersign.Error)
		if !ok || apiErr.Code != countersign.CodeLimitReached {
			t.Fatal(err)
		}
		if in, ok := apiErr.Data.(countersign.LicenseDomains); !ok || len(in.Domains) != 1 || in.Domains[0] != "site.example" {
			t.Errorf("in use: %+v", apiErr.Data)
		}
		moved, err := f.Licenses.Move(t.Context(), user, old.Code.ID, "site.example", "New.example")
		if err != nil || moved.Domain != "new.example" || !moved.Good() {
			t.Fatalf("%+v, %v", moved, err)
		}
		before, _, err := f.Licenses.Find(t.Context(), user, old.ID)
		if err != nil || before.Good() || !before.MovedAt.Equal(noon) {
			t.Errorf("the old one is %+v, %v", before, err)
		}
		if log := strings.Join(f.Audits(t), "\n"); !strings.Contains(log, "license.move new.example") || !strings.Contains(log, "site.example -> new.example") {
			t.Errorf("audit %s", log)
		}
		if _, err := f.Licenses.Move(t.Context(), user, 99, "new.example", "third.example"); addontest.CodeOf(err) != "purchase_code_not_kept" {
			t.Errorf("with a code that is not kept: %v", err)
		}
		if _, err := f.Licenses.Move(t.Context(), user, old.Code.ID, "new.example", "co.uk"); addontest.CodeOf(err) != countersign.CodeDomainInvalid {
			t.Errorf("to a public suffix: %v", err)
		}
		s.Refuse = countersign.CodeMovesUsed
		if _, err := f.Licenses.Move(t.Context(), user, old.Code.ID, "new.example", "third.example"); addontest.CodeOf(err) != countersign.CodeMovesUsed || err.(*countersign.Error).RetryAfter != time.Hour {
			t.Errorf("too often: %v", err)
		}
		back, err := f.Licenses.Move(t.Context(), user, old.Code.ID, "new.example", "site.example")
		expect.Equalf(t, addontest.CodeOf(err), countersign.CodeMovesUsed, "%+v %v", back, err)
	})
}

func TestTheStoreIsAskedWhetherALicenseIsGood(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		for _, answer := range []string{countersign.CheckValid, countersign.CheckNotFound, countersign.CheckSupportLapsed, countersign.CheckRevoked} {
			s.Answer = answer
			good := answer == countersign.CheckValid || answer == countersign.CheckSupportLapsed
			f.Clock.Move(time.Hour)
			checked, err := f.Licenses.Check(t.Context(), user, l.ID)
			if err != nil || checked.Answer != answer || checked.Good() != good {
				t.Errorf("%s: %+v, %v", answer, checked, err)
			}
			if kept := mustKnow(t, f).Files[0]; kept.Answer != answer || !kept.CheckedAt.Equal(f.Clock.Now()) || kept.Good() != good {
				t.Errorf("%s: kept %+v", answer, kept)
			}
		}
		s.Answer = "certainly"
		if _, err := f.Licenses.Check(t.Context(), user, l.ID); addontest.CodeOf(err) != "store_unreachable" || mustKnow(t, f).Files[0].Answer == s.Answer {
			t.Errorf("an answer that no store gives: %v", err)
		}
		s.Status = http.StatusServiceUnavailable
		if _, err := f.Licenses.Check(t.Context(), user, l.ID); addontest.CodeOf(err) != "store_unreachable" {
			t.Errorf("with the store down: %v", err)
		}
	})
}

// A store tells strangers of a revoked license that there is none.
func TestARevokedLicenseStaysRevokedWhenTheStoreKnowsNoneAnyMore(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		must.Get(f.Licenses.Revoke(t.Context(), user, l.ID))(t)
		s.Answer = countersign.CheckNotFound
		f.Clock.Move(time.Hour)
		checked, err := f.Licenses.Check(t.Context(), user, l.ID)
		if kept := mustKnow(t, f).Files[0]; err != nil || checked.Answer != countersign.CheckRevoked || kept.Answer != countersign.CheckRevoked || !kept.CheckedAt.Equal(f.Clock.Now()) {
			t.Errorf("%+v, kept %+v, %v", checked, kept, err)
		}
		if got := f.Audits(t); !strings.Contains(got[len(got)-1], countersign.CheckNotFound) {
			t.Errorf("audit %s", got[len(got)-1]) // what was said
		}
	})
}

func TestAKeptCodeOfAnotherKeyFileHasToBePastedAgain(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		must.Do(t, f.Licenses.DB().Tx(t.Context(), func(tx *addondb.DB) error {
			_, err := tx.AddPurchaseCode(t.Context(), addondb.PurchaseCode{Hint: "7c0f…8e37", Store: s.URL, Sealed: []byte("of another key"), KeptAt: sqldb.Time{Time: noon}})
			return err
		}))
		o := s.Order()
		o.Kept = mustKnow(t, f).Codes[0].ID
		if _, err := f.Licenses.Make(t.Context(), user, o); addontest.CodeOf(err) != "purchase_code_not_kept" {
			t.Error(err)
		}
		f.MustMake(t, s.Order())
	})
}
