package iap

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/addon/input"
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
	for _, p := range packages {
		sold := slices.ContainsFunc(v.Products, func(x Product) bool { return x.PackageID == p.ID })
		if p.Paid && !sold {
			warn(input.CodePackageWithoutProduct, KeyProductMap, fmt.Sprintf("The paid package %s (%d) has no product, so it can't be bought in the app", p.Name, p.ID), p.ID)
		}
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
