package health

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/wording"
)

// Location is where a service lives, and how its commands begin.
type Location struct {
	// Dir is the data folder.
	Dir string
	// KeyFile is the path of the key file, "" when it is in the environment.
	KeyFile string
	// Command begins the commands of the service.
	Command string
	// Migrate is the command that brings the tables to this version.
	Migrate string
	// State reads how far the tables are; an error of it says why they can't be used.
	State func(context.Context, *sqldb.DB) (sqldb.State, error)
	Now   time.Time
	// Quick leaves out what reads whole files: a server checks its database file by itself.
	Quick bool
}

// LocationOf returns the location of a service whose key file is at a location. migrate is the command that brings its tables
// to this version.
func LocationOf(l *keyfile.Location, migrate string, now time.Time) Location {
	p := Location{Dir: l.Dir, Command: "countersign " + string(l.Service), Migrate: migrate, State: l.State, Now: now}
	if l.KeyText == "" {
		p.KeyFile = l.Path()
	}
	return p
}

// Common runs the checks that every service begins with: folder, database and backups. file is the name of the SQLite
// file. ok reports whether further checks can query the database.
func Common(ctx context.Context, db *sqldb.DB, p Location, file string) (findings []Finding, ok bool) {
	tables, ok := Database(ctx, db, p)
	findings = append(Folder(p), tables...)
	findings = append(findings, Backups(p, strings.TrimSuffix(file, filepath.Ext(file))))
	if ok {
		findings = append(findings, VerifiedBackup(ctx, db, p))
	}
	return findings, ok
}

// minFree is the free space of a disk, in bytes, under which it is worth a warning;
// without any, writes fail.
const (
	minFree  = 500 << 20
	someFree = 20 << 20
)

// Folder looks at who may enter the data folder, and at its disk.
func Folder(p Location) []Finding {
	findings := append([]Finding{folderMode(p), keyFileMode(p), freeDisk(p)}, owners(p)...)
	if root, found := keyfile.FindWebRoot(p.Dir); found {
		findings = append(findings, inWebRoot(p, root))
	}
	return findings
}

// Exposed finds a data folder and a key file that other users of the machine can read, and a data folder that a web
// server may serve. It writes nothing, and leaves what can't be looked at to [Folder].
func Exposed(p Location) (findings []Finding) {
	if info, err := os.Stat(p.Dir); err == nil && info.IsDir() && isExposed(info) {
		findings = append(findings, exposedFolder(p, info))
	}
	if info, err := os.Stat(p.KeyFile); err == nil && isExposed(info) {
		findings = append(findings, exposedKeyFile(p, info))
	}
	if root, found := keyfile.FindWebRoot(p.Dir); found {
		findings = append(findings, inWebRoot(p, root))
	}
	return findings
}

func inWebRoot(p Location, root keyfile.WebRoot) Finding {
	return Finding{"web root", Fail, fmt.Sprintf("The data folder %s is inside a web root (%s is there)", p.Dir, root.File),
		"Anyone may be able to download its key file and database.",
		fmt.Sprintf("Stop the server, move the data folder to %s, and name it with --data.", root.Outside)}
}

// modesTell is false on Windows, where the mode of a file is not who can use it.
const modesTell = runtime.GOOS != "windows"

// isExposed reports whether others than the owner can use a file or folder.
func isExposed(info os.FileInfo) bool { return modesTell && info.Mode().Perm()&0o077 != 0 }

// notExposed is what is known of a file or folder that is not exposed.
func notExposed() string {
	if !modesTell {
		return "who else can use it is not checked on Windows"
	}
	return "only its owner can use it"
}

func exposedFolder(p Location, info os.FileInfo) Finding {
	return Finding{"data folder", Warn, fmt.Sprintf("Other users of this machine can enter %s (mode %04o)", p.Dir, info.Mode().Perm()),
		"It contains the key file and the database.", "chmod 700 " + p.Dir}
}

func exposedKeyFile(p Location, info os.FileInfo) Finding {
	return Finding{"key file", Fail, fmt.Sprintf("Other users of this machine can read the key file (mode %04o)", info.Mode().Perm()),
		"Anyone who has it and the database can read every secret.", "chmod 600 " + p.KeyFile}
}

func folderMode(p Location) Finding {
	const name = "data folder"
	info, err := os.Stat(p.Dir)
	switch {
	case err != nil:
		return Finding{name, Fail, fmt.Sprintf("The data folder %s can't be read (%v)", p.Dir, fault.FileReason(err)),
			"It contains all data of the service.", "Name the correct folder with --data."}
	case !info.IsDir():
		return Finding{name, Fail, p.Dir + " is not a folder", "It contains all data of the service.", "Name the correct folder with --data."}
	case isExposed(info):
		return exposedFolder(p, info)
	}
	probe, err := os.CreateTemp(p.Dir, ".doctor-*")
	if err != nil {
		return Finding{name, Fail, fmt.Sprintf("The data folder %s can't be written (%v)", p.Dir, fault.FileReason(err)),
			"Nothing can be saved or backed up.", "Make it writable for the user that runs the service."}
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	return good(name, fmt.Sprintf("The data folder %s can be written; %s", p.Dir, notExposed()))
}

func keyFileMode(p Location) Finding {
	const name = "key file"
	if p.KeyFile == "" {
		return good(name, "The key is in the environment")
	}
	info, err := os.Stat(p.KeyFile)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Finding{name, Warn, fmt.Sprintf("No key file %s", p.KeyFile), "Secrets in the database can't be read without it.",
			"The first run creates it. If the database has content, restore the file from a backup."}
	case err != nil:
		return Finding{name, Fail, fmt.Sprintf("The key file %s can't be read (%v)", p.KeyFile, fault.FileReason(err)),
			"Secrets in the database can't be read without it.", "Make it readable for the user that runs the service."}
	case isExposed(info):
		return exposedKeyFile(p, info)
	}
	return good(name, "The key file exists; "+notExposed())
}

// KeyFileFix says what to do about an error of a key file. One that can't be read is not lost.
func KeyFileFix(err error, p Location) string {
	switch {
	case fault.HasCode(err, "data_folder"):
		return "Let the user that runs the service read it."
	case fault.IsUnavailable(err):
		return "Check the database."
	}
	return "Restore the key file of this database from a backup, or create a new one with: " + p.Command + " rekey"
}

// UnusedKeyFile finds a key file in the data folder that is another key than box, which comes from
// the environment and belongs to the database.
func UnusedKeyFile(l *keyfile.Location, box *keyfile.Box) []Finding {
	path := l.UnusedKey(box)
	if path == "" {
		return nil
	}
	return []Finding{{"key file", Warn, fmt.Sprintf("The key in %s belongs to the database, but the key file %s is another key", l.KeyVariable, path),
		fmt.Sprintf("Without %s, the service would not start with this key file.", l.KeyVariable),
		"Move the file to a safe place: it may belong to a backup or to another database."}}
}

func freeDisk(p Location) Finding {
	const name = "disk"
	free, err := freeBytes(p.Dir)
	switch {
	case err != nil:
		return Finding{name, Warn, "The free space of the disk can't be read (" + fault.FileReason(err).Error() + ")", "A full disk stops all writes.", "Check it with: df -h " + p.Dir}
	case free < someFree:
		return Finding{name, Fail, fmt.Sprintf("The disk of %s has %s left", p.Dir, wording.Size(free)), "A full disk stops all writes and backups.", "Free some space on it."}
	case free < minFree:
		return Finding{name, Warn, fmt.Sprintf("The disk of %s has %s left", p.Dir, wording.Size(free)), "A full disk stops all writes and backups.", "Free some space on it."}
	}
	return good(name, "The disk has "+wording.Size(free)+" left")
}

// Database looks at whether the database is there, answers, is whole and has the tables
// of this version. ok reports whether further checks can query it.
func Database(ctx context.Context, db *sqldb.DB, p Location) (findings []Finding, ok bool) {
	const name = "database"
	if err := db.Ping(ctx); fault.HasCode(err, sqldb.CodeDamaged) {
		return []Finding{damaged(db, fault.Of(err).Cause.Error())}, false
	} else if err != nil {
		return []Finding{{name, Fail, "The database does not answer: " + sentence(err), "Nothing can be read or written.", "Check that it runs and that --db and --data are correct."}}, false
	}
	state, err := p.State(ctx, db)
	if missing := fault.Of(err); missing != nil && missing.Kind == countersign.KindConflict {
		return []Finding{{name, Fail, missing.Message, "The service can't start.", "Restore the database from a backup, or name the correct folder."}}, false
	}
	findings = append(findings, integrity(ctx, db, p.Quick))
	if db.Engine() == sqldb.SQLite {
		findings = append(findings, commits(db))
	}
	tables := good("tables", "The tables are of this version")
	switch {
	case fault.HasCode(err, sqldb.CodeDamaged):
		tables = Finding{"tables", Fail, "The tables' version can't be read: the database file is damaged", "The service can't start.", db.DamageAdvice()}
	case err != nil:
		tables = Finding{"tables", Fail, "The tables' version can't be read: " + sentence(err), "The service can't start.", "Check the database."}
	case state == sqldb.StateEmpty:
		tables = Finding{"tables", Warn, "The tables do not exist yet", "The service has not been set up.", p.Migrate}
	case state == sqldb.StateOlder:
		tables = Finding{"tables", Fail, "The tables are of an older version", "This version can't use them.", p.Migrate}
	case state == sqldb.StateNewer:
		tables = Finding{"tables", Fail, "The tables are of a newer version", "This version can't use them.", "Install that version or a later one."}
	}
	return append(findings, tables), err == nil && state == sqldb.StateCurrent && findings[0].Level == OK
}

func integrity(ctx context.Context, db *sqldb.DB, quick bool) Finding {
	const name = "database"
	if db.Engine() != sqldb.SQLite {
		return good(name, "PostgreSQL answers")
	}
	if quick {
		return lastIntegrity(ctx, db)
	}
	problems, err := db.QuickCheck(ctx)
	if err != nil {
		return Finding{name, Fail, "The database could not be checked: " + sentence(err), "Its content may be damaged.", "Check the disk. If this persists, restore a backup."}
	}
	if len(problems) > 0 {
		return damaged(db, strings.Join(problems[:min(len(problems), 5)], "; "))
	}
	return good(name, "The database answers and is intact")
}

// lastIntegrity is what the server found when it last checked its file.
func lastIntegrity(ctx context.Context, db *sqldb.DB) Finding {
	const name = "database"
	if err := db.Healthy(); err != nil {
		return Finding{name, Fail, sentence(err), "Nothing can be saved.", "Correct the cause, then restart the server."}
	}
	at, err := db.CheckedAt(ctx)
	switch {
	case err != nil:
		return Finding{name, Fail, "The last check of the database can't be read: " + sentence(err), "Its content may be damaged.", "Check the disk. If this persists, restore a backup."}
	case at.IsZero():
		return good(name, "The database answers; the server checks its file in the background")
	}
	return good(name, "The database answers, and its file was intact at "+at.UTC().Format(time.RFC3339))
}

// damaged is the finding of a SQLite file with pages that can't be read.
func damaged(db *sqldb.DB, what string) Finding {
	return Finding{"database", Fail, fmt.Sprintf("The database file %s is damaged: %s", db.Path(), what),
		"Some of its content can't be read. Answers may be wrong, and a server that finds the damage stops all writes.", db.DamageAdvice()}
}

// commits looks for commits that were acknowledged and are missing.
func commits(db *sqldb.DB) Finding {
	if err := db.Behind(); err != nil {
		return Finding{"commits", Fail, sentence(err), "The last writes are lost, and the service can't start.",
			"Restore the newer files. If you restored a backup on purpose, start the server once with --accept-loss."}
	}
	if err := db.CommitsCompared(); err != nil {
		return Finding{"commits", Warn, "Whether commits are missing is not known: " + sentence(err), "The loss of acknowledged writes would not be noticed.",
			"Check that the newest purchases and licenses exist. The next commit replaces a damaged file. Remove a file that is not a regular file."}
	}
	return good("commits", "No commit is missing")
}

// Backups looks for the newest backup that a service made before an update.
func Backups(p Location, prefix string) Finding {
	const name = "backups"
	folder := filepath.Join(p.Dir, "backups")
	if _, err := os.ReadDir(folder); err != nil && !errors.Is(err, os.ErrNotExist) {
		return Finding{name, Fail, fmt.Sprintf("The folder of backups %s can't be read (%v)", folder, fault.FileReason(err)),
			"No backup can be written to it, and no update begins without one.", "Make it readable and writable for the user that runs the service."}
	}
	files, err := filepath.Glob(filepath.Join(folder, prefix+"-*Z*"))
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, ".partial") })
	if err != nil || len(files) == 0 {
		return good(name, "No backup yet; every update creates one first")
	}
	newest := slices.Max(files)
	info, err := os.Stat(newest)
	switch {
	case err != nil || info.Size() == 0:
		return Finding{name, Warn, "The newest backup, " + filepath.Base(newest) + ", is empty or can't be read", "It could not be restored.", "Check the folder " + filepath.Dir(newest) + "."}
	case isExposed(info):
		return Finding{name, Warn, "Other users of this machine can read the newest backup", "It contains the same data as the database.", "chmod 600 " + newest}
	}
	days := int(p.Now.Sub(info.ModTime()).Hours() / 24)
	return good(name, fmt.Sprintf("The newest backup is %s, %d days old", filepath.Base(newest), max(days, 0)))
}

// Of turns the error of a check into a finding.
func Of(name string, err error, why, fix string) Finding {
	return Finding{name, Fail, sentence(err), why, fix}
}

// sentence is what an error says to people: our own message, or the fixed one.
func sentence(err error) string {
	if apiErr := fault.Of(err); apiErr != nil && apiErr.Message != "" {
		return apiErr.Message
	}
	return err.Error()
}
