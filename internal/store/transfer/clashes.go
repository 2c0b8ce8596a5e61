package transfer

import (
	"time"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/store/access"
)

// Each code that another workspace has tells somebody who guesses codes that it is one. The
// imports into a workspace, also those that write nothing, may find maxClashes in clashTime.
const (
	maxClashes = 100
	clashTime  = time.Hour
)

// takeClash counts a line whose code another workspace has, and is an error (import_clashes) when
// there were too many: those that follow are then refused with it, whatever they have.
func (imp *importer) takeClash(line int) error {
	if !imp.countsClashes() || imp.told[line] || imp.service.clashes.Take(imp.options.Workspace, maxClashes) {
		return nil
	}
	return imp.errClashes()
}

// checkClashes is that error when there were too many before.
func (imp *importer) checkClashes() error {
	if !imp.countsClashes() || len(imp.told) > 0 || imp.service.clashes.Allows(imp.options.Workspace, maxClashes) {
		return nil
	}
	return imp.errClashes()
}

// countsClashes is false for administrators, who see all codes.
func (imp *importer) countsClashes() bool {
	return imp.options.Workspace != "" && access.May(imp.actor, access.Administer) != nil
}

func (imp *importer) errClashes() error {
	return fault.Conflict("import_clashes", "Nothing was imported. Imports into this workspace have had too many purchase codes of other workspaces: wait an hour, or ask an administrator of the store")
}
