package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newAddonPackage(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "package", Short: "Membership packages: list, add, set, remove; changes take effect at once",
	},
		listAll(a, a.withAddon, "List the packages", "No packages. Add one with: countersign addon package add ID NAME", viewPackage, allPackages),
		newPackageAdd(a), newPackageSet(a),
		onID(a.withAddon, "package", a.fromAddon(packageIDs), &cobra.Command{
			Use: "remove ID", Short: "Remove a package that no product is mapped to",
			Long: `Remove a package. While products are mapped to it, in the draft or in what is published, it is not
removed (exit code 6), and the error names them. To remove one from the map, and to publish that:

  countersign addon iap product remove STORE_ID
  countersign addon settings publish -m NOTE`,
			Example: "  countersign addon package remove 3",
		}, a.removePackage))
}

type packageView struct {
	ID   int64  `json:"package_id" row:"1,ID" card:"1,Id"`
	Name string `json:"name" row:"2,NAME,text" card:"2,Name"`
	Rank int64  `json:"rank" row:"3,RANK" card:"3,Rank"`
	Paid bool   `json:"paid" row:"4,PAID" card:"4,Paid"`
}

func viewPackage(p iap.Package) packageView { return packageView(p) }

func allPackages(ctx context.Context, s *addon.Addon) ([]iap.Package, error) {
	return s.IAP.Packages(ctx, operator())
}

// packageFlags adds the flags for what can be said of a package.
func packageFlags(flags *pflag.FlagSet, edits *cli.Edits[iap.Package], free string) {
	cli.EditNumber(flags, edits, "rank", "its rank: a higher rank includes more", func(p *iap.Package) *int64 { return &p.Rank })
	cli.EditVar(flags, edits, "free", free, func(p *iap.Package) *bool { return &p.Paid }, func(text string) (bool, error) {
		is, err := strconv.ParseBool(text)
		return !is, err
	}, "bool")
	flags.Lookup("free").NoOptDefVal = "true"
}

func newPackageAdd(a *app) *cobra.Command {
	var edits cli.Edits[iap.Package]
	p := iap.Package{Paid: true}
	c := on(a.withAddon, &cobra.Command{
		Use: "add ID NAME", Short: "Add a package", Args: cli.Args("package's id", "name"), PreRunE: parseID("package", 0, &p.ID),
		Example: `  countersign addon package add 1 Basic --free
  countersign addon package add 2 Gold --rank 10`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		p.Name = args[1]
		edits.Apply(&p)
		return a.Show(viewPackage(p), s.IAP.AddPackage(ctx, operator(), p))
	})
	packageFlags(c.Flags(), &edits, "free for members")
	return c
}

func newPackageSet(a *app) *cobra.Command {
	var edits cli.Edits[iap.Package]
	c := onID(a.withAddon, "package", a.fromAddon(packageIDs), &cobra.Command{
		Use: "set ID", Short: "Change a package", PreRunE: cli.AnyChanged,
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		p, err := findPackage(ctx, s, id)
		if err != nil {
			return err
		}
		edits.Apply(&p)
		return a.Show(viewPackage(p), s.IAP.UpdatePackage(ctx, operator(), p))
	})
	cli.EditText(c.Flags(), &edits, "name", "its name", func(p *iap.Package) *string { return &p.Name })
	packageFlags(c.Flags(), &edits, "free for members; --free=false: paid")
	return c
}

func findPackage(ctx context.Context, s *addon.Addon, id int64) (iap.Package, error) {
	all, err := allPackages(ctx, s)
	if err != nil {
		return iap.Package{}, err
	}
	for _, p := range all {
		if p.ID == id {
			return p, nil
		}
	}
	return iap.Package{}, fault.NotFound("package_not_found", fmt.Sprintf("no package %d", id))
}

func (a *app) removePackage(ctx context.Context, s *addon.Addon, id int64) error {
	if err := s.IAP.RemovePackage(ctx, operator(), id); err != nil {
		return err
	}
	return a.Done(struct {
		Removed int64 `json:"removed"`
	}{id}, "Removed the package %d.", id)
}
