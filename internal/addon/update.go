package addon

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// updateLock is the file in the data folder that a running update keeps locked.
const updateLock = "update.lock"

// Plan returns what an update would do. It writes nothing, and works without tables.
func (a *Addon) Plan(ctx context.Context, actor people.Actor) (Plan, error) {
	if err := access.May(actor, access.ManageSite); err != nil {
		return Plan{}, err
	}
	if err := a.checkKey(ctx); err != nil {
		return Plan{}, err
	}
	return a.plan(ctx)
}

func (a *Addon) plan(ctx context.Context) (Plan, error) {
	p := Plan{Steps: []Step{}, Version: a.options.Version}
	tables, err := a.location.State(ctx, a.database)
	if err != nil {
		return p, err
	}
	if tables == sqldb.StateNewer {
		return p, errNewer
	}
	pending, err := a.pending(ctx, tables)
	if err != nil {
		return p, err
	}
	p.add(pending.text())
	if len(p.Steps) > 0 && pending.keyCheck != "" {
		p.Steps = append([]Step{{stepBackup, "Back up the database"}}, p.Steps...)
	}
	p.Nothing = len(p.Steps) == 0
	return p, nil
}

// Update creates or migrates the tables, registers new settings, publishes the defaults
// and creates the first API credentials, each only if missing. It makes a backup first.
// It can be repeated, also after it was killed. A second one at the same time is a
// conflict (update_running). progress receives each completed step; it may be nil. If a
// step fails, the settings do not change and the error names the step.
func (a *Addon) Update(ctx context.Context, actor people.Actor, progress func(Step)) (UpdateReport, error) {
	if err := access.May(actor, access.ManageSite); err != nil {
		return UpdateReport{}, err
	}
	if err := a.checkKey(ctx); err != nil {
		return UpdateReport{}, err
	}
	unlock, err := a.lockUpdate()
	if err != nil {
		return UpdateReport{}, err
	}
	defer unlock()
	plan, err := a.plan(ctx)
	if err != nil {
		return UpdateReport{}, err
	}
	report := UpdateReport{Plan: plan}
	if plan.Nothing {
		return report, a.Prepare(ctx)
	}
	if progress == nil {
		progress = func(Step) {}
	}
	if err := a.runSteps(ctx, actor, &report, progress); err != nil {
		return UpdateReport{Plan: plan, Backup: report.Backup}, err
	}
	a.log.Info("the addon was updated", "steps", len(plan.Steps), "backup", report.Backup)
	a.askForState()
	return report, a.Prepare(ctx)
}

// runSteps does the steps of a plan. What comes after the tables and the key file is
// one transaction, so that it is done or not done as a whole.
func (a *Addon) runSteps(ctx context.Context, actor people.Actor, report *UpdateReport, progress func(Step)) error {
	alone := map[string]func() error{
		stepBackup: func() error {
			made, err := a.Backups.Service.Create(ctx, a.database, backup.CreateOptions{})
			report.Backup = made.File
			return err
		},
		stepTables: func() error { return a.database.Migrate(ctx) },
		stepKey:    func() error { return a.openKey(ctx) },
	}
	for _, step := range report.Steps {
		act := alone[step.ID]
		if act == nil {
			continue
		}
		if err := act(); err != nil {
			return stepFailed(step, err)
		}
		progress(step)
	}
	if err := a.openKey(ctx); err != nil {
		return stepFailed(Step{stepKey, "Open the key file"}, err)
	}
	if err := a.register(ctx, actor, report); err != nil {
		return err
	}
	for _, step := range report.Steps {
		if alone[step.ID] == nil {
			progress(step)
		}
	}
	return nil
}

// checkKey is an error when the database is not this addon's, or the key file does not belong
// to it.
func (a *Addon) checkKey(ctx context.Context) error {
	if _, err := a.location.State(ctx, a.database); err != nil {
		return err
	}
	return a.location.CheckKey(ctx, a.db.Queries)
}

// openKey finds or makes the key file that belongs to the database.
func (a *Addon) openKey(ctx context.Context) error {
	box, err := a.location.Open(ctx, a.db.Queries)
	if err == nil {
		a.key.Open(box)
	}
	return err
}

// lockUpdate lets one update of a data folder run at a time. The system gives the
// lock back also when the process is killed.
func (a *Addon) lockUpdate() (unlock func(), err error) {
	if err := keyfile.MakeFolder(a.options.Dir); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(a.options.Dir, updateLock), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The data folder %s can't be written (%v)", a.options.Dir, fault.FileReason(err))), err)
	}
	if !locked {
		return nil, fault.Conflict("update_running", "Another update of this addon is running; wait until it has ended")
	}
	return func() { _ = lock.Close() }, nil
}
