package settings

import (
	"slices"
	"testing"
)

// The keys of spec 2.5 and 2.6, in its order.
var (
	specAppKeys = []string{
		"appName", "idpIosClientId", "idpAndroidClientId", "pushEnabled", "pushAppId", "pushTimelineAppId", "streamAppId",
		"messengerUrlScheme", "messengerAndroidPackageId", "messengerDomain",
	}
	specIAPKeys = []string{"iapEnabled", "iapSandboxEnabled", "iapStorePackageName", "iapStoreServiceAccountJson", "iapProductMapJson"}
	// ownIAPKeys are those that the specification leaves open.
	ownIAPKeys = []string{"iapOneTimeProducts", "iapPushServiceAccount", "iapPushAudience", "iapPullSubscription", "iapTestPurchases", "iapTestUsers", "iapClaimPolicy", "iapTransferPolicy", "iapUnknownAccountPolicy", "iapLeewayHours"}
)

func TestDefinitionsAreThoseOfTheSpecification(t *testing.T) {
	var app, iap []string
	for _, d := range Definitions() {
		if d.Public {
			app = append(app, d.Key)
		} else {
			iap = append(iap, d.Key)
		}
		if d.Label == "" || d.Help == "" || d.Group == "" || (d.Public != (d.Area == AreaApp)) {
			t.Errorf("the definition of %s lacks something: %+v", d.Key, d)
		}
		if d.Secret != (d.Key == "iapStoreServiceAccountJson") {
			t.Errorf("%s: secret is %t", d.Key, d.Secret)
		}
		if d.Secret {
			continue
		}
		for _, text := range []string{d.Default, d.Example} {
			if value, problem := d.check(text); problem != "" || value != text {
				t.Errorf("%s: its own %q becomes %q, %s", d.Key, text, value, problem)
			}
		}
	}
	if !slices.Equal(app, specAppKeys) || !slices.Equal(iap, slices.Concat(specIAPKeys, ownIAPKeys)) {
		t.Errorf("public %q, others %q", app, iap)
	}
}
