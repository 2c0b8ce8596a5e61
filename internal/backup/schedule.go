package backup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/jobs"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Settings say when scheduled backups are written, where to, and which stay.
type Settings struct {
	// Active switches them on.
	Active bool `json:"active"`
	// Every is the time from one to the next, between an hour and 31 days.
	Every time.Duration `json:"every"`
	// At is the time of day in UTC, like 03:00, of a schedule of whole days; "" for any.
	At      string `json:"at"`
	Keep    Keep   `json:"keep"`
	KeyFile bool   `json:"key_file"`
	// Recipients are age public keys; without any, backups are not encrypted.
	Recipients []string `json:"recipients"`
	// Out is the absolute path of a folder, or the URL of a bucket; "" is the folder of backups in
	// the data folder of the server. A URL may hold secrets, so it is kept encrypted.
	Out string `json:"-"`
}

// Schedule is the settings of scheduled backups, and the record of what was done.
type Schedule struct {
	Settings
	// Destination names Out without the parameters of a URL.
	Destination string `json:"place"`
	Sealed      []byte `json:"sealed"`
	// Due is the time by the settings, and Next when the next one begins: after a failure, earlier.
	Due  time.Time `json:"due"`
	Next time.Time `json:"next"`
	// StartedAt is when the last one began, SucceededAt when the last one was verified, and
	// FailedAt when one failed last; zero for never.
	StartedAt   time.Time `json:"started_at"`
	SucceededAt time.Time `json:"succeeded_at"`
	FailedAt    time.Time `json:"failed_at"`
	// File is the last verified one, Failure why one failed last, and Unverified the file of one that
	// was not verified, or is not yet; "" for none.
	File       string `json:"file"`
	Failure    string `json:"failure"`
	Unverified string `json:"unverified"`
}

const (
	minEvery, maxEvery = time.Hour, 31 * 24 * time.Hour
	day                = 24 * time.Hour
	clock              = "15:04"
	metaSchedule       = "backup_schedule"
	// sealedFor is the purpose for which the place of a schedule is sealed.
	sealedFor = "backup schedule"
)

// ReadSchedule reads the schedule of a database, without Out.
func ReadSchedule(ctx context.Context, q sqldb.Queries) (s Schedule, err error) {
	err = readMeta(ctx, q.Meta, metaSchedule, &s)
	return s, err
}

// Schedule reads the schedule, without Out.
func (k *Keeper) Schedule(ctx context.Context, a people.Actor) (Schedule, error) {
	if err := k.May(a); err != nil {
		return Schedule{}, err
	}
	return ReadSchedule(ctx, k.DB.Queries())
}

// SetSchedule changes the schedule, from which the server then works. Errors are of kind Invalid
// (backup_schedule, backup_recipient, backup_url), and of kind Unavailable (backup_folder,
// media_unavailable) for a place that can't be written.
func (k *Keeper) SetSchedule(ctx context.Context, a people.Actor, change func(*Settings)) (s Schedule, err error) {
	if err := k.May(a); err != nil {
		return s, err
	}
	if err := k.tryDestination(ctx, change); err != nil {
		return s, err
	}
	err = k.DB.Tx(ctx, func(tx sqldb.Queries) error {
		if s, err = lockSchedule(ctx, tx); err != nil {
			return err
		}
		if err := s.unseal(k.Box()); err != nil {
			k.Log.Warn("backups go to the default folder unless another place is set", "cause", err)
		}
		before := s.Settings
		change(&s.Settings)
		if s.Destination, err = s.check(ctx); err != nil {
			return err
		}
		if s.Out != before.Out { // the file is in the earlier place
			s.Unverified = ""
		}
		if s.Active && !before.Active { // an alert would be about a failure of before
			s.FailedAt, s.Failure = time.Time{}, ""
		}
		now := k.now()
		if s.Active && (!before.Active || before.Every != s.Every || before.At != s.At) {
			s.Due = s.first(now)
			s.Next = s.Due
		}
		s.Sealed = nil
		if s.Out != "" {
			s.Sealed = k.Box().Seal(sealedFor, []byte(s.Out))
		}
		if err := writeMeta(ctx, tx, metaSchedule, s); err != nil {
			return err
		}
		if s.Active {
			if err := k.putJob(ctx, tx, s.Next); err != nil {
				return err
			}
		}
		if err := k.audit(ctx, tx, a, people.Event{Action: ActionSchedule, Detail: s.describe()}); err != nil {
			return err
		}
		return k.SameKeyFile(ctx, tx)
	})
	return s, err
}

// tryDestination is an error when a change switches backups on, and their place can't be written.
func (k *Keeper) tryDestination(ctx context.Context, change func(*Settings)) error {
	s, err := ReadSchedule(ctx, k.DB.Queries())
	if err != nil {
		return err
	}
	_ = s.unseal(k.Box()) // another place may be set
	change(&s.Settings)
	if _, err := s.check(ctx); err != nil || !s.Active {
		return err
	}
	in, err := s.open(ctx)
	if err != nil {
		return err
	}
	if in.Bucket != nil {
		err := in.Bucket.Try(ctx)
		if errors.Is(err, blob.ErrNoCredentials) { // those of the server may be in its environment alone
			err = nil
		}
		return errors.Join(err, in.Bucket.Close())
	}
	return tryFolder(k.Service.folder(in))
}

// tryFolder is an error unless files can be created in a folder, which it creates.
func tryFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return folderError(dir, err)
	}
	f, err := os.CreateTemp(dir, ".check-*")
	if err != nil {
		return folderError(dir, err)
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return nil
}

func (k *Keeper) now() time.Time { return k.Service.Now().UTC().Truncate(time.Second) }

// lockSchedule reads the schedule without Out, and locks it.
func lockSchedule(ctx context.Context, tx sqldb.Queries) (s Schedule, err error) {
	err = readMeta(ctx, lockedMeta(tx), metaSchedule, &s)
	return s, err
}

// unseal reads Out. The error is a conflict (backup_place).
func (s *Schedule) unseal(box *keyfile.Box) error {
	if len(s.Sealed) == 0 {
		return nil
	}
	out, err := box.Open(sealedFor, s.Sealed)
	if err != nil {
		return fault.WithCause(fault.Conflict("backup_place", "The place of the scheduled backups can't be decrypted with this key file; set it again"), err)
	}
	s.Out = string(out)
	return nil
}

// putJob asks the queue of the server for the next run.
func (k *Keeper) putJob(ctx context.Context, tx sqldb.Queries, due time.Time) error {
	return jobs.Put(ctx, tx, jobs.Task{Kind: scheduledKind, Key: scheduledKey, Due: due}, k.now())
}

// check is an error unless the settings are valid. It returns the name of their place.
func (s *Settings) check(ctx context.Context) (destination string, err error) {
	if s.Every == 0 {
		s.Every = day
	}
	if s.Every < minEvery || s.Every > maxEvery || s.Every%time.Second != 0 {
		return "", fault.Invalid("backup_schedule", fmt.Sprintf("Invalid time between backups %s: expected one from 1h to 31d", s.Every))
	}
	if s.At != "" {
		at, err := time.Parse(clock, s.At)
		if err != nil {
			return "", fault.Invalid("backup_schedule", fmt.Sprintf("Invalid time of day %.20q: expected one in UTC like 03:00", s.At))
		}
		if s.Every%day != 0 {
			return "", fault.Invalid("backup_schedule", fmt.Sprintf("A time of day needs whole days between backups, not %s", s.Every))
		}
		s.At = at.Format(clock)
	}
	if s.Keep.Count < 0 || s.Keep.Age < 0 {
		return "", fault.Invalid("backup_schedule", "Invalid number of backups to keep: expected 0 or more")
	}
	if _, err := ParseRecipients(s.Recipients); err != nil {
		return "", err
	}
	in, err := s.open(ctx)
	if err != nil || in.Bucket == nil {
		return in.Folder, err
	}
	return in.Bucket.String(), in.Bucket.Close()
}

// open opens the place of the backups. Close its bucket.
func (s *Settings) open(ctx context.Context) (Destination, error) {
	switch {
	case strings.Contains(s.Out, "://"):
		bucket, err := OpenBucket(s.Out)
		return Destination{Bucket: bucket}, err
	case s.Out != "" && !filepath.IsAbs(s.Out):
		return Destination{}, fault.Invalid("backup_url", fmt.Sprintf("Invalid folder for backups %q: expected an absolute path", s.Out))
	}
	return Destination{Folder: s.Out}, nil
}

// OpenBucket opens a bucket of backups. The error is of kind Invalid (backup_url).
func OpenBucket(url string) (*blob.Bucket, error) {
	bucket, err := blob.Open(url)
	if err != nil {
		return nil, fault.Invalid("backup_url", "Invalid URL for backups: "+err.Error())
	}
	return bucket, nil
}

// first is when the first backup of the settings is due: at once, or at their time of day.
func (s *Settings) first(now time.Time) time.Time {
	at, err := time.Parse(clock, s.At)
	if err != nil {
		return now
	}
	first := now.Truncate(day).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute)
	if !first.After(now) {
		first = first.Add(day)
	}
	return first
}

// after is when the first backup is due after a time. Those that were missed are left out.
func (s *Schedule) after(now time.Time) time.Time {
	missed := max(0, now.Sub(s.Due)/s.Every)
	return s.Due.Add((missed + 1) * s.Every)
}

// isAhead reports whether the next backup is later than it can be: the clock was ahead when it was set.
// The clocks of two servers may differ by a little.
func (s *Schedule) isAhead(now time.Time) bool {
	return s.Active && s.Next.After(now.Add(s.Every+clockInterval))
}

// EveryText returns an interval as --every takes it, like 24h or 1h30m0s.
func EveryText(every time.Duration) string {
	if every%time.Hour == 0 {
		return fmt.Sprintf("%dh", every/time.Hour)
	}
	return every.String()
}

// describe returns the settings in words, without secrets.
func (s *Schedule) describe() string {
	if !s.Active {
		return "off"
	}
	parts := []string{"every " + EveryText(s.Every)}
	for text, is := range map[string]bool{
		"at " + s.At + " UTC": s.At != "", "to " + s.Destination: s.Destination != "", "encrypted": len(s.Recipients) > 0, "with the key file": s.KeyFile,
		fmt.Sprintf("keeps %d", s.Keep.Count): s.Keep.Count > 0, fmt.Sprintf("keeps %d days", s.Keep.Age/day): s.Keep.Age > 0,
	} {
		if is {
			parts = append(parts, text)
		}
	}
	slices.Sort(parts[1:])
	return strings.Join(parts, ", ")
}

// LostDestination names the place of the schedule if a key file, nil for one that is lost, can't open it.
func LostDestination(ctx context.Context, q sqldb.Queries, box *keyfile.Box) (string, error) {
	s, err := ReadSchedule(ctx, q)
	if err != nil || len(s.Sealed) == 0 || keyfile.Reseal(box, box, sealedFor, s.Sealed) != nil {
		return "", err
	}
	return s.Destination, nil
}

// Reseal seals the place of the schedule again. A schedule whose place the old key file, nil for one
// that is lost, can't open is switched off.
func Reseal(ctx context.Context, tx sqldb.Queries, old, fresh *keyfile.Box) error {
	var s Schedule
	if err := readMeta(ctx, lockedMeta(tx), metaSchedule, &s); err != nil || len(s.Sealed) == 0 {
		return err
	}
	if s.Sealed = keyfile.Reseal(old, fresh, sealedFor, s.Sealed); s.Sealed == nil {
		s.Active, s.Destination = false, ""
	}
	return writeMeta(ctx, tx, metaSchedule, s)
}
