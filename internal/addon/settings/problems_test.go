package settings

import (
	"testing"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/expect"
)

func TestEveryProblemHasACodeAndACommand(t *testing.T) {
	packages := []iap.Package{{ID: 3, Name: "Gold", Paid: true}}
	v := valuesOf(nil)
	for key, value := range map[string]string{
		KeyAppName: "", KeyPushEnabled: "true", iap.KeyEnabled: "1", iap.KeySandboxEnabled: "1", iap.KeyProductMap: `{"store":{"lost_monthly":9}}`,
	} {
		v[key] = addondb.Setting{Name: key, Value: value}
	}
	found := problemsOf(v, packages)
	v[iap.KeyProductMap] = addondb.Setting{Name: iap.KeyProductMap, Value: iap.NoProducts}
	found = append(found, problemsOf(v, packages)...)
	for _, p := range found {
		if p.Code == input.CodePackageNameMissing || p.Code == input.CodeServiceAccountMissing {
			t.Errorf("test mode does not need what %s is about", p.Code)
		}
	}
	v[iap.KeySandboxEnabled] = addondb.Setting{Name: iap.KeySandboxEnabled, Value: "0"}
	v[iap.KeyOneTime] = addondb.Setting{Name: iap.KeyOneTime, Value: "gold_forever=lifetime"}
	found = append(found, problemsOf(v, packages)...)
	on, members := iap.Values{Sandbox: true, PackageName: "com.tuneful.app"}, addondb.Members{Real: 1, Elsewhere: 1, Simulated: 1}
	found = append(found, iap.MemberProblems(iap.Values{}, on, members)...)
	found = append(found, iap.MemberProblems(on, iap.Values{PackageName: "com.tuneful.app"}, members)...)

	commands := map[string]string{}
	for _, p := range found {
		commands[p.Code] = p.Command()
	}
	for code, want := range map[string]string{
		input.CodePushAppIDMissing:         "countersign addon settings set pushAppId VALUE",
		input.CodePushTimelineAppIDMissing: "countersign addon settings set pushTimelineAppId VALUE",
		input.CodeAppNameMissing:           "countersign addon settings set appName VALUE",
		input.CodeProductWithoutPackage:    "countersign addon package add 9 NAME",
		input.CodePackageNameMissing:       "countersign addon iap set iapStorePackageName APPLICATION_ID",
		input.CodeServiceAccountMissing:    "countersign addon iap service-account FILE",
		input.CodeProductsMissing:          "countersign addon iap product add STORE_ID PACKAGE_ID",
		input.CodeTestModeOn:               "countersign addon iap set iapSandboxEnabled 0",
		input.CodePackageWithoutProduct:    "countersign addon iap product add STORE_ID 3",
		input.CodeTestModeMembers:          "countersign addon iap set iapSandboxEnabled 0",
		input.CodeTestModeEnds:             "countersign addon iap set iapSandboxEnabled 1",
		input.CodeApplicationChanged:       "countersign addon iap set iapStorePackageName APPLICATION_ID",
		input.CodeOneTimeNotMapped:         "countersign addon iap product add STORE_ID PACKAGE_ID",
	} {
		expect.Equalf(t, commands[code], want, "%s", code)
	}
	for _, code := range input.ProblemCodes() {
		if commands[code] == "" {
			t.Errorf("nothing has the problem %s", code)
		}
		delete(commands, code)
	}
	if len(commands) > 0 {
		t.Errorf("not in the list of codes: %v", commands)
	}
}
