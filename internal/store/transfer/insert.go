package transfer

import (
	"context"
	"errors"
	"reflect"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// insert writes what was staged, in one transaction. It returns errNotWritten or
// errReportFirst when the transaction must be rolled back although nothing failed.
func (imp *importer) insert(ctx context.Context, tx *storedb.DB) error {
	imp.bad = map[int]string{}
	imp.report.Workspaces, imp.report.Keys, imp.report.LicenseKeys = Moved{}, Moved{}, Moved{}
	imp.report.Split = imp.split
	if err := tx.LockImports(ctx); err != nil {
		return err
	}
	if err := imp.mayImport(ctx, tx); err != nil { // the reading took its time
		return err
	}
	if err := imp.moveWorkspaces(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropStale(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropShadowed(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropConflicts(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropRepeated(ctx, tx); err != nil {
		return err
	}
	if err := imp.checkBefore(ctx, tx); err != nil {
		return err
	}
	if err := imp.settleRefunds(ctx, tx); err != nil {
		return err
	}
	if err := imp.checkSample(ctx, tx); err != nil {
		return err
	}
	now := imp.service.timestamp()
	id, err := imp.keepBefore(ctx, tx, now)
	if err != nil {
		return err
	}
	if err := imp.moveRows(ctx, tx, now); err != nil {
		return err
	}
	if imp.options.DryRun || (!imp.options.SkipBad && imp.report.Bad+len(imp.bad) > 0) {
		return errNotWritten
	}
	for line := range imp.bad {
		if !imp.reported[line] {
			return errReportFirst
		}
	}
	if err := imp.service.gate.SameKeyFile(ctx, tx.Queries); err != nil {
		return err
	}
	if err := imp.keepAfter(ctx, tx, id); err != nil {
		return err
	}
	return imp.finish(ctx, tx)
}

// moveRows writes what belongs to workspaces.
func (imp *importer) moveRows(ctx context.Context, tx *storedb.DB, now countersign.Timestamp) (err error) {
	if imp.report.Items, err = tx.MoveItems(ctx); err != nil {
		return err
	}
	imp.report.Items.Repeated = imp.repeated.items
	if imp.report.Items.New+imp.report.Items.Changed > 0 {
		if err = tx.KeepStagedVersions(ctx, storedb.ItemVersion{At: now, Actor: imp.actor.ID}); err != nil {
			return err
		}
	}
	if err := imp.moveKeys(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropLost(ctx, tx); err != nil {
		return err
	}
	if err := imp.noteKept(ctx, tx); err != nil {
		return err
	}
	if imp.report.Purchases, err = tx.MovePurchases(ctx, now, imp.keep, imp.csv == nil); err != nil {
		return err
	}
	imp.report.Purchases.Repeated = imp.repeated.purchases
	return imp.moveLicenses(ctx, tx)
}

// noteKept notes the rows of CSV that do not make a code good again.
func (imp *importer) noteKept(ctx context.Context, tx *storedb.DB) error {
	imp.report.Kept = Found{}
	if imp.csv == nil || imp.keep["state"] {
		return nil
	}
	lines, err := tx.StageKept(ctx)
	for _, line := range lines {
		imp.report.Kept.note(line)
	}
	return err
}

// finish writes what is known of the import besides its rows: the columns, the entry of the
// audit log, and the end of its job.
func (imp *importer) finish(ctx context.Context, tx *storedb.DB) error {
	if err := imp.rememberColumns(ctx, tx); err != nil {
		return err
	}
	event := people.Event{Action: actionImport, Workspace: imp.options.Workspace, Detail: imp.options.File, After: imp.report.describe()}
	if imp.report.ID > 0 {
		event.Subject = strconv.FormatInt(imp.report.ID, 10)
	}
	if err := people.Record(ctx, &tx.DB, imp.service.now(), imp.actor, event); err != nil || imp.options.job == nil {
		return err
	}
	return imp.options.job.finish(ctx, tx, imp.report)
}

func (imp *importer) moveWorkspaces(ctx context.Context, tx *storedb.DB) error {
	first := firsts[workspaceLine]{}
	for _, n := range imp.workspaces {
		repeated, err := first.repeats(n.line, n.value.Username, n.value)
		if err != nil {
			imp.bad[n.line] = err.Error()
			continue
		}
		if repeated {
			imp.report.Workspaces.Repeated++
			continue
		}
		first[n.value.Username] = n
		if err := imp.moveWorkspace(ctx, tx, n.value); err != nil {
			return err
		}
	}
	return nil
}

func (imp *importer) moveWorkspace(ctx context.Context, tx *storedb.DB, l workspaceLine) error {
	counted := &imp.report.Workspaces
	w := l.workspace()
	old, err := tx.LockWorkspace(ctx, l.Username)
	if errors.Is(err, sqldb.ErrNotFound) {
		counted.New++
		return tx.AddWorkspace(ctx, w)
	}
	if err != nil {
		return err
	}
	w.ID, w.Switches = old.ID, old.Switches
	l.setSwitches(&w.Switches)
	if reflect.DeepEqual(withoutEmptyLinks(w), withoutEmptyLinks(old)) {
		counted.Same++
		return nil
	}
	counted.Changed++
	return tx.UpdateWorkspace(ctx, w)
}

// withoutEmptyLinks makes an absent map of links and an empty one alike.
func withoutEmptyLinks(w storedb.Workspace) storedb.Workspace {
	if len(w.Account.Profile.SocialLinks) == 0 {
		w.Account.Profile.SocialLinks = nil
	}
	return w
}

// dropStale takes items out of the stage that somebody has changed since they were read: a
// row of CSV has only a part of an item.
func (imp *importer) dropStale(ctx context.Context, tx *storedb.DB) error {
	lines, err := tx.StaleItems(ctx)
	if err != nil {
		return err
	}
	return imp.unstageAll(ctx, tx, storedb.StagedItems, lines, "somebody has changed this item while the file was read; import the row again")
}

// dropLost takes purchases out of the stage whose item their workspace has no more.
func (imp *importer) dropLost(ctx context.Context, tx *storedb.DB) error {
	lines, err := tx.StageLostItems(ctx)
	if err != nil {
		return err
	}
	return imp.unstageAll(ctx, tx, storedb.StagedPurchases, lines, "the item of this purchase was removed while the file was read")
}

// dropConflicts takes purchases out of the stage whose code another workspace has.
func (imp *importer) dropConflicts(ctx context.Context, tx *storedb.DB) error {
	if err := imp.checkClashes(); err != nil {
		return err
	}
	lines, err := tx.StagePurchaseConflicts(ctx)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := imp.takeClash(line); err != nil {
			return err
		}
	}
	return imp.unstageAll(ctx, tx, storedb.StagedPurchases, lines, codeTaken)
}

func (imp *importer) unstageAll(ctx context.Context, tx *storedb.DB, table storedb.Staged, lines []int, reason string) error {
	for _, line := range lines {
		if err := imp.unstage(ctx, tx, table, line, reason); err != nil {
			return err
		}
	}
	return nil
}

// unstage takes a line out of the stage, and notes why it is bad.
func (imp *importer) unstage(ctx context.Context, tx *storedb.DB, table storedb.Staged, line int, reason string) error {
	imp.bad[line] = reason
	rows, err := tx.Unstage(ctx, table, line)
	imp.report.Split -= max(int(rows)-1, 0)
	return err
}

// codeTaken is the reason of a purchase whose code belongs to another workspace.
const codeTaken = "this purchase code already exists; codes are unique in the store and do not depend on upper and lower case"
