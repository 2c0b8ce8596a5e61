package iap

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/addon/input"
)

// Problems lists what is wrong with the settings of in-app purchases, errors first.
func Problems(v Values, packages []Package) []input.Problem {
	var list []input.Problem
	if problem := MissingPackage(v.Products, packages); problem != "" {
		list = append(list, input.Problem{Severity: input.SeverityError, Key: KeyProductMap, Text: problem})
	}
	if !v.Enabled {
		return list
	}
	warn := func(key, text string) {
		list = append(list, input.Problem{Severity: input.SeverityWarning, Key: key, Text: text})
	}
	if v.PackageName == "" {
		warn(KeyPackageName, "In-app purchases are on but the Android application ID is empty. Apps treat them as off")
	}
	if v.Account == "" {
		warn(KeyServiceAccount, "In-app purchases are on without a service account. Apps treat them as off")
	}
	if len(v.Products) == 0 {
		warn(KeyProductMap, "In-app purchases are on but no product is mapped. Apps treat them as off")
	}
	if v.Sandbox {
		warn(KeySandboxEnabled, "Test mode is on: apps receive the configuration marked as test mode")
	}
	for _, p := range packages {
		sold := slices.ContainsFunc(v.Products, func(x Product) bool { return x.PackageID == p.ID })
		if p.Paid && !sold {
			warn(KeyProductMap, fmt.Sprintf("The paid package %s (%d) has no product, so it can't be bought in the app", p.Name, p.ID))
		}
	}
	return list
}

// MissingPackage names a package of a map that does not exist, "" when all do.
func MissingPackage(list []Product, packages []Package) (problem string) {
	for _, p := range list {
		known := slices.ContainsFunc(packages, func(k Package) bool { return k.ID == p.PackageID })
		if !known {
			return fmt.Sprintf("The product %s is mapped to package %d, which does not exist. Add the package first", p.StoreID, p.PackageID)
		}
	}
	return ""
}
