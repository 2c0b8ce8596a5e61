package main

import (
	"context"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newSampleData(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "sample", Short: "Sample data of a workspace: load, remove",
	}, newSampleLoad(a), newSampleRemove(a))
}

func newSampleLoad(a *app) *cobra.Command {
	return on(a.withStore, &cobra.Command{
		Use: "load WORKSPACE", Short: "Load sample items and purchases into a workspace without items", Args: cli.Args("workspace"), ValidArgsFunction: first(a.fromStore(workspaceNames)),
		Long: `Load the items and purchases of a made-up shop into a workspace without items. Its purchase codes are
new ones, and valid until the data is removed with: countersign store sample remove`,
		Example: "  countersign store sample load ada",
	}, func(ctx context.Context, s *store.Store, args []string) error {
		report, err := s.Transfer.LoadSample(ctx, operator(), args[0])
		if err != nil {
			return err
		}
		if a.JSON {
			return a.PrintJSON(report)
		}
		a.Say("Loaded %s and %s. Remove them with: countersign store sample remove %s",
			cli.Count(int(report.Items.New), "item", "items"), cli.Count(int(report.Purchases.New), "purchase", "purchases"), args[0])
		return nil
	})
}

func newSampleRemove(a *app) *cobra.Command {
	return on(a.withStore, &cobra.Command{
		Use: "remove WORKSPACE", Short: "Remove the sample data of a workspace", Args: cli.Args("workspace"), ValidArgsFunction: first(a.fromStore(workspaceNames)),
		Long: `Remove the sample data of a workspace. What was changed or used since stays, and so do items with
other purchases or keys; the command lists it.

Exit codes: 0 removed, 8 removed but for what it lists.`,
		Example: "  countersign store sample remove ada",
	}, func(ctx context.Context, s *store.Store, args []string) error {
		if err := a.Confirm(ctx, "The sample data of "+args[0]+" is removed, and its purchase codes are no longer valid. Continue?"); err != nil {
			return err
		}
		report, err := s.Transfer.RemoveSample(ctx, operator(), args[0])
		if err != nil {
			return err
		}
		return a.printUndo(report)
	})
}
