package backup

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/people/peopledb"
	"github.com/countersign/countersign/internal/sqldb"
)

// What is written into the audit log: noun.verb.
const (
	ActionCreate   people.Action = "backup.create"
	ActionRestore  people.Action = "backup.restore"
	ActionSchedule people.Action = "backup.schedule"
)

// Actions lists the actions of backups.
func Actions() []people.Action { return []people.Action{ActionCreate, ActionRestore, ActionSchedule} }

// Keeper creates the backups of an open service, and keeps the record of those that were verified.
// Its methods may be called from many goroutines.
type Keeper struct {
	// Service is what is backed up, and DB its open database.
	Service *Service
	DB      *sqldb.DB
	// May is an error unless an actor may work on backups. They hold all content, so that is the
	// operator alone.
	May func(people.Actor) error
	// Box is the key file of the database, and SameKeyFile an error when that belongs to another by now.
	Box         func() *keyfile.Box
	SameKeyFile func(context.Context, sqldb.Queries) error
	Log         *slog.Logger

	serving atomic.Bool

	// waited is told whenever an entry waits for other writers; nil for nobody.
	waited func()
	// verified is told when a scheduled backup was verified; nil for nobody.
	verified func(context.Context)
}

// Create writes a backup. Requests are answered meanwhile.
func (k *Keeper) Create(ctx context.Context, a people.Actor, o CreateOptions) (Created, error) {
	if err := k.May(a); err != nil {
		return Created{}, err
	}
	made, err := k.Service.Create(ctx, k.DB, o)
	if err != nil {
		return made, err
	}
	made.Unrecorded = k.write(ctx, func(tx sqldb.Queries) error { return k.audit(ctx, tx, a, created(made, "")) })
	return made, nil
}

// created is the entry of a new backup.
func created(made Created, more string) people.Event {
	if len(made.Info.Lacks) > 0 {
		more += ", lacks " + blob.LacksText(made.Info.Lacks)
	}
	return people.Event{Action: ActionCreate, Subject: filepath.Base(made.File), Detail: fmt.Sprintf("%d bytes%s", made.Size, more)}
}

// RecordRestore writes into the audit log that the service was restored from a backup. A restore
// compares counts and sums, so it also verifies the backup.
func (k *Keeper) RecordRestore(ctx context.Context, a people.Actor, from Source, done Restored) error {
	if err := k.May(a); err != nil {
		return err
	}
	return k.write(ctx, func(tx sqldb.Queries) error {
		if err := addVerification(ctx, tx, verificationOf(from.recordedName(), done.Info, nil, k.Service.Now())); err != nil {
			return err
		}
		return k.audit(ctx, tx, a, people.Event{Action: ActionRestore, Detail: "backup of " + done.Info.Header.CreatedAt.Format(time.RFC3339)})
	})
}

// RecordVerification records what [Service.Verify] returned of a backup, if the backup is of this
// database: it belongs to the same key file. One that is too damaged to say so is recorded as damaged if
// it was recorded before.
func (k *Keeper) RecordVerification(ctx context.Context, a people.Actor, from Source, info Info, failed error) (recorded bool, err error) {
	if err := k.May(a); err != nil {
		return false, err
	}
	v := verificationOf(from.recordedName(), info, failed, k.Service.Now())
	check, err := k.DB.Queries().Meta(ctx, keyfile.CheckName)
	switch {
	case err != nil:
		return false, err
	case check != "" && info.Header.Key == check:
		return true, k.write(ctx, func(tx sqldb.Queries) error { return addVerification(ctx, tx, v) })
	case !fault.HasCode(failed, CodeDamaged):
		return false, nil
	}
	err = k.write(ctx, func(tx sqldb.Queries) error {
		recorded, err = spoilVerification(ctx, tx, v)
		return err
	})
	return recorded, err
}

// Prune removes backups of the database from a place and returns them: those that are neither among
// the newest nor young enough. The newest one stays, and so does the newest that was verified. Other
// files stay, also backups that belong to another key file.
func (k *Keeper) Prune(ctx context.Context, a people.Actor, in Destination, keep Keep) ([]File, error) {
	if err := k.May(a); err != nil {
		return nil, err
	}
	return k.prune(ctx, in, keep)
}

// Verifications reads the records of verified backups, the newest backup first.
func (k *Keeper) Verifications(ctx context.Context, a people.Actor) ([]Verification, error) {
	if err := k.May(a); err != nil {
		return nil, err
	}
	return Verifications(ctx, k.DB.Queries())
}

// LastVerified returns the time of the content of the newest verified backup, false without any.
func (k *Keeper) LastVerified(ctx context.Context) (at time.Time, known bool, err error) {
	v, err := LastVerified(ctx, k.DB.Queries(), k.now())
	return v.CreatedAt, v.whole(), err
}

func (k *Keeper) audit(ctx context.Context, tx sqldb.Queries, a people.Actor, e people.Event) error {
	return people.Record(ctx, &peopledb.DB{Queries: tx}, k.Service.Now(), a, e)
}

// How often an entry is tried to be written, and the pause between two attempts. An attempt waits
// for its turn for some seconds.
const (
	writeAttempts = 24
	writePause    = 200 * time.Millisecond
)

// write runs fn in one transaction. It waits longer for other writers than a request does: what
// it records has happened, and must not be reported as failed.
func (k *Keeper) write(ctx context.Context, fn func(sqldb.Queries) error) (err error) {
	for range writeAttempts {
		err = k.DB.Tx(ctx, fn)
		if !fault.IsUnavailable(err) || fault.HasCode(err, countersign.CodeOutcomeUnknown) {
			return err
		}
		if k.waited != nil {
			k.waited()
		}
		if !group.Sleep(ctx, writePause, nil) {
			return err
		}
	}
	return err
}
