package main

import (
	"strconv"

	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newAddonPackage(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "package", Short: "Membership packages: list, add, set, remove; changes take effect at once", SuggestionsMinimumDistance: 2,
	}, newPackageList(a), newPackageAdd(a), newPackageSet(a), newPackageRemove(a))
}

// packageJSON is a membership package as --json prints it.
type packageJSON struct {
	ID   int64  `json:"package_id"`
	Name string `json:"name"`
	Rank int64  `json:"rank"`
	Paid bool   `json:"paid"`
}

func (a *app) printPackage(p iap.Package) error {
	return a.printCard(packageJSON{p.ID, p.Name, p.Rank, p.Paid}, pair{"Id", strconv.FormatInt(p.ID, 10)}, pair{"Name", p.Name},
		pair{"Rank", strconv.FormatInt(p.Rank, 10)}, pair{"Paid", yesNo(p.Paid)})
}
