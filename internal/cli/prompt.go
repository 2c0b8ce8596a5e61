package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/regular"
	"golang.org/x/term"
)

// Confirm asks for confirmation of something that can't be undone. With --yes, or without a terminal, it returns nil;
// with --no-input it is an error.
func (t *Console) Confirm(ctx context.Context, question string) error {
	switch {
	case t.Yes:
		return nil
	case t.NoInput:
		return usageError("confirmation needed, but --no-input is set; confirm with --yes")
	case !t.Person:
		return nil
	}
	fmt.Fprintf(t.Err, "%s [y/N] ", Safe(question))
	answer, err := t.await(ctx, t.readLine)
	answer = strings.TrimSpace(answer)
	switch {
	case err != nil:
		return err
	case strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"):
		return nil
	}
	return Fail(ExitFailed, "not_confirmed", "not confirmed, nothing was changed; answer y, or use --yes")
}

// AskPurchaseCode asks a person for a purchase code, or reads it from stdin.
func (t *Console) AskPurchaseCode(ctx context.Context) (string, error) {
	switch {
	case !t.Person:
		text, err := t.ReadInput("-", "purchase code", "pipe it in")
		return string(text), err
	case t.NoInput:
		return "", usageError("a purchase code is needed on stdin, but --no-input is set; pipe it in, or name a purchase by --id")
	}
	text, err := t.askHidden(ctx, "Purchase code: ")
	return text, inputError(ctx, err, "purchase code", "pipe it in")
}

// NewPassword reads a new password from a file, or asks a person for it twice. check may refuse it.
func (t *Console) NewPassword(ctx context.Context, file, first, again string, check func(string) error) (string, error) {
	if file != "" {
		text, err := t.ReadInput(file, "password", "put it into a file")
		password := strings.TrimRight(string(text), "\r\n") // a line end after it is not part of it
		if err == nil {
			err = check(password)
		}
		return password, err
	}
	const flag = "put it into a file and name that with --password-file"
	if !t.Person || t.NoInput {
		return "", usageError("a password is needed, but this is not a terminal; " + flag)
	}
	password, err := t.askHidden(ctx, first)
	if err = inputError(ctx, err, "password", flag); err == nil {
		err = check(password)
	}
	if err != nil {
		return "", err
	}
	repeated, err := t.askHidden(ctx, again)
	if err = inputError(ctx, err, "password", flag); err == nil && repeated != password {
		err = usageError("the two passwords are not the same; nothing was changed, try again")
	}
	return password, err
}

// askHidden asks a person at the terminal for a line that is not shown.
func (t *Console) askHidden(ctx context.Context, question string) (string, error) {
	fmt.Fprint(t.Err, question)
	if t.keyboard == nil {
		return t.await(ctx, t.readLine)
	}
	state, failed := term.GetState(int(t.keyboard.Fd()))
	text, err := t.await(ctx, func() (string, error) {
		text, err := term.ReadPassword(int(t.keyboard.Fd()))
		return string(text), err
	})
	if ctx.Err() == nil {
		fmt.Fprintln(t.Err)
	} else if failed == nil {
		_ = term.Restore(int(t.keyboard.Fd()), state) // the reading ends with the process, and would leave the terminal mute
	}
	return text, err
}

// readLine reads a line of stdin, without its end.
func (t *Console) readLine() (string, error) {
	line, err := t.In.ReadString('\n')
	if err == io.EOF {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

// await returns what read returns. The end of ctx ends the waiting, though not the reading, which only the end of the
// process can.
func (t *Console) await(ctx context.Context, read func() (string, error)) (string, error) {
	type input struct {
		text string
		err  error
	}
	done := make(chan input, 1)
	go func() {
		var in input
		in.err = group.Contain(slog.New(slog.DiscardHandler), "prompt", func() (err error) {
			in.text, err = read()
			return err
		})
		done <- in
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(t.Err)
		return "", ctx.Err()
	case in := <-done:
		return in.text, in.err
	}
}

// maxFile is the longest small file, in bytes.
const maxFile = 1 << 20

// ReadInput reads a small regular file, or stdin for "-". what says what it is, next what to do when stdin can't be read.
func (t *Console) ReadInput(path, what, next string) ([]byte, error) {
	if path != "-" {
		return t.readSmall(regular.Open, path, what)
	}
	text, err := io.ReadAll(io.LimitReader(t.In, maxFile))
	return text, inputError(context.Background(), err, what, next)
}

// inputError is the error of input that could not be read, err itself once ctx has ended.
func inputError(ctx context.Context, err error, what, next string) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return Fail(ExitFailed, "input_failed", fmt.Sprintf("the %s can't be read from stdin (%v); %s", what, fault.FileReason(err), next))
}

// ReadFile reads a small file that a flag names; what says what it is.
func (t *Console) ReadFile(path, what string) ([]byte, error) {
	return t.readSmall(os.Open, path, what)
}

func (t *Console) readSmall(open func(string) (*os.File, error), path, what string) ([]byte, error) {
	file, err := open(t.Path(path))
	if os.IsNotExist(err) {
		return nil, Fail(ExitNotFound, "file_not_found", fmt.Sprintf("no such %s file: %s; check its name", what, path))
	}
	var text []byte
	if err == nil {
		defer file.Close()
		text, err = io.ReadAll(io.LimitReader(file, maxFile+1))
	}
	switch {
	case errors.Is(err, regular.ErrKind):
		return nil, Fail(ExitFailed, "file_unreadable", fmt.Sprintf("%s is not a regular file; name a file, or - to read the %s from stdin", path, what))
	case err != nil:
		return nil, Fail(ExitFailed, "file_unreadable", fmt.Sprintf("the %s file %s can't be read (%v); make it readable for this user", what, path, fault.FileReason(err)))
	case len(text) > maxFile:
		return nil, Fail(ExitFailed, "file_too_large", fmt.Sprintf("%s is too large for a %s; check its name", path, what))
	}
	return text, nil
}
