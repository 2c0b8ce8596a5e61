package validation_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/storetest"
)

// A purchase that is found by the digest of another code is damage, not an unknown code.
func TestDigestWithAnotherTextIsDamage(t *testing.T) {
	storetest.Shops(t, func(t *testing.T, f *storetest.Fixture) {
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada", Class: store.ClassSecret})
		actor := f.ActorOf(t, token)
		purchase := must.Get(f.CreatePurchase(t.Context(), storetest.Operator, "ada", store.Purchase{Code: "whole", ItemID: 1, License: countersign.LicenseRegular}))(t)
		f.Execute(t, `UPDATE purchases SET code = 'damaged' WHERE code = 'whole'`)
		for name, ask := range map[string]func() error{
			"a validation":        func() error { _, err := f.Validation.Validate(t.Context(), actor, "WHOLE"); return err },
			"a check by operator": func() error { _, err := f.Validation.Check(t.Context(), storetest.Operator, "whole"); return err },
			"a refund": func() error {
				_, err := f.EndPurchase(t.Context(), storetest.Operator, "whole", store.StateRefunded)
				return err
			},
			"a license": func() error {
				_, err := f.Licensing.Issue(t.Context(), storetest.Buyer, storetest.Issuer, "whole", "shop.example")
				return err
			},
			"a check of a license": func() error {
				_, err := f.Licensing.Check(t.Context(), storetest.Buyer, licensing.CheckRequest{Code: "whole", Domain: "shop.example"})
				return err
			},
		} {
			before := f.Validation.Damages()
			err := ask()
			apiErr, ok := errors.AsType[*countersign.Error](err)
			if !ok || apiErr.Kind != countersign.KindInternal || apiErr.Code != "database_damaged" {
				t.Errorf("%s: %v", name, err)
			}
			if f.Validation.Damages() != before+1 {
				t.Errorf("%s: %d were counted", name, f.Validation.Damages()-before)
			}
			if strings.Contains(err.Error(), "whole") || strings.Contains(err.Error(), purchase.Code) {
				t.Errorf("%s: the error names the code: %v", name, err)
			}
		}
		if _, err := f.Validation.Validate(t.Context(), actor, "unknown"); !fault.HasCode(err, "purchase_not_found") {
			t.Errorf("an unknown code: %v", err)
		}
	})
}
