package transfer

// takeClash counts a line whose code another workspace has, as [access.Clashes.Take] says: those
// that follow are refused too, whatever they have.
func (imp *importer) takeClash(line int) error {
	if imp.options.Workspace == "" || imp.reported[line] {
		return nil
	}
	return imp.service.clashes.Take(imp.actor, imp.options.Workspace)
}

// checkClashes is that error when there were too many before.
func (imp *importer) checkClashes() error {
	if imp.options.Workspace == "" || len(imp.reported) > 0 {
		return nil
	}
	return imp.service.clashes.Check(imp.actor, imp.options.Workspace)
}
