package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/sample"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/google/uuid"
)

// sampleFile is the name under which the import of sample data is known.
const sampleFile = "sample data"

// Sample returns the import that is the sample data of a workspace, nil when it has none.
func (s *Service) Sample(ctx context.Context, a people.Actor, workspace string) (*Import, error) {
	w, err := access.Workspace(ctx, s.db, a, workspace, access.View)
	if err != nil {
		return nil, err
	}
	i, err := s.db.SampleImport(ctx, w.ID)
	if errors.Is(err, sqldb.ErrNotFound) {
		return nil, nil
	}
	return &i, err
}

// LoadSample imports sample items and purchases into a workspace without items. Purchase codes
// are new ones. [Service.RemoveSample] takes them back at any time. A workspace that has
// items is a conflict (workspace_not_empty).
func (s *Service) LoadSample(ctx context.Context, a people.Actor, workspace string) (ImportReport, error) {
	w, err := access.Workspace(ctx, s.db, a, workspace, access.Manage)
	if err != nil {
		return ImportReport{}, err
	}
	var first int64
	err = s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		first, err = tx.NextItemIDs(ctx, sample.ItemCount())
		return err
	})
	if err != nil {
		return ImportReport{}, err
	}
	lines := sample.ForWorkspace{Username: workspace, Currency: w.Account.Currency, FirstItem: first, Until: s.now(), NewCode: uuid.NewString}
	report, err := s.Import(ctx, a, lines.Reader(), ImportOptions{File: sampleFile, Workspace: workspace, sampleOf: w.ID})
	switch {
	case err == nil && !report.Written: // its ids were taken meanwhile
		return report, fault.Conflict("sample_not_loaded", "Nothing was loaded: somebody else added items at the same time. Try again")
	case errors.Is(err, sqldb.ErrExists):
		return report, notEmpty(workspace)
	}
	return report, err
}

func notEmpty(workspace string) error {
	return fault.Conflict("workspace_not_empty", fmt.Sprintf("Nothing was loaded: sample data is for a workspace without items, and %s has some", workspace))
}

// checkSample is an error when sample data is to be imported into a workspace that has items.
func (imp *importer) checkSample(ctx context.Context, tx *storedb.DB) error {
	if imp.options.sampleOf == 0 {
		return nil
	}
	has, err := tx.HasItems(ctx, imp.options.sampleOf)
	if err == nil && has {
		err = notEmpty(imp.options.Workspace)
	}
	return err
}

// RemoveSample takes the sample data of a workspace back. What was changed or used since stays,
// and so does an item that has purchases; the report says which. Without sample data the
// error is sample_not_found.
func (s *Service) RemoveSample(ctx context.Context, a people.Actor, workspace string) (UndoReport, error) {
	w, err := access.Workspace(ctx, s.db, a, workspace, access.Manage)
	if err != nil {
		return UndoReport{}, err
	}
	i, err := s.db.SampleImport(ctx, w.ID)
	if err != nil {
		return UndoReport{}, sqldb.IfNotFound(err, fault.NotFound("sample_not_found", fmt.Sprintf("The workspace %s has no sample data", workspace)))
	}
	return s.undoImport(ctx, a, i.ID, workspace, true)
}
