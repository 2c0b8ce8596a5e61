// Package fault creates and examines errors of type [countersign.Error]. Every constructor takes the code first and the
// message second: the code is for machines and front ends, the message says what is wrong and names no command, flag or
// page. A front end adds the next step from the code.
package fault

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign"
)

// CodeUpdateNeeded is the code of a service that is unavailable until its operator has run an update. Anybody may know
// this; see [Public].
const CodeUpdateNeeded = "update_needed"

// CodeInvalid is the code of wrong input that has no code of its own.
const CodeInvalid = "invalid"

// New returns an error of a kind that has no constructor of its own here.
func New(kind countersign.Kind, code, message string) *countersign.Error {
	return &countersign.Error{Kind: kind, Code: code, Message: message}
}

// Invalid returns an error of [countersign.KindInvalid].
func Invalid(code, message string) *countersign.Error {
	return New(countersign.KindInvalid, code, message)
}

// Unauthorized returns an error of [countersign.KindUnauthorized].
func Unauthorized(code, message string) *countersign.Error {
	return New(countersign.KindUnauthorized, code, message)
}

// Forbidden returns an error of [countersign.KindForbidden].
func Forbidden(code, message string) *countersign.Error {
	return New(countersign.KindForbidden, code, message)
}

// NotFound returns an error of [countersign.KindNotFound].
func NotFound(code, message string) *countersign.Error {
	return New(countersign.KindNotFound, code, message)
}

// Conflict returns an error of [countersign.KindConflict].
func Conflict(code, message string) *countersign.Error {
	return New(countersign.KindConflict, code, message)
}

// Limited returns an error of [countersign.KindLimited]. The same call makes sense again after wait.
func Limited(code, message string, wait time.Duration) *countersign.Error {
	return WithRetry(New(countersign.KindLimited, code, message), wait)
}

// Unavailable returns an error of [countersign.KindUnavailable]. Its message is for the operator; [Public] hides it.
func Unavailable(code, message string) *countersign.Error {
	return New(countersign.KindUnavailable, code, message)
}

// WithCause returns e with its cause, which is for the log alone.
func WithCause(e *countersign.Error, cause error) *countersign.Error {
	with := *e
	with.Cause = cause
	return &with
}

// WithRetry returns e with the time to wait before the same call makes sense again.
func WithRetry(e *countersign.Error, wait time.Duration) *countersign.Error {
	with := *e
	with.RetryAfter = wait
	return &with
}

// WithFields returns e with what is wrong with each named value.
func WithFields(e *countersign.Error, fields map[string]string) *countersign.Error {
	with := *e
	with.Fields = fields
	return &with
}

// At returns err with what it says as what is wrong with a named value, unless it names values already. An error
// about waiting, or a fault of the server, is returned as it is: it is about no value.
func At(name string, err error) error {
	const ofServer = 500 // and all statuses above
	apiErr := Of(err)
	if apiErr == nil || apiErr.Fields != nil || apiErr.Kind == countersign.KindLimited || apiErr.Kind.Status() >= ofServer {
		return err
	}
	return WithFields(apiErr, map[string]string{name: apiErr.Message})
}

// All returns one error about all values that are wrong, nil for none: kind and code are those of the first. An error
// that names no values is returned alone.
func All(errs ...error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	var texts []string
	fields := map[string]string{}
	for _, err := range errs {
		apiErr := Of(err)
		if apiErr == nil || apiErr.Fields == nil {
			return err
		}
		for name, text := range apiErr.Fields {
			fields[name] = cmp.Or(fields[name], text)
		}
		texts = append(texts, apiErr.Message)
	}
	if len(errs) == 0 {
		return nil
	}
	return WithFields(WithMessage(Of(errs[0]), strings.Join(texts, "; ")), fields)
}

// WithData returns e with the public data of its envelope.
func WithData(e *countersign.Error, data any) *countersign.Error {
	with := *e
	with.Data = data
	return &with
}

// WithMessage returns e with another message.
func WithMessage(e *countersign.Error, message string) *countersign.Error {
	with := *e
	with.Message = message
	return &with
}

// Of returns the first [countersign.Error] in err's chain, and nil when there is none.
func Of(err error) *countersign.Error {
	apiErr, _ := errors.AsType[*countersign.Error](err)
	return apiErr
}

// HasCode reports whether err is a [countersign.Error] with this code.
func HasCode(err error, code string) bool {
	apiErr := Of(err)
	return apiErr != nil && apiErr.Code == code
}

// HasKind reports whether err is a [countersign.Error] of this kind.
func HasKind(err error, kind countersign.Kind) bool {
	apiErr := Of(err)
	return apiErr != nil && apiErr.Kind == kind
}

// IsUnavailable reports whether err says "not now".
func IsUnavailable(err error) bool { return HasKind(err, countersign.KindUnavailable) }

// Message returns the public message of a [countersign.Error] in err's chain, and the text of any other error.
func Message(err error) string {
	if apiErr := Of(err); apiErr != nil {
		return apiErr.Message
	}
	return err.Error()
}

// Sentence returns [Message] with a capital letter at its beginning, unless its first word is a domain.
func Sentence(err error) string {
	text := Message(err)
	if word, _, _ := strings.Cut(text, " "); strings.Contains(word, ".") {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// FileReason returns what the operating system said about a file, for example "permission denied", without the name of
// the call and the path. Other errors are returned as they are.
func FileReason(err error) error {
	if system, ok := errors.AsType[*os.SyscallError](err); ok {
		return system.Err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

// Public returns err as somebody may see it who does not operate the service. An error that says "not now" gets the
// fixed sentence of the API, with err as its cause; its code stays where it says whether something was written. All
// other errors, and [CodeUpdateNeeded], are returned as they are.
func Public(err error) error {
	apiErr := Of(err)
	if apiErr == nil || apiErr.Kind != countersign.KindUnavailable || apiErr.Code == CodeUpdateNeeded {
		return err
	}
	code := countersign.CodeUnavailable
	switch apiErr.Code {
	case countersign.CodeBusy, countersign.CodeMigrating, countersign.CodeMigrationFailed, countersign.CodeOutcomeUnknown:
		code = apiErr.Code
	}
	return WithCause(WithRetry(Unavailable(code, countersign.MsgUnavailable), apiErr.RetryAfter), err)
}
