package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// codeHelp is part of the help of every command that takes a purchase code.
const codeHelp = `CODE is - for stdin, which keeps it off the process list and out of the shell's history.`

// purchaseCode returns the purchase code of an argument or a flag. For "-" it is the
// one line of stdin, and a person at the terminal is asked for it.
func (a *app) purchaseCode(ctx context.Context, text string) (string, error) {
	switch {
	case text != "-":
		return text, nil
	case a.term.inIsPerson && a.noInput:
		return "", fail(exitUsage, "usage", "the purchase code comes from stdin, and --no-input forbids to ask for it; pipe it in")
	case a.term.inIsPerson:
		text, err := a.askHidden(ctx, "Purchase code: ")
		return oneCode(text, err)
	}
	input, err := io.ReadAll(io.LimitReader(a.term.in, maxFile))
	return oneCode(string(input), err)
}

func oneCode(input string, err error) (string, error) {
	code := strings.TrimSpace(input)
	switch {
	case errors.Is(err, context.Canceled):
		return "", err
	case err != nil:
		return "", fail(exitFailed, "input_failed", fmt.Sprintf("the purchase code can't be read from stdin (%v); pipe it in", reason(err)))
	case code == "" || strings.ContainsAny(code, "\r\n"):
		return "", fail(exitUsage, "usage", "wrong input on stdin: expected one line with the purchase code")
	}
	return code, nil
}
