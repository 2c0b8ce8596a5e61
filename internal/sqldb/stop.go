package sqldb

// WritesOff names why nothing more is written until a restart.
type WritesOff string

// The reasons.
const (
	OffFsync  WritesOff = "fsync"
	OffFile   WritesOff = "file"
	OffLock   WritesOff = "lock"
	OffDamage WritesOff = "damage"
)

// WritesOffReasons lists all reasons.
var WritesOffReasons = [...]WritesOff{OffFsync, OffFile, OffLock, OffDamage}

// stopReason explains why nothing more is written until a restart.
type stopReason struct {
	reason WritesOff
	what   string // what happened, for the log
	// message is for the operator. Its end says what to do.
	message string
}

// The reasons. After each of them an acknowledged write could be lost, or be made to a
// file that nobody reads any more; what is read is still what was written.
var (
	// What the kernel dropped after an fsync that failed is not known.
	stopFsync = stopReason{OffFsync, "an fsync failed", "Writes are off since an fsync failed; check the disk and restart"}
	stopFile  = stopReason{OffFile, "the database file was removed or replaced while it was open", "Writes are off: the database file was removed or replaced while it was open. Stop the service, restore the file, and start again"}
	stopLock  = stopReason{OffLock, "the lock file of the data folder was removed or replaced", "Writes are off: the lock file of the data folder was removed or replaced, so that another server may use the folder. Stop that server, and restart"}
)

// stopDamage is the reason of a damaged file. It names the file and the backup to restore.
func (s *shared) stopDamage() stopReason {
	return stopReason{OffDamage, "the database file " + s.options.Path + " is damaged",
		"Writes are off: the database file " + s.options.Path + " is damaged. " + s.DamageAdvice()}
}

// stopWrites switches writes off. The first reason counts.
func (s *shared) stopWrites(why stopReason, cause error) {
	if s.writesOff.CompareAndSwap(nil, &why) {
		s.options.Log.Error(why.what+"; writes are off until a restart", "cause", cause)
	}
}

// writable returns why nothing can be written.
func (s *shared) writable() error {
	if why := s.writesOff.Load(); why != nil {
		return unavailable(why.message, nil)
	}
	return s.commits.behind()
}

// Healthy returns an error of kind Unavailable while writes are off, and when the
// files of a SQLite database are not the ones that are open.
func (db *DB) Healthy() error {
	if err := db.checkFiles(); err != nil {
		return err
	}
	if why := db.writesOff.Load(); why != nil {
		return unavailable(why.message, nil)
	}
	return nil
}
