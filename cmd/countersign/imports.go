package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/spf13/cobra"
)

func newImports(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "imports", Short: "Imports of the last 24 hours: list, undo",
	}, listAll(a, a.withStore, "List the imports of the last 24 hours that can be undone, newest first",
		"No imports in the last 24 hours. Import a file with: countersign store import FILE", viewImport, func(ctx context.Context, s *store.Store) ([]transfer.Import, error) {
			return s.Transfer.Imports(ctx, operator())
		}), newImportsUndo(a))
}

// importRow is an import as the list shows it.
type importRow struct {
	transfer.Import
	Number    int64                 `json:"-" row:"1,ID"`
	Time      countersign.Timestamp `json:"-" row:"2,TIME,minute"`
	By        string                `json:"-" row:"3,BY"`
	FileName  string                `json:"-" row:"4,FILE,text"`
	Items     string                `json:"-" row:"5,ITEMS"`
	Purchases string                `json:"-" row:"6,PURCHASES"`
	Undone    countersign.Timestamp `json:"-" row:"7,UNDONE,minute"`
}

func viewImport(i transfer.Import) importRow {
	counts := func(m transfer.Moved) string {
		if m.New+m.Changed == 0 {
			return ""
		}
		return cli.Thousands(m.New) + " new, " + cli.Thousands(m.Changed) + " changed"
	}
	return importRow{Import: i, Number: i.ID, Time: i.CreatedAt, By: i.Actor, FileName: i.File, Items: counts(i.Counts.Items), Purchases: counts(i.Counts.Purchases), Undone: i.UndoneAt}
}

// importIDs completes the ids of imports that can be undone.
func importIDs(ctx context.Context, s *store.Store, _ *cobra.Command, _ []string) (ids []string, err error) {
	all, err := s.Transfer.Imports(ctx, operator())
	for _, i := range all {
		if i.UndoneAt.IsZero() {
			ids = append(ids, choice(i.ID, i.File))
		}
	}
	return ids, err
}

func newImportsUndo(a *app) *cobra.Command {
	var rest bool
	c := onID(a.withStore, "import", a.fromStore(importIDs), &cobra.Command{
		Use: "undo ID", Short: "Undo an import: remove what it added, and restore what it changed",
		Long: `Undo an import of the last 24 hours: items and purchases that it added are removed, and those that
it changed are as before.

If one of them was changed or used since, nothing is undone, and the command lists it. With --rest,
the others are undone.

Exit codes: 0 undone, 6 nothing undone because of later changes, 8 --rest left some rows.`,
		Example: `  countersign store imports list
  countersign store imports undo 7`,
	}, func(ctx context.Context, s *store.Store, id int64) error {
		report, err := s.Transfer.Undo(ctx, operator(), id, rest)
		if err != nil {
			return err
		}
		return a.printUndo(report)
	})
	c.Flags().BoolVar(&rest, "rest", false, "undo the other rows even if some were changed or used since")
	return c
}

func (a *app) printUndo(r transfer.UndoReport) error {
	for _, row := range r.Left {
		name := cli.Safe(row.Name)
		if row.Kind == "item" {
			name = strconv.FormatInt(row.ID, 10) + " (" + name + ")"
		}
		fmt.Fprintf(a.Err, "%s %s %s\n", row.Kind, name, row.Why())
	}
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	}
	left := cli.Count(int(r.Items.Left+r.Purchases.Left), "row was", "rows were")
	if !r.Written {
		return cli.Fail(cli.ExitConflict, "changed_since", "nothing was undone: "+left+" changed or used since; undo the others with --rest")
	}
	if !a.JSON {
		a.Say("items: %s removed, %s restored", cli.Thousands(r.Items.Removed), cli.Thousands(r.Items.Restored))
		a.Say("purchases: %s removed, %s restored", cli.Thousands(r.Purchases.Removed), cli.Thousands(r.Purchases.Restored))
	}
	if len(r.Left) > 0 {
		return cli.Fail(cli.ExitPartly, "changed_since", "the others were undone: "+left+" changed or used since; check these one by one")
	}
	return nil
}
