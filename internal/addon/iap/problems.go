package iap

import (
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/wording"
)

// Problems lists what is wrong with the settings of in-app purchases, errors first.
func Problems(v Values, packages []Package) []input.Problem {
	var list []input.Problem
	if p, missing := missingPackage(v.Products, packages); missing {
		list = append(list, input.Problem{
			Severity: input.SeverityError, Code: input.CodeProductWithoutPackage, Key: KeyProductMap, Text: missingText(p), Package: p.PackageID,
		})
	}
	if !v.Enabled {
		return list
	}
	warn := func(code, key, text string, of int64) {
		list = append(list, input.Problem{Severity: input.SeverityWarning, Code: code, Key: key, Text: text, Package: of})
	}
	if v.PackageName == "" && !v.Sandbox { // test mode asks no store
		warn(input.CodePackageNameMissing, KeyPackageName, "In-app purchases are on but the Android application ID is empty. Apps treat them as off", 0)
	}
	if v.Account == "" && !v.Sandbox {
		warn(input.CodeServiceAccountMissing, KeyServiceAccount, "In-app purchases are on without a service account. Apps treat them as off", 0)
	}
	if len(v.Products) == 0 {
		warn(input.CodeProductsMissing, KeyProductMap, "In-app purchases are on but no product is mapped. Apps treat them as off", 0)
	}
	if v.Sandbox {
		warn(input.CodeTestModeOn, KeySandboxEnabled, "Test mode is on: the simulated store answers, and apps receive the configuration marked as test mode", 0)
	}
	for _, id := range slices.Sorted(maps.Keys(v.OneTime)) {
		if !slices.ContainsFunc(v.Products, func(p Product) bool { return p.StoreID == id }) {
			warn(input.CodeOneTimeNotMapped, KeyOneTime, fmt.Sprintf("The one-time product %s is not in the product map, so it activates nothing", id), 0)
		}
	}
	for _, p := range packages {
		sold := slices.ContainsFunc(v.Products, func(x Product) bool { return x.PackageID == p.ID })
		if p.Paid && !sold {
			warn(input.CodePackageWithoutProduct, KeyProductMap, fmt.Sprintf("The paid package %s (%d) has no product, so it can't be bought in the app", p.Name, p.ID), p.ID)
		}
	}
	return list
}

// ConcernsMembers reports whether a publish that changes the settings of purchases may change something for members.
func ConcernsMembers(before, after Values) bool {
	return before.Sandbox != after.Sandbox || before.PackageName != after.PackageName
}

// MemberProblems lists what such a publish changes for members.
func MemberProblems(before, after Values, members addondb.Members) (list []input.Problem) {
	warn := func(code, key string, n int64, text string) {
		if n > 0 {
			text = wording.Count(n, "member has", "members have") + " " + text
			list = append(list, input.Problem{Severity: input.SeverityWarning, Code: code, Key: key, Text: text})
		}
	}
	switch {
	case after.Sandbox && !before.Sandbox:
		warn(input.CodeTestModeMembers, KeySandboxEnabled, members.Real, "purchases in the real store. They keep them in test mode, but nobody can buy there, and new purchases wait for its end")
	case before.Sandbox && !after.Sandbox:
		warn(input.CodeTestModeEnds, KeySandboxEnabled, members.Simulated, "simulated purchases, which end with test mode")
	}
	if after.PackageName != before.PackageName {
		warn(input.CodeApplicationChanged, KeyPackageName, members.Elsewhere, "purchases in another application ID. They are still read there, so the service account has to keep its access to that app")
	}
	return list
}

// MissingPackage names a package of a map that does not exist, "" when all do.
func MissingPackage(list []Product, packages []Package) (problem string) {
	if p, missing := missingPackage(list, packages); missing {
		return missingText(p)
	}
	return ""
}

// missingPackage finds a product whose package does not exist.
func missingPackage(list []Product, packages []Package) (p Product, missing bool) {
	for _, p := range list {
		if !slices.ContainsFunc(packages, func(k Package) bool { return k.ID == p.PackageID }) {
			return p, true
		}
	}
	return Product{}, false
}

func missingText(p Product) string {
	return fmt.Sprintf("The product %s is mapped to package %d, which does not exist. Add the package first", p.StoreID, p.PackageID)
}
