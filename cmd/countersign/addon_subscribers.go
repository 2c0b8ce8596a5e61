package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/cli"
)

func newIAPSubscribers(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "subscribers", Short: "Users with purchases: show those of one, import those of another backend",
	}, newSubscriberShow(a), newSubscriberImport(a))
}

// boughtView is a product of a purchase.
type boughtView struct {
	Purchase  string                 `json:"purchase_id" row:"1,PURCHASE"`
	State     string                 `json:"state" row:"2,STATE"`
	Product   string                 `json:"product_id" row:"3,PRODUCT"`
	Package   *string                `json:"package" row:"4,PACKAGE,text"`
	Renews    bool                   `json:"auto_renewing" row:"5,RENEWS"`
	ExpiresAt *countersign.Timestamp `json:"expires_at" row:"6,PAID UNTIL (UTC),minute"`
}

func newSubscriberShow(a *app) *cobra.Command {
	return a.Listing(on(a.withAddon, &cobra.Command{
		Use: "show USER", Short: "List all products in the purchases of a user, newest first", Args: cli.Args("user's id"),
		Example: "  countersign addon iap subscribers show 7",
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		bought, err := boughtBy(ctx, s, args[0])
		return cli.PrintList(a.Console, bought, func(b boughtView) boughtView { return b }, "No purchases.", err)
	}))
}

// boughtBy lists the products in the purchases of a user.
func boughtBy(ctx context.Context, s *addon.Addon, user string) (list []boughtView, err error) {
	for cursor := ""; ; {
		page, next, err := s.Members.PurchasesFor(ctx, operator(), user, cursor, 0)
		if err != nil {
			return nil, err
		}
		for _, p := range page {
			for _, item := range p.Items {
				view := boughtView{p.ID, p.State, item.ProductID, nil, item.AutoRenewing, item.ExpiresAt}
				if item.Package != nil {
					view.Package = &item.Package.Name
				}
				list = append(list, view)
			}
		}
		if cursor = next; next == "" {
			return list, nil
		}
	}
}

func newSubscriberImport(a *app) *cobra.Command {
	var dryRun bool
	c := &cobra.Command{
		Use: "import FILE", Short: "Import subscribers of another backend from a file of CSV or JSON Lines", Args: cli.Args("file"),
		Long: `Import the subscribers of another backend. Each line has a user_id of the site, and the
purchase_token or the order_id of the user's subscription: JSON objects, or CSV whose first row
names these columns. Each purchase is read from the store, and belongs to the user for good. The
site gets an event for each membership that begins.

A purchase that belongs to another user stays there. Importing a file again changes nothing and
does not read what was imported before, so an import that was interrupted is repeated.

If a line is not valid, nothing is written. Lines are named by their numbers, and tokens are never
printed. Order ids need the permission for financial data.

Exit codes: 0 imported, 1 nothing written because of invalid lines, 4 --dry-run found lines that
can't be imported, 7 the store did not answer, 8 the other lines were imported.`,
		Example: `  countersign addon iap subscribers import subscribers.csv --dry-run
  countersign addon iap subscribers import subscribers.jsonl`,
	}
	c.Flags().BoolVar(&dryRun, "dry-run", false, "write nothing, only print what would happen")
	c.RunE = func(c *cobra.Command, args []string) error {
		list, err := a.readSubscribers(args[0])
		if err != nil {
			return err
		}
		return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return a.importSubscribers(ctx, s, list, dryRun) })
	}
	return c
}

// readSubscribers reads a file whose lines all have to be valid.
func (a *app) readSubscribers(path string) ([]membership.Subscriber, error) {
	file, _, err := a.openImport(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	bad := 0
	list, err := membership.ReadSubscribers(file, func(line int, reason string) {
		if bad++; bad <= maxToldLines {
			fmt.Fprintf(a.Err, "line %d: %s\n", line, cli.Safe(reason))
		}
	})
	if err == nil && bad > 0 {
		err = cli.Fail(cli.ExitFailed, "bad_lines", fmt.Sprintf("nothing was written: %s not valid; correct them before the import", cli.Count(bad, "line is", "lines are")))
	}
	return list, err
}

func (a *app) importSubscribers(ctx context.Context, s *addon.Addon, list []membership.Subscriber, dryRun bool) error {
	progress := a.newProgress("importing", func(percent, total int64) { a.Say("imported %d %% of %s lines", percent, cli.Thousands(total)) })
	done, err := s.Members.ImportSubscribers(ctx, operator(), list, membership.ImportOptions{
		DryRun: dryRun, Progress: func(lines int) { progress.tell(int64(lines), int64(len(list))) },
	})
	progress.clear()
	if err != nil && done.Lines == 0 {
		return err
	}
	if printed := a.printSubscribers(done, dryRun); printed != nil {
		return printed
	}
	if err != nil {
		a.Say("Not all lines were imported. Import the file again to go on.")
		return err
	}
	return subscribersVerdict(done, dryRun)
}

// printSubscribers prints what became of an import, or would.
func (a *app) printSubscribers(done membership.SubscriberImport, dryRun bool) error {
	if a.JSON {
		return a.PrintJSON(struct {
			membership.SubscriberImport
			DryRun bool `json:"dry_run"`
		}{done, dryRun})
	}
	for i, p := range done.Problems {
		if i == maxToldLines {
			a.Say("%s not printed", cli.Count(len(done.Problems)-i, "other line is", "other lines are"))
			break
		}
		fmt.Fprintf(a.Err, "line %d: %s\n", p.Line, p.Message)
	}
	a.Say("%s: %d new, %d updated, %d unchanged; %d unknown to the store, %d of another user, %d refused",
		cli.Count(done.Lines, "line", "lines"), done.New, done.Updated, done.Unchanged, done.Unknown, done.Others, done.Refused)
	if dryRun {
		a.Say("Nothing was written (--dry-run).")
	}
	return nil
}

// subscribersVerdict is nil for an import of all lines.
func subscribersVerdict(done membership.SubscriberImport, dryRun bool) error {
	n := len(done.Problems)
	switch {
	case n == 0:
		return nil
	case dryRun:
		return cli.Fail(cli.ExitNo, "bad_lines", fmt.Sprintf("nothing was written (--dry-run): %s be imported; the import leaves them out", cli.Count(n, "line can't", "lines can't")))
	}
	return cli.Fail(cli.ExitPartly, "bad_lines", fmt.Sprintf("the other lines were imported: %s not; read the reasons above", cli.Count(n, "line was", "lines were")))
}
