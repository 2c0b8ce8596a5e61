package main

import (
	"context"
	"fmt"

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
		onID(a.withAddon, "package", a.fromAddon(packageIDs), &cobra.Command{Use: "remove ID", Short: "Remove a package that no product is mapped to"}, a.removePackage))
}

// packageView is a membership package.
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

// packageFlags are what can be said of a package.
type packageFlags struct {
	rank int64
	free bool
}

func (f *packageFlags) register(flags *pflag.FlagSet, free string) {
	flags.Int64Var(&f.rank, "rank", 0, "its rank: a higher rank includes more")
	flags.BoolVar(&f.free, "free", false, free)
}

func newPackageAdd(a *app) *cobra.Command {
	var flags packageFlags
	var p iap.Package
	c := on(a.withAddon, &cobra.Command{
		Use: "add ID NAME", Short: "Add a package", Args: cli.Args("package's id", "name"), PreRunE: parseID("package", 0, &p.ID),
		Example: `  countersign addon package add 1 Basic --free
  countersign addon package add 2 Gold --rank 10`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		p.Name, p.Rank, p.Paid = args[1], flags.rank, !flags.free
		return a.Show(viewPackage(p), s.IAP.AddPackage(ctx, operator(), p))
	})
	flags.register(c.Flags(), "free for members")
	return c
}

func newPackageSet(a *app) *cobra.Command {
	var flags packageFlags
	var name string
	var c *cobra.Command
	c = onID(a.withAddon, "package", a.fromAddon(packageIDs), &cobra.Command{
		Use: "set ID", Short: "Change a package", PreRunE: cli.AnyChanged,
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		p, err := findPackage(ctx, s, id)
		if err != nil {
			return err
		}
		if c.Flags().Changed("name") {
			p.Name = name
		}
		if c.Flags().Changed("rank") {
			p.Rank = flags.rank
		}
		if c.Flags().Changed("free") {
			p.Paid = !flags.free
		}
		return a.Show(viewPackage(p), s.IAP.UpdatePackage(ctx, operator(), p))
	})
	c.Flags().StringVar(&name, "name", "", "its name")
	flags.register(c.Flags(), "free for members; --free=false: paid")
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
