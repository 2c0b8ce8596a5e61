package transfer

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/store/storedb"
)

// dropRepeated leaves one line for each item, purchase and license in the stage. A line that
// contradicts an earlier one is bad. Of purchases, all lines of the code are: which of them is true
// decides whether the code is good. A code of two workspaces belongs to the first.
func (imp *importer) dropRepeated(ctx context.Context, tx *storedb.DB) (err error) {
	if imp.repeated.items, err = imp.dropRepeatedIn(ctx, tx, storedb.StagedItems, "id", false); err != nil {
		return err
	}
	if imp.repeated.purchases, err = imp.dropRepeatedIn(ctx, tx, storedb.StagedPurchases, "purchase code", true); err != nil {
		return err
	}
	imp.repeated.licenses, err = imp.dropRepeatedIn(ctx, tx, storedb.StagedLicenses, "id", false)
	return err
}

// dropRepeatedIn does it for one table, whose lines are told apart by what the name says.
func (imp *importer) dropRepeatedIn(ctx context.Context, tx *storedb.DB, table storedb.Staged, by string, all bool) (int64, error) {
	found, err := tx.StageContradictions(ctx, table)
	if err != nil {
		return 0, err
	}
	like := make([][]int, len(found)) // the lines with the same code, before any is dropped
	for i, c := range found {
		if all {
			if like[i], err = tx.StageLinesLike(ctx, table, c.First); err != nil {
				return 0, err
			}
		}
	}
	differs := map[int]bool{}
	for _, c := range found {
		differs[c.Line] = true
	}
	for i, c := range found {
		reason := fmt.Sprintf("the lines %d and %d have the same %s and differ in %s; keep the one that is right", c.First, c.Line, by, strings.Join(c.Fields, ", "))
		drop := like[i]
		if all && (slices.Contains(c.Fields, "workspace") || slices.Contains(c.Fields, "purchase_code")) {
			reason, drop = codeTaken, nil
		}
		for _, line := range append(drop, c.Line) {
			if _, dropped := imp.bad[line]; dropped || differs[line] && line != c.Line {
				continue
			}
			if err := imp.unstage(ctx, tx, table, line, reason); err != nil {
				return 0, err
			}
		}
	}
	return tx.UnstageRepeated(ctx, table)
}

// firsts are the first lines of workspaces or keys, by their names.
type firsts[T any] map[string]numbered[T]

// repeats reports whether the first line of a name says what a line says. The line is bad when it
// says something else.
func (f firsts[T]) repeats(line int, name string, says T) (bool, error) {
	first, there := f[name]
	if there && !reflect.DeepEqual(first.value, says) {
		return false, badf("the lines %d and %d have the same name and differ; keep the one that is right", first.line, line)
	}
	return there, nil
}
