package setup_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

func TestChecklist(t *testing.T) {
	places(t, func(t *testing.T, at dbtest.DB) {
		ctx := t.Context()
		f := addontest.New(t, at, dbtest.NewClock(noon))
		want := func(when string, done ...string) {
			t.Helper()
			list, err := f.Setup.Checklist(ctx, user)
			if err != nil || len(list) != 5 {
				t.Fatalf("%s: %+v, %v", when, list, err)
			}
			is := map[string]bool{}
			for _, id := range done {
				is[id] = true
			}
			for i, id := range []string{"update", "credentials", "settings", "iap", "license"} {
				if list[i].ID != id || list[i].Done != is[id] || (list[i].Hint == "") != is[id] || list[i].Text == "" {
					t.Errorf("%s: %+v", when, list[i])
				}
			}
		}
		want("before the update")
		f.MustUpdate(t)
		want("after the update", "update", "credentials")
		must.Get(f.Credentials.SetActive(ctx, operator, 1, credential.HalfKey, false))(t)
		want("with an inactive key", "update")
		f.MustSet(t, map[string]string{settings.KeyAppName: "Tuneful"})
		want("with a draft", "update")
		f.MustPublish(t, "")
		want("published", "update", "settings")
		must.Do(t, f.IAP.Decline(ctx, user, true))
		want("without selling", "update", "settings", "iap")
		if list, err := f.Setup.Checklist(ctx, user); err != nil || !list[3].Declined {
			t.Errorf("%+v, %v", list, err)
		}
		must.Do(t, f.IAP.Decline(ctx, user, false))
		want("selling after all", "update", "settings")
		f.MustPackage(t, 1, "Gold", true)
		f.MustSet(t, map[string]string{
			iap.KeyEnabled: "1", iap.KeyPackageName: "com.example.app", iap.KeyProductMap: `{"store":{"gold":1}}`,
			iap.KeyServiceAccount: string(addontest.ServiceAccount(nil)),
		})
		f.MustPublish(t, "")
		want("selling", "update", "settings", "iap")
		s := addontest.NewLicenseStore(t)
		made := f.MustMake(t, license.Order{Store: s.URL, Code: addontest.PurchaseCode, Domain: "site.example"})
		want("with a license file", "update", "settings", "iap", "license")
		s.Answer = countersign.CheckRevoked
		must.Get(f.Licenses.Check(ctx, user, made[0].ID))(t)
		want("with one that is not good any more", "update", "settings", "iap")
		lines := strings.Join(f.Audits(t), "\n")
		if !strings.Contains(lines, "ana@site.example iap.decline  [page]: sells in the app -> does not sell in the app") || strings.Count(lines, "iap.") != 2 {
			t.Errorf("audit\n%s", lines)
		}
	})
}
