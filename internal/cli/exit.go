package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
)

// The exit codes of every command.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitNo          = 4 // a check says no
	ExitNotAllowed  = 5
	ExitConflict    = 6
	ExitUnreachable = 7
	ExitPartly      = 8 // partly done
	ExitUnknown     = 9 // it may have been written, or not
	ExitInterrupted = 130
)

// exitCodes has the code of each kind of error; a kind that is not in it is a failure.
var exitCodes = map[countersign.Kind]int{
	countersign.KindInvalid:      ExitUsage,
	countersign.KindUnauthorized: ExitNotAllowed,
	countersign.KindForbidden:    ExitNotAllowed,
	countersign.KindNotFound:     ExitNotFound,
	countersign.KindConflict:     ExitConflict,
	countersign.KindPrecondition: ExitConflict,
	countersign.KindUnavailable:  ExitUnreachable,
}

// exitError ends the program with an exit code of its own and one line on stderr, or none when the message is empty.
type exitError struct {
	exit    int
	code    string // for machines
	message string // says what to do next
}

// Error implements error.
func (e *exitError) Error() string { return e.message }

// Fail returns an error with an exit code of its own. The code is for machines, the message says what to do next; with an
// empty message nothing is printed.
func Fail(exit int, code, message string) error {
	return &exitError{exit: exit, code: code, message: message}
}

// fail reports an error on one line of stderr and returns the exit code.
func (t *Console) fail(ctx context.Context, err error, args []string) int {
	exit, code, message := t.evaluate(ctx, err)
	if message == "" {
		return exit
	}
	message = withoutPasswords(Safe(message))
	if t.JSON || slices.Contains(args, "--json") { // the flags may not have been read to their end
		text, _ := countersign.EncodeJSON(struct {
			Error string `json:"error"`
			Code  string `json:"code"`
		}{message, code})
		fmt.Fprintf(t.Err, "%s\n", SafeJSON(text))
		return exit
	}
	fmt.Fprintf(t.Err, "countersign: %s %s\n", t.Colour(t.Err, Red, "error:"), message)
	return exit
}

// evaluate returns what an error means for the person who started the program.
func (t *Console) evaluate(ctx context.Context, err error) (exit int, code, message string) {
	var own *exitError
	var apiErr *countersign.Error
	switch {
	case errors.As(err, &own):
		return own.exit, own.code, own.message
	case errors.As(err, &apiErr) && apiErr.Code == countersign.CodeOutcomeUnknown:
		return ExitUnknown, apiErr.Code, "the database did not confirm the change in time; it may have been written; " + t.checkNext()
	case ctx.Err() != nil:
		return ExitInterrupted, "interrupted", "interrupted; unfinished changes were not written"
	case apiErr != nil:
		return exitCode(apiErr), apiErr.Code, t.Sentence(apiErr)
	}
	return ExitFailed, "internal", err.Error() + "; if it happens again, please report it"
}

func exitCode(e *countersign.Error) int {
	switch e.Code {
	case fault.CodeUpdateNeeded, "database_damaged": // a person has to do something first: a service must not be restarted
		return ExitConflict
	}
	return cmp.Or(exitCodes[e.Kind], ExitFailed)
}

// Sentence returns the error's message, its cause, and what to do next.
func (t *Console) Sentence(e *countersign.Error) string {
	text := e.Message
	if e.Cause != nil && e.Code != "disk_full" { // the driver says the same in other words
		if why := fault.FileReason(e.Cause).Error(); !strings.Contains(text, why) {
			text += " (" + strings.Join(strings.Fields(why), " ") + ")"
		}
	}
	return fault.Join(text, t.nextStep(e))
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
