package iap_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/addontest"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/must"
)

// verificationKeys are the settings that an addon of an earlier version does not have.
var verificationKeys = []string{
	iap.KeyPushServiceAccount, iap.KeyPushAudience, iap.KeyPullSubscription, iap.KeyTestPurchases, iap.KeyTestUsers, iap.KeyClaimPolicy, iap.KeyTransferPolicy, iap.KeyUnknownPolicy,
}

// verification sets each of them to a value that is not its default.
var verification = map[string]string{
	iap.KeyPushServiceAccount: "push@project.iam.gserviceaccount.com", iap.KeyPushAudience: "https://site.example/push",
	iap.KeyPullSubscription: "projects/tuneful/subscriptions/play",
	iap.KeyTestPurchases:    "allowlist", iap.KeyTestUsers: "7, 12", iap.KeyClaimPolicy: "strict", iap.KeyTransferPolicy: "transfer", iap.KeyUnknownPolicy: "first_verified",
}

func publishedValues(t *testing.T, f *addontest.Fixture) iap.Values {
	t.Helper()
	last := must.Get(addontest.Database(t, f.At).LastVersion(t.Context()))(t)
	return iap.ValuesOf(last.Settings.V)
}

func TestSettingsOfVerificationArePublishedAndServedToNobody(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		before, config := string(f.Served(t).JSON), string(f.View(t).JSON)
		f.MustSet(t, verification)
		if v := publishedValues(t, f); v.PushAudience != "" || v.TestPurchases.Rule != entitle.AllowTests {
			t.Errorf("the draft counts already: %+v", v)
		}
		p := f.MustPublish(t, "")
		expect.Equalf(t, len(p.Changes), len(verification), "changes %+v", p.Changes)
		v := publishedValues(t, f)
		if v.PushServiceAccount != verification[iap.KeyPushServiceAccount] || v.PushAudience != "https://site.example/push" ||
			v.PullSubscription != "projects/tuneful/subscriptions/play" ||
			v.TestPurchases.Rule != entitle.AllowListTests || !slices.Equal(v.TestPurchases.Users, []string{"7", "12"}) ||
			v.Policy != (entitle.Policy{Unbound: entitle.Strict, Owned: entitle.Transfer, Unknown: entitle.FirstVerified}) {
			t.Errorf("published %+v", v)
		}
		if string(f.Served(t).JSON) != before || string(f.View(t).JSON) != config {
			t.Error("an app is served something else")
		}
		for key, value := range verification {
			if answers := before + config; strings.Contains(answers, key) || strings.Contains(answers, value) {
				t.Errorf("%s is in a public answer", key)
			}
		}
		must.Get(f.Settings.Rollback(t.Context(), operator, 1, ""))(t)
		if v := publishedValues(t, f); v.Policy.Unbound != entitle.FirstClaim || v.PushAudience != "" {
			t.Errorf("restored %+v", v)
		}
	})
}

func TestUpdateRegistersTheSettingsOfVerificationInOldAddons(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		for _, key := range verificationKeys {
			f.Forget(t, key)
		}
		if v := publishedValues(t, f); v.TestPurchases.Rule != entitle.AllowTests || v.Policy != (entitle.Policy{Unbound: entitle.FirstClaim, Owned: entitle.Keep, Unknown: entitle.AskSite}) {
			t.Errorf("without the settings: %+v", v)
		}
		if report := f.MustUpdate(t); report.Nothing {
			t.Error("the update has nothing to do")
		}
		draft := f.Draft(t)
		for _, key := range verificationKeys {
			if one, there := draft.Get(key); !there || !one.AtDefault || one.Changed {
				t.Errorf("%s: %+v", key, one)
			}
		}
		if report := f.MustUpdate(t); !report.Nothing {
			t.Errorf("the second update does %v", report.Steps)
		}
	})
}

// Without any of them, and with a wrong value for one, everything else still can be published.
func TestSettingsOfVerificationNeverBlockAPublish(t *testing.T) {
	addontest.Engines(t, func(t *testing.T, f *addontest.Fixture) {
		empty := map[string]string{settings.KeyAppName: "Tuneful"}
		for _, key := range verificationKeys {
			empty[key] = ""
			_, err := f.Settings.Set(t.Context(), operator, settings.Edit{}, map[string]string{key: "\x00"})
			addontest.WantFields(t, err, key)
		}
		f.MustSet(t, empty)
		if p := f.MustPublish(t, ""); len(p.Changes) != 1 {
			t.Errorf("changes %+v", p.Changes)
		}
	})
}
