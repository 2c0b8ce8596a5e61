package transfer

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
)

// undoTime is how long an import can be undone.
const undoTime = 24 * time.Hour

// namedRows is how many rows of each kind a report of an undo names.
const namedRows = 100

// Import is an import that can be undone, or was.
type Import = storedb.Import

// ImportedRow is a row that an undo leaves alone, and why.
type ImportedRow = storedb.ImportedRow

// UndoReport describes what an undo did, or would have done.
type UndoReport struct {
	ID int64 `json:"id"`
	// Written is false when nothing was undone, because of the rows in Left.
	Written   bool       `json:"written"`
	Items     UndoCounts `json:"items"`
	Purchases UndoCounts `json:"purchases"`
	// Left are rows that were changed or used since the import; the first 100 of each kind.
	Left []ImportedRow `json:"left,omitempty"`
}

// UndoCounts counts what an undo did with rows of one kind.
type UndoCounts struct {
	Removed  int64 `json:"removed"`
	Restored int64 `json:"restored"`
	Left     int64 `json:"left"`
}

// describe counts what became of the rows, for the audit log. Commands print few characters of it.
func (r UndoReport) describe() string {
	i, p := r.Items, r.Purchases
	return fmt.Sprintf("removed %d, restored %d, left %d", i.Removed+p.Removed, i.Restored+p.Restored, i.Left+p.Left)
}

func countsOf(u storedb.Undone) UndoCounts { return UndoCounts{u.Removed, u.Restored, u.Left} }

// Imports lists the imports of the last 24 hours that can be undone, and those that were,
// newest first.
func (s *Service) Imports(ctx context.Context, a people.Actor) ([]Import, error) {
	if err := access.May(a, access.Administer); err != nil {
		return nil, err
	}
	return s.db.Imports(ctx, s.undoStart())
}

// undoStart is the time after which imports can be undone.
func (s *Service) undoStart() countersign.Timestamp { return countersign.At(s.now().Add(-undoTime)) }

// Undo takes an import of the last 24 hours back, in one transaction: what it added is removed,
// and what it changed is as before. When a row was changed or used since, nothing is undone,
// or with rest everything else. Errors are import_not_found and import_undone.
func (s *Service) Undo(ctx context.Context, a people.Actor, id int64, rest bool) (UndoReport, error) {
	if err := access.May(a, access.Administer); err != nil {
		return UndoReport{ID: id}, err
	}
	return s.undoImport(ctx, a, id, "", rest)
}

// UndoJob is [Service.Undo] of the import that a job has done, for those who may import there.
func (s *Service) UndoJob(ctx context.Context, a people.Actor, job int64, rest bool) (UndoReport, error) {
	j, p, err := s.importJob(ctx, a, job)
	if err != nil {
		return UndoReport{}, err
	}
	if j.Report == nil || j.Report.ID == 0 {
		return UndoReport{}, fault.Conflict("nothing_to_undo", "The import changed nothing that can be undone")
	}
	return s.undoImport(ctx, a, j.Report.ID, p.Workspace, rest)
}

// undoImport undoes an import into a workspace, "" for all of the store.
func (s *Service) undoImport(ctx context.Context, a people.Actor, id int64, workspace string, rest bool) (UndoReport, error) {
	report := UndoReport{ID: id}
	err := s.db.Session(ctx, func(session *storedb.DB) error {
		return session.Tx(ctx, func(tx *storedb.DB) error { return s.undo(ctx, tx, a, &report, workspace, rest) })
	})
	if errors.Is(err, errNotWritten) {
		return report, nil
	}
	report.Written = err == nil
	return report, err
}

func (s *Service) undo(ctx context.Context, tx *storedb.DB, a people.Actor, report *UndoReport, workspace string, rest bool) error {
	if _, err := importPlace(ctx, tx, a, workspace); err != nil {
		return err
	}
	if err := tx.LockImports(ctx); err != nil {
		return err
	}
	i, err := tx.LockImport(ctx, report.ID)
	switch {
	case errors.Is(err, sqldb.ErrNotFound), err == nil && i.SampleOf == 0 && !i.CreatedAt.After(s.undoStart().Time):
		return fault.NotFound("import_not_found", fmt.Sprintf("No import %d of the last 24 hours that can be undone", report.ID))
	case err != nil:
		return err
	case !i.UndoneAt.IsZero():
		return fault.Conflict("import_undone", fmt.Sprintf("The import %d was already undone, on %s", i.ID, i.UndoneAt))
	}
	ended, err := tx.EndedByParts(ctx, i.ID)
	if err != nil {
		return err
	}
	purchases, err := tx.UndoPurchases(ctx, i, namedRows)
	if err != nil {
		return err
	}
	items, err := tx.UndoItems(ctx, i, namedRows) // after the purchases that refer to them
	if err != nil {
		return err
	}
	report.Purchases, report.Items = countsOf(purchases), countsOf(items)
	report.Left = append(items.LeftRows, purchases.LeftRows...)
	if len(report.Left) > 0 && !rest {
		return errNotWritten
	}
	again, err := undoParts(ctx, tx, i.ID, ended)
	if err != nil {
		return err
	}
	report.Purchases.Restored += again
	if err := tx.KeepImportedVersions(ctx, i.ID, storedb.ItemVersion{At: s.timestamp(), Actor: a.ID}); err != nil {
		return err
	}
	if err := tx.EndImport(ctx, i.ID, s.timestamp()); err != nil {
		return err
	}
	return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionUndoImport, Workspace: workspace, Subject: strconv.FormatInt(i.ID, 10), Detail: i.File, After: report.describe()})
}

// undoParts forgets the refunds that an import has noted. Purchases that they have ended, together with those of
// other imports, become what the others say. It counts the purchases that are active again.
func undoParts(ctx context.Context, tx *storedb.DB, id int64, ended []storedb.EndedPurchase) (again int64, err error) {
	if err := tx.RemoveParts(ctx, id); err != nil {
		return 0, err
	}
	for _, e := range ended {
		parts, err := tx.RefundedParts(ctx, e.Digest)
		if err != nil {
			return 0, err
		}
		said := saidBy(parts)
		state := said.settle(e.Price)
		changed, err := tx.SetByParts(ctx, e, state)
		if err != nil {
			return 0, err
		}
		if changed && state == storedb.StateActive {
			again++
		}
	}
	return again, nil
}

// Prune forgets imports that are too old to be undone.
func (s *Service) Prune(ctx context.Context) error {
	for more := true; more; {
		err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
			more, err = tx.PruneImports(ctx, s.undoStart())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// keepBefore begins to note what an import does, and returns its id. One that has anything
// besides items and purchases can't be undone: its id is 0.
func (imp *importer) keepBefore(ctx context.Context, tx *storedb.DB, now countersign.Timestamp) (id int64, err error) {
	if imp.others || imp.options.DryRun {
		return 0, nil
	}
	if _, err := tx.PruneImports(ctx, imp.service.undoStart()); err != nil {
		return 0, err
	}
	id, err = tx.AddImport(ctx, storedb.Import{CreatedAt: now, Actor: imp.actor.ID, File: imp.options.File, SampleOf: imp.options.sampleOf})
	if err != nil {
		return 0, err
	}
	return id, tx.KeepBefore(ctx, id, now, imp.keep, imp.csv == nil)
}

// keepAfter ends it.
func (imp *importer) keepAfter(ctx context.Context, tx *storedb.DB, id int64) error {
	parts, err := imp.keepParts(ctx, tx, id)
	if err != nil || id == 0 {
		return err
	}
	counts := storedb.ImportCounts{Items: imp.report.Items, Purchases: imp.report.Purchases}
	if counts.Items.New+counts.Items.Changed+counts.Purchases.New+counts.Purchases.Changed == 0 && !parts {
		return tx.RemoveImport(ctx, id)
	}
	imp.report.ID = id
	if err := tx.KeepAfter(ctx, id); err != nil {
		return err
	}
	return tx.SetImportCounts(ctx, id, counts)
}
