package setup

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// LockFile is the file in the data folder that a running update keeps locked.
const LockFile = "update.lock"

// Plan returns what an update would do. It writes nothing, and works without tables.
func (s *Service) Plan(ctx context.Context, actor people.Actor) (Plan, error) {
	if err := access.May(actor, access.ManageSite); err != nil {
		return Plan{}, err
	}
	if err := s.checkKey(ctx); err != nil {
		return Plan{}, err
	}
	return s.plan(ctx)
}

func (s *Service) plan(ctx context.Context) (Plan, error) {
	p := Plan{Steps: []Step{}, Version: s.o.Version}
	tables, err := s.o.Instance.Location.State(ctx, s.o.Instance.Database)
	if err != nil {
		return p, err
	}
	if tables == sqldb.StateNewer {
		return p, instance.ErrSchemaNewer
	}
	pending, err := s.pending(ctx, tables)
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
func (s *Service) Update(ctx context.Context, actor people.Actor, progress func(Step)) (Report, error) {
	if err := access.May(actor, access.ManageSite); err != nil {
		return Report{}, err
	}
	if err := s.checkKey(ctx); err != nil {
		return Report{}, err
	}
	unlock, err := s.lockUpdate()
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	plan, err := s.plan(ctx)
	if err != nil {
		return Report{}, err
	}
	report := Report{Plan: plan}
	if plan.Nothing {
		return report, s.Prepare(ctx)
	}
	if progress == nil {
		progress = func(Step) {}
	}
	if err := s.runSteps(ctx, actor, &report, progress); err != nil {
		return Report{Plan: plan, Backup: report.Backup}, err
	}
	s.o.Log.Info("the addon was updated", "steps", len(plan.Steps), "backup", report.Backup)
	s.wake()
	return report, s.Prepare(ctx)
}

// runSteps does the steps of a plan. What comes after the tables and the key file is
// one transaction, so that it is done or not done as a whole.
func (s *Service) runSteps(ctx context.Context, actor people.Actor, report *Report, progress func(Step)) error {
	alone := map[string]func() error{
		stepBackup: func() error {
			made, err := s.o.Instance.Backups.Service.Create(ctx, s.o.Instance.Database, backup.CreateOptions{})
			report.Backup = made.File
			return err
		},
		stepTables: func() error { return s.o.Instance.Database.Migrate(ctx) },
		stepKey:    func() error { return s.openKey(ctx) },
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
	if err := s.openKey(ctx); err != nil {
		return stepFailed(Step{stepKey, "Open the key file"}, err)
	}
	if err := s.register(ctx, actor, report); err != nil {
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
func (s *Service) checkKey(ctx context.Context) error {
	if _, err := s.o.Instance.Location.State(ctx, s.o.Instance.Database); err != nil {
		return err
	}
	return s.o.Instance.Location.CheckKey(ctx, s.o.DB.Queries)
}

// openKey finds or makes the key file that belongs to the database.
func (s *Service) openKey(ctx context.Context) error {
	box, err := s.o.Instance.Location.Open(ctx, s.o.DB.Queries)
	if err == nil {
		s.o.Access.Open(box)
	}
	return err
}

// lockUpdate lets one update of a data folder run at a time. The system gives the
// lock back also when the process is killed.
func (s *Service) lockUpdate() (unlock func(), err error) {
	if err := keyfile.MakeFolder(s.o.Instance.Location.Dir); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.o.Instance.Location.Dir, LockFile), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The data folder %s can't be written (%v)", s.o.Instance.Location.Dir, fault.FileReason(err))), err)
	}
	if !locked {
		return nil, fault.Conflict("update_running", "Another update of this addon is running; wait until it has ended")
	}
	return func() { _ = lock.Close() }, nil
}
