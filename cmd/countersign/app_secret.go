package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readPasswordFile reads a password from a file, or from stdin for "-". A line end after it is not part of it.
func (a *app) readPasswordFile(path string) (string, error) {
	if path != "-" {
		text, err := readFile(path, "password")
		return strings.TrimRight(string(text), "\r\n"), err
	}
	text, err := io.ReadAll(io.LimitReader(a.term.in, maxFile))
	if err != nil {
		return "", fail(exitFailed, "input_failed", fmt.Sprintf("the password can't be read from stdin (%v); put it into a file", reason(err)))
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// askSecret asks a person for something that the terminal must not show. Where nobody can be asked, flag says it
// instead.
func (a *app) askSecret(ctx context.Context, question, flag string) (string, error) {
	if !a.term.inIsPerson || a.noInput {
		return "", fail(exitUsage, "usage", "this needs a password, and nobody can be asked; put it into a file and name that with "+flag)
	}
	text, err := a.askHidden(ctx, question)
	if err != nil && ctx.Err() == nil {
		return "", fail(exitFailed, "input_failed", fmt.Sprintf("the password can't be read (%v); put it into a file and name that with %s", reason(err), flag))
	}
	return text, err
}

// askHidden asks a person at the terminal for a line that is not shown.
func (a *app) askHidden(ctx context.Context, question string) (string, error) {
	fmt.Fprint(a.term.err, question)
	restore := keepTerminal(a.term.in)
	lines := make(chan secretLine, 1)
	done := prompt(func() { lines <- readSecretLine(a.term.in) })
	select {
	case <-ctx.Done():
		restore() // the reading ends with the process, and would leave the terminal mute
		fmt.Fprintln(a.term.err)
		return "", ctx.Err()
	case panicked := <-done:
		fmt.Fprintln(a.term.err)
		if panicked != nil {
			return "", panicked
		}
	}
	line := <-lines
	return line.text, line.err
}

type secretLine struct {
	text string
	err  error
}

// readSecretLine reads a line without showing it, and takes nothing from stdin that follows it.
func readSecretLine(in io.Reader) secretLine {
	if file, ok := in.(*os.File); ok && isTerminal(file) {
		text, err := term.ReadPassword(int(file.Fd()))
		return secretLine{string(text), err}
	}
	var line []byte
	for one := make([]byte, 1); ; {
		if _, err := io.ReadFull(in, one); err != nil || one[0] == '\n' {
			if err == io.EOF {
				err = nil
			}
			return secretLine{strings.TrimSuffix(string(line), "\r"), err}
		}
		line = append(line, one[0])
	}
}

// keepTerminal remembers how a terminal is, and gives what brings it back.
func keepTerminal(in io.Reader) (restore func()) {
	file, ok := in.(*os.File)
	if !ok {
		return func() {}
	}
	state, err := term.GetState(int(file.Fd()))
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(int(file.Fd()), state) }
}
