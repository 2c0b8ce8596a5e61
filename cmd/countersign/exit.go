package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
)

// The exit codes of every command.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitNo          = 4 // a check says no
	exitNotAllowed  = 5
	exitConflict    = 6
	exitUnreachable = 7
	exitPartly      = 8 // partly done
	exitUnknown     = 9 // it may have been written, or not
	exitInterrupted = 130
)

// exitCodes gives the code of each kind of error; a kind that is not in it is a
// failure.
var exitCodes = map[countersign.Kind]int{
	countersign.KindInvalid:      exitUsage,
	countersign.KindUnauthorized: exitNotAllowed,
	countersign.KindForbidden:    exitNotAllowed,
	countersign.KindNotFound:     exitNotFound,
	countersign.KindConflict:     exitConflict,
	countersign.KindPrecondition: exitConflict,
	countersign.KindUnavailable:  exitUnreachable,
}

// exitError ends the program with an exit code of its own and one line on
// stderr, or none when the message is empty.
type exitError struct {
	exit    int
	code    string // for machines
	message string // says what to do next
}

// Error implements error.
func (e *exitError) Error() string { return e.message }

func fail(exit int, code, message string) error {
	return &exitError{exit: exit, code: code, message: message}
}

// fail reports an error on one line of stderr and returns the exit code.
func (a *app) fail(ctx context.Context, err error, args []string) int {
	exit, code, message := a.judge(ctx, err)
	if message == "" {
		return exit
	}
	message = withoutPasswords(safe(message))
	if a.json || slices.Contains(args, "--json") { // the flags may not have been read to their end
		text, _ := countersign.EncodeJSON(struct {
			Error string `json:"error"`
			Code  string `json:"code"`
		}{message, code})
		fmt.Fprintf(a.term.err, "%s\n", safeJSON(text))
		return exit
	}
	fmt.Fprintf(a.term.err, "countersign: %s %s\n", a.colour(a.term.err, red, "error:"), message)
	return exit
}

// judge tells what an error means for whoever started the program.
func (a *app) judge(ctx context.Context, err error) (exit int, code, message string) {
	var own *exitError
	var ours *countersign.Error
	switch {
	case errors.As(err, &own):
		return own.exit, own.code, own.message
	case errors.As(err, &ours) && ours.Code == countersign.CodeOutcomeUnknown:
		return exitUnknown, ours.Code, "the database did not confirm the change in time; it may have been written; " + a.checkNext()
	case ctx.Err() != nil:
		return exitInterrupted, "interrupted", "interrupted; what was not finished was not written"
	case errors.As(err, &ours):
		exit = exitFailed
		if known, ok := exitCodes[ours.Kind]; ok {
			exit = known
		}
		if ours.Code == fault.CodeUpdateNeeded { // nothing is out of reach: a command has to run first
			exit = exitConflict
		}
		return exit, ours.Code, a.sentence(ours)
	}
	return exitFailed, "internal", err.Error() + "; if this comes again, please report it"
}

// sentence is the error's message, its cause, and what to do next.
func (a *app) sentence(e *countersign.Error) string {
	text := e.Message
	if e.Cause != nil && !strings.Contains(text, reason(e.Cause).Error()) {
		text += " (" + strings.Join(strings.Fields(reason(e.Cause).Error()), " ") + ")"
	}
	return fault.Join(text, a.nextStep(e))
}

// checkNext says how to see whether a command has done what it was to do.
func (a *app) checkNext() string {
	if a.command != nil && a.command.HasParent() {
		for _, name := range []string{"list", "show", "history"} {
			for _, sibling := range a.command.Parent().Commands() {
				if sibling.Name() == name && sibling.IsAvailableCommand() {
					return "before you repeat it, check with: " + sibling.CommandPath()
				}
			}
		}
	}
	return "before you repeat it, look at what is there"
}

func (a *app) nextStep(e *countersign.Error) string {
	next := nextSteps[e.Code]
	switch {
	case e.Code == "key_unreadable":
		return "put the right key file back from a backup" + a.keyLost
	case e.Code == "key_missing":
		return "put it back from a backup" + a.keyLost
	case e.Code == sqldb.CodeBehind:
		return "accept it with: " + a.serveCommand + " --accept-loss"
	case next != "" || e.Kind != countersign.KindUnavailable:
		return next
	case a.postgres:
		return "check that PostgreSQL runs and that --db is right, then try again"
	}
	return "check that the disk of the data folder has room and that its files can be written, then try again"
}

// nextSteps says what to do about errors, by their codes.
var nextSteps = fault.NextSteps{
	"workspace_not_found":            "list them with: countersign store workspace list",
	"key_not_found":                  "list them with: countersign store key list",
	countersign.CodeKeyRevoked:       "make a new one with: countersign store key create",
	"license_not_found":              "list them with: countersign store license list",
	"license_keys_full":              "licenses of all earlier ones end with: countersign store license-key rotate --drop-earlier",
	"schema_older":                   "run: countersign store migrate up",
	"schema_empty":                   "look with: countersign store migrate status",
	"already_running":                "stop it first, or name another folder with --data",
	"address_in_use":                 "choose another address with --listen",
	fault.CodeUpdateNeeded:           "run: countersign addon update",
	"workspace_exists":               "change it with: countersign store workspace set",
	"item_not_found":                 "list them with: countersign store item list --workspace W",
	"purchase_exists":                "leave --code out to get a new one",
	countersign.CodePurchaseNotFound: "list them with: countersign store purchase list --workspace W",
	countersign.CodePurchaseRefunded: "look at it with: countersign store purchase show",
	"purchase_charged_back":          "look at it with: countersign store purchase show",
	"purchase_revoked":               "look at it with: countersign store purchase show",
	"license_ended":                  "look at it with: countersign store license show",
	countersign.CodeLimitReached:     "move one with: countersign store license move, or allow more with: countersign store item set",
	"setting_not_found":              "list them with: countersign addon settings list",
	"version_not_found":              "list them with: countersign addon settings history",
	"credential_not_found":           "list them with: countersign addon api list",
	"package_not_found":              "list them with: countersign addon package list",
	"product_not_found":              "list them with: countersign addon iap product list",
	"package_exists":                 "change it with: countersign addon package set",
	"key_exists":                     "change it with: countersign addon settings set",
	"already_set_up":                 "a new password is set with: countersign addon user reset-password",
	"user_not_found":                 "list them with: countersign addon user list",
	countersign.CodeBusy:             "another command is writing; try again when it has ended",
	sqldb.CodePooler:                 "set the pooler to session mode (in PgBouncer: pool_mode = session), or connect to PostgreSQL directly with --db",
	"data_folder":                    "make it writable for this user, or name another one with --data",
}

// reason is the last part of an error of the operating system, which says what
// happened without saying again to what: "permission denied".
func reason(err error) error {
	var system *os.SyscallError
	if errors.As(err, &system) {
		return system.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

var passwordInURL = regexp.MustCompile(`(://[^\s/:@]*):[^\s@]*@`)

// withoutPasswords takes passwords out of web addresses that somebody typed in
// the wrong place. The one of our own example stays.
func withoutPasswords(text string) string {
	return passwordInURL.ReplaceAllStringFunc(text, func(found string) string {
		if found == "://user:password@" {
			return found
		}
		return passwordInURL.ReplaceAllString(found, "$1:***@")
	})
}
