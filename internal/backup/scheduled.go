package backup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

const (
	// scheduledKind is the kind of the job that writes scheduled backups. There is one for a
	// database, which runs again and again.
	scheduledKind, scheduledKey = "backup.scheduled", "schedule"
	// scheduledLease is how long after the death of its server another one writes the backup. A
	// long transaction of others may keep the lease from being renewed for a while.
	scheduledLease = 5 * time.Minute
)

// scheduler is who acts in the audit log.
func scheduler() people.Actor { return people.Operator("scheduled") }

// Handle lets a queue write the scheduled backups.
func (k *Keeper) Handle(q *jobs.Queue) {
	q.Handle(scheduledKind, jobs.Kind{
		Work: k.runScheduled, Lease: scheduledLease, Forever: true,
		Retries: []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour},
	})
}

// Serve says that this process is a server, which writes the scheduled backups; others leave them
// to it. It removes what backups and migrations left that were killed.
func (k *Keeper) Serve() {
	k.Service.tidy()
	k.serving.Store(true)
}

// clockInterval is how often a server checks that its clock was not ahead.
const clockInterval = time.Minute

// Run follows the clock until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	group.Every(ctx, clockInterval, func(ctx context.Context) {
		if err := k.followClock(ctx); err != nil && !fault.IsUnavailable(err) && ctx.Err() == nil {
			k.Log.Warn("the schedule of backups could not be compared with the clock", "cause", err)
		}
	})
}

// followClock plans the next backup again when it was planned by a clock that was ahead, and would be
// late for as long as that was.
func (k *Keeper) followClock(ctx context.Context) error {
	s, err := ReadSchedule(ctx, k.DB.Queries())
	if err != nil || !s.isAhead(k.now()) {
		return err
	}
	return k.write(ctx, func(tx sqldb.Queries) error {
		s, err := lockSchedule(ctx, tx)
		now := k.now()
		if err != nil || !s.isAhead(now) {
			return err
		}
		k.Log.Warn("the next backup was planned by a clock that was ahead, and is planned again", "was", s.Next)
		s.Due = s.first(now)
		s.Next = s.Due
		for _, at := range []*time.Time{&s.StartedAt, &s.SucceededAt, &s.FailedAt} {
			if at.After(now) { // or a failure would seem to be older than that success
				*at = time.Time{}
			}
		}
		if err := writeMeta(ctx, tx, metaSchedule, s); err != nil {
			return err
		}
		return k.putJob(ctx, tx, s.Next)
	})
}

// runScheduled writes the scheduled backup if it is due, verifies it, and asks for the next.
func (k *Keeper) runScheduled(ctx context.Context, r *jobs.Run) (any, error) {
	if !k.serving.Load() {
		return nil, jobs.ErrElsewhere
	}
	s, due, err := k.beginScheduled(ctx, r)
	if err != nil || !due {
		return nil, err
	}
	made, more, err := k.createScheduled(ctx, &s)
	switch {
	case ctx.Err() != nil: // it is begun anew
		return nil, ctx.Err()
	case err != nil:
		return nil, k.noteFailure(ctx, r, err)
	}
	return nil, k.noteSuccess(ctx, r, made, more)
}

// beginScheduled notes the begin of a run. A job that runs too early, or whose schedule is off, is
// not due and ends here.
func (k *Keeper) beginScheduled(ctx context.Context, r *jobs.Run) (s Schedule, due bool, err error) {
	err = k.write(ctx, func(tx sqldb.Queries) error {
		if s, err = lockSchedule(ctx, tx); err != nil {
			return err
		}
		if due = s.Active && !k.now().Before(s.Next); due {
			s.StartedAt = k.now()
			return writeMeta(ctx, tx, metaSchedule, s)
		}
		return k.again(ctx, tx, r, s)
	})
	return s, due, err
}

// again ends a run, and asks for the next one while the schedule is on.
func (k *Keeper) again(ctx context.Context, tx sqldb.Queries, r *jobs.Run, s Schedule) error {
	if s.Active {
		if err := k.putJob(ctx, tx, s.Next); err != nil {
			return err
		}
	}
	return r.Finish(ctx, tx, nil)
}

// createScheduled writes a backup, verifies it, and removes old ones. more is for its entry in the
// audit log.
func (k *Keeper) createScheduled(ctx context.Context, s *Schedule) (made Created, more string, err error) {
	recipients, err := ParseRecipients(s.Recipients)
	if err != nil {
		return made, "", err
	}
	in, err := k.openDestination(ctx, s)
	if err != nil {
		return made, "", err
	}
	if in.Bucket != nil {
		defer in.Bucket.Close()
	}
	o := CreateOptions{Folder: in.Folder, Bucket: in.Bucket, KeyFile: s.KeyFile, Recipients: recipients}
	made, failed := k.Service.CreateVerified(ctx, k.DB, o, func(written Created) error { return k.noteWritten(ctx, s, in, written) })
	if made.File == "" || (failed != nil && !fault.HasCode(failed, CodeDamaged)) {
		return made, "", failed
	}
	v := verificationOf(Source{File: made.File, Bucket: in.Bucket}.recordedName(), made.Info, failed, k.now())
	if err := k.noteVerified(ctx, made, v); err != nil || failed != nil {
		return made, "", cmp.Or(failed, err)
	}
	if k.verified != nil {
		k.verified(ctx)
	}
	more = ", verified"
	removed, err := k.prune(ctx, in, s.Keep)
	if len(removed) > 0 {
		more += fmt.Sprintf(", %d older removed", len(removed))
	}
	if err != nil {
		more += ", older ones could not be removed"
		k.Log.Warn("old backups could not be removed", "cause", err)
	}
	return made, more, nil
}

// noteVerified records a verification. From here on, a whole backup is not one that is to be removed.
func (k *Keeper) noteVerified(ctx context.Context, made Created, v Verification) error {
	return k.write(ctx, func(tx sqldb.Queries) error {
		if err := addVerification(ctx, tx, v); err != nil || v.Problem != "" {
			return err
		}
		s, err := lockSchedule(ctx, tx)
		if err != nil || s.Unverified != made.File {
			return err
		}
		s.Unverified = ""
		return writeMeta(ctx, tx, metaSchedule, s)
	})
}

// openDestination opens the place of the backups. Close its bucket.
func (k *Keeper) openDestination(ctx context.Context, s *Schedule) (Destination, error) {
	if err := s.unseal(k.Box()); err != nil {
		return Destination{}, err
	}
	return s.open(ctx)
}

// noteWritten records the file of a backup that is verified next, and removes that of an earlier
// attempt unless somebody verified it: a server that is killed again and again would fill the disk.
func (k *Keeper) noteWritten(ctx context.Context, run *Schedule, in Destination, written Created) error {
	earlier := ""
	err := k.write(ctx, func(tx sqldb.Queries) error {
		s, err := lockSchedule(ctx, tx)
		if err != nil || !bytes.Equal(s.Sealed, run.Sealed) { // the schedule was changed meanwhile
			return err
		}
		records, err := Verifications(ctx, tx)
		if err != nil {
			return err
		}
		earlier, s.Unverified = s.Unverified, written.File
		if Recorded(records, Source{File: earlier, Bucket: in.Bucket}).whole() {
			earlier = ""
		}
		return writeMeta(ctx, tx, metaSchedule, s)
	})
	if err != nil { // nobody would find the file
		k.removeUnverified(context.WithoutCancel(ctx), in, written.File)
		return err
	}
	if earlier != "" {
		k.removeUnverified(ctx, in, earlier)
	}
	return nil
}

// noteSuccess records a backup that was verified.
func (k *Keeper) noteSuccess(ctx context.Context, r *jobs.Run, made Created, more string) error {
	k.Log.Info("a scheduled backup was written and verified", "file", made.File, "rows", made.Info.Rows())
	if len(made.Info.Lacks) > 0 {
		k.Log.Error("uploaded files are missing or damaged, and not in the backup", "which", blob.LacksText(made.Info.Lacks))
	}
	return k.write(ctx, func(tx sqldb.Queries) error {
		s, err := lockSchedule(ctx, tx)
		if err != nil {
			return err
		}
		now := k.now()
		s.SucceededAt, s.File = now, made.File
		if s.Active && !s.Due.After(now) {
			s.Due = s.after(now)
			s.Next = s.Due
		}
		if err := writeMeta(ctx, tx, metaSchedule, s); err != nil {
			return err
		}
		if err := k.audit(ctx, tx, scheduler(), created(made, more)); err != nil {
			return err
		}
		return k.again(ctx, tx, r, s)
	})
}

// noteFailure records why no backup was written, and has it tried again.
// A file that could not be verified stays until the next one.
func (k *Keeper) noteFailure(ctx context.Context, r *jobs.Run, failed error) error {
	k.Log.Warn("the scheduled backup failed and is tried again", "cause", failed)
	return k.write(ctx, func(tx sqldb.Queries) error {
		s, err := lockSchedule(ctx, tx)
		if err != nil {
			return err
		}
		s.FailedAt, s.Failure = k.now(), "The backup failed; the log of the server has the cause"
		if apiErr := fault.Of(failed); apiErr != nil {
			s.Failure = apiErr.Message
		}
		at, _, err := r.Retry(ctx, tx, time.Time{}, fault.Unavailable("backup_failed", s.Failure))
		if err != nil {
			return err
		}
		s.Next = at.UTC().Truncate(time.Second) // as jobs are due
		return writeMeta(ctx, tx, metaSchedule, s)
	})
}

// removeUnverified removes the file of an earlier attempt.
func (k *Keeper) removeUnverified(ctx context.Context, in Destination, file string) {
	var err error
	if in.Bucket != nil {
		err = in.Bucket.Delete(ctx, file)
	} else if err = os.Remove(file); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		k.Log.Warn("a backup that could not be verified was not removed", "file", file, "cause", err)
	}
}
