package instance

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// What is written into the audit log: noun.verb, where the noun is the service.
const (
	verbAcceptLoss = ".accept_loss"
	verbMove       = ".move"
	verbRekey      = ".rekey"
)

// Actions lists the actions that this package writes into the audit log of a service.
func Actions(s keyfile.Service) []people.Action {
	return []people.Action{action(s, verbRekey), action(s, verbAcceptLoss), action(s, verbMove)}
}

func action(s keyfile.Service, verb string) people.Action { return people.Action(string(s) + verb) }

// The errors of a database whose tables are not of this version; they are of kind Conflict.
var (
	ErrSchemaNewer = fault.Conflict("schema_newer", "This database was written by a newer version of countersign; install that version or a later one")
	ErrSchemaOlder = fault.Conflict("schema_older", "This database was written by an older version of countersign")
)

// mayOperate is an error of kind Forbidden for everybody but the operator.
func mayOperate(a people.Actor) error {
	if a.Kind == people.KindOperator {
		return nil
	}
	return fault.Forbidden("not_allowed", "This needs access to the data folder")
}

// record writes an act of an actor into the audit log in a transaction.
func (i *Instance) record(ctx context.Context, tx sqldb.Queries, a people.Actor, e people.Event) error {
	return people.Record(ctx, &peopledb.DB{Queries: tx}, i.Options.Now(), a, e)
}

// CheckedState is how far the tables are. It is an error when the key file does not belong to
// the database, before anything is written.
func (i *Instance) CheckedState(ctx context.Context) (sqldb.State, error) {
	state, err := i.Location.State(ctx, i.Database)
	if err != nil {
		return "", err
	}
	return state, i.Location.CheckKey(ctx, i.Database.Queries())
}

// AcceptLoss accepts that the database may lack commits that it acknowledged, and prepares it for the server. What it
// lacks is written into the audit log as soon as the key file is known.
func (i *Instance) AcceptLoss(ctx context.Context, a people.Actor, prepare func(context.Context) error) error {
	missing := i.Database.MissingCommits()
	i.Database.AcceptLoss()
	prepared := prepare(ctx)
	if missing == 0 || i.Gate.Box() == nil {
		return prepared
	}
	err := i.Database.Tx(ctx, func(tx sqldb.Queries) error {
		return i.record(ctx, tx, a, people.Event{Action: action(i.product.Service, verbAcceptLoss), Detail: fmt.Sprintf("%d commits are missing", missing)})
	})
	if err != nil {
		return err
	}
	return prepared
}

// Move copies all rows into an empty database, as [backup.Service.Move] says, and writes that into
// its audit log. The gate may be closed. The database is not changed. Files of the data folder stay where they are.
func (i *Instance) Move(ctx context.Context, a people.Actor, o backup.MoveOptions) (backup.Moved, error) {
	if err := mayOperate(a); err != nil {
		return backup.Moved{}, err
	}
	if err := i.checkCurrent(ctx); err != nil {
		return backup.Moved{}, err
	}
	o.Record = func(ctx context.Context, to *sqldb.DB, m backup.Moved) error {
		event := people.Event{Action: action(i.product.Service, verbMove), Before: string(m.From), After: string(m.To), Detail: fmt.Sprintf("%d rows", m.Rows())}
		return to.Tx(ctx, func(tx sqldb.Queries) error { return i.record(ctx, tx, a, event) })
	}
	return i.Backups.Service.Move(ctx, i.Database, o)
}

// checkCurrent is an error unless the database has tables of this version, and its key file is there.
func (i *Instance) checkCurrent(ctx context.Context) error {
	state, err := i.CheckedState(ctx)
	switch {
	case err != nil:
		return err
	case state == sqldb.StateEmpty:
		return fault.NotFound("no_"+string(i.product.Service), "The database has no "+string(i.product.Service))
	case state == sqldb.StateOlder:
		return ErrSchemaOlder
	case state == sqldb.StateNewer:
		return ErrSchemaNewer
	}
	return nil
}

// Replaceable is how far the tables are of a database that is to get a new key file. It is an error when the key comes
// from the environment.
func (i *Instance) Replaceable(ctx context.Context) (sqldb.State, error) {
	if err := i.Location.Replaceable(); err != nil {
		return "", err
	}
	return i.Location.State(ctx, i.Database)
}

// Lost is what a new key file costs every service.
type Lost struct {
	// Users are the e-mails of users whose authenticator app stops working. Their recovery
	// codes still sign in.
	Users []string
	// BackupPlace is where scheduled backups were written to, when only the lost key file can open
	// that. The schedule is switched off.
	BackupPlace string
}

// Lost returns what [Instance.Rekey] would drop of what old has sealed, nil when that is lost.
func (i *Instance) Lost(ctx context.Context, old *keyfile.Box) (l Lost, err error) {
	if l.BackupPlace, err = backup.LostDestination(ctx, i.Database.Queries(), old); err != nil {
		return l, err
	}
	l.Users, err = people.LostTOTP(ctx, i.peopleDB, old)
	return l, err
}

// Rekey creates a new key file, as [keyfile.Location.Rekey] says, and takes it. carry brings what the product has sealed
// from the old one, nil when that is lost, to the new one. The product has checked the permission of the actor. detail
// describes in the audit log what was lost.
func (i *Instance) Rekey(ctx context.Context, a people.Actor, detail string, carry func(tx sqldb.Queries, old, fresh *keyfile.Box) error) error {
	fresh, err := i.Location.Rekey(ctx, i.Database, func(tx sqldb.Queries, old, fresh *keyfile.Box) error {
		if err := carry(tx, old, fresh); err != nil {
			return err
		}
		if err := backup.Reseal(ctx, tx, old, fresh); err != nil {
			return err
		}
		checked, err := people.Rekey(ctx, &peopledb.DB{Queries: tx}, old, fresh, i.Options.Now())
		if err != nil {
			return err
		}
		event := people.Event{Action: action(i.product.Service, verbRekey), Detail: detail}
		if !checked {
			event.Detail += "; the head of the audit log's seals could not be checked"
		}
		return i.record(ctx, tx, a, event)
	})
	if err == nil {
		i.Gate.Open(fresh)
	}
	return err
}

// Examine runs the checks that every service begins with: folder, database and backups. A quick one reads no whole
// file, as a page needs it. ok reports whether further checks can query the database. They say at which location they found something.
func (i *Instance) Examine(ctx context.Context, quick bool) (findings []health.Finding, at health.Location, ok bool) {
	at = i.healthLocation()
	at.Quick = quick
	findings, ok = health.Common(ctx, i.Database, at, i.product.DatabaseName())
	return findings, at, ok
}

// ExamineAudit verifies the newest entries of the audit log by the key file of the database. The gate may be closed.
func (i *Instance) ExamineAudit(ctx context.Context, box *keyfile.Box) health.Finding {
	chain := people.NewAuditChain(i.peopleDB, func() *keyfile.Box { return box }, i.Options.Now, i.Options.Log)
	report, err := chain.VerifyNewest(ctx, people.Operator("doctor"), people.NewestAudits)
	return health.Audit(report, err, i.Options.Now(), "countersign "+string(i.product.Service)+" audit verify")
}

// Exposed finds a data folder and a key file that other users of the machine can read.
func (i *Instance) Exposed() []health.Finding { return health.Exposed(i.healthLocation()) }

func (i *Instance) healthLocation() health.Location {
	return health.LocationOf(i.Location, i.product.Migrate, i.Options.Now())
}
