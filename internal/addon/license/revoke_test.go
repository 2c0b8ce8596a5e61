package license_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people/peopledb"
)

func TestALicenseIsRevoked(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		o := s.Order()
		o.Tests = []string{"localhost"}
		l := f.MustMake(t, o)[0]
		gone, err := f.Licenses.Revoke(t.Context(), user, l.ID)
		if err != nil || gone.Good() || gone.Answer != countersign.CheckRevoked || !gone.CheckedAt.Equal(noon) || s.InUse["site.example"] != "" {
			t.Fatalf("%+v, %v", gone, err)
		}
		known := mustKnow(t, f).Files
		if len(known) != 2 || !known[0].Good() || known[1].Good() || known[1].Answer != countersign.CheckRevoked {
			t.Errorf("known %+v", known)
		}
		if got := f.Audits(t); !strings.Contains(got[len(got)-1], "license.revoke site.example") {
			t.Errorf("audit %s", got[len(got)-1])
		}
		f.MustMake(t, license.Order{Store: s.URL, Kept: l.Code.ID, Domain: "new.example"}) // the domain is free again
	})
}

// A page that was left open must not end the newer file of its domain.
func TestAFileThatIsNotGoodAnyMoreIsNotRevoked(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		old := f.MustMake(t, s.Order())[0]
		must.Get(f.Licenses.Revoke(t.Context(), user, old.ID))(t)
		again := f.MustMake(t, license.Order{Store: s.URL, Kept: old.Code.ID, Domain: old.Domain})[0]
		asked, audits := s.Asked(), len(f.Audits(t))
		if _, err := f.Licenses.Revoke(t.Context(), user, old.ID); addontest.CodeOf(err) != "license_ended" || !strings.Contains(err.Error(), "Nothing was changed") {
			t.Error(err)
		}
		if l, _, err := f.Licenses.Find(t.Context(), user, again.ID); err != nil || again.ID == old.ID || !l.Good() || s.Asked() != asked || len(f.Audits(t)) != audits {
			t.Errorf("the newer file is %+v, %v", l, err)
		}
	})
}

func TestTheLicenseThatTheStoreEndedIsTheOneNoted(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		s.InUse[l.Domain] = "a-newer-one" // made elsewhere
		if _, err := f.Licenses.Revoke(t.Context(), user, l.ID); addontest.CodeOf(err) != countersign.CodeDomainNotActivated || s.InUse[l.Domain] == "" {
			t.Error(err)
		}
		s.Older = true
		if _, err := f.Licenses.Revoke(t.Context(), user, l.ID); addontest.CodeOf(err) != "license_other" || !strings.Contains(err.Error(), "a-newer-one") {
			t.Error(err)
		}
		if known := mustKnow(t, f).Files[0]; !known.Good() {
			t.Errorf("%+v", known)
		}
		if last, err := f.Licenses.DB().Audits(t.Context(), peopledb.AuditFilter{Limit: 1}); err != nil || last[0].Detail != "a-newer-one" {
			t.Errorf("audit %+v, %v", last, err)
		}
	})
}

func TestALicenseThatTheStoreDoesNotRevokeStaysAsItIs(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		for _, code := range []string{countersign.CodeMovesUsed, countersign.CodeMoveTooSoon, countersign.CodeDomainNotActivated} {
			s.Refuse = code
			_, err := f.Licenses.Revoke(t.Context(), user, l.ID)
			if addontest.CodeOf(err) != code || strings.Contains(err.Error(), addontest.PurchaseCode) {
				t.Errorf("%s: %v", code, err)
			}
		}
		s.Status = http.StatusServiceUnavailable
		if _, err := f.Licenses.Revoke(t.Context(), user, l.ID); addontest.CodeOf(err) != "store_unreachable" {
			t.Errorf("with the store down: %v", err)
		}
		if known := mustKnow(t, f).Files[0]; !known.Good() || !known.CheckedAt.IsZero() {
			t.Errorf("%+v", known)
		}
		if _, err := f.Licenses.Revoke(t.Context(), user, 99); addontest.CodeOf(err) != "license_not_found" {
			t.Errorf("a file that is not there: %v", err)
		}
	})
}

func TestAFileIsForgotten(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		l := f.MustMake(t, s.Order())[0]
		asked := s.Asked()
		must.Do(t, f.Licenses.Forget(t.Context(), user, l.ID))
		if known := mustKnow(t, f); len(known.Files) != 0 || len(known.Codes) != 1 {
			t.Errorf("%+v", known)
		}
		expect.Equalf(t, s.Asked(), asked, "the store was asked")
		if got := f.Audits(t); !strings.Contains(got[len(got)-1], "license.forget site.example") {
			t.Errorf("audit %s", got[len(got)-1])
		}
		if err := f.Licenses.Forget(t.Context(), user, l.ID); addontest.CodeOf(err) != "license_not_found" {
			t.Errorf("a second time: %v", err)
		}
	})
}

func TestAPurchaseCodeIsForgottenWithItsFiles(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		s := addontest.NewLicenseStore(t)
		o := s.Order()
		o.Tests = []string{"localhost"}
		l := f.MustMake(t, o)[0]
		asked := s.Asked()
		must.Do(t, f.Licenses.ForgetCode(t.Context(), user, l.Code.ID))
		if known := mustKnow(t, f); len(known.Files) != 0 || len(known.Codes) != 0 || known.Store != s.URL {
			t.Errorf("%+v", known)
		}
		expect.Equalf(t, s.Asked(), asked, "the store was asked")
		log := f.Audits(t)
		if last := log[len(log)-1]; !strings.Contains(last, "license.forget_code") || !strings.Contains(last, "localhost") || strings.Contains(last, "7c0f") {
			t.Errorf("audit %s", last)
		}
		for _, forget := range []error{f.Licenses.ForgetCode(t.Context(), user, l.Code.ID), f.Licenses.ForgetCode(t.Context(), user, 99)} {
			if addontest.CodeOf(forget) != "purchase_code_not_kept" {
				t.Error(forget)
			}
		}
		f.MustMake(t, s.Order()) // it can be pasted again
	})
}
