package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// codeHelp is part of the help of every command that takes a purchase code.
const codeHelp = `CODE is - for stdin, which keeps it off the process list and out of the shell's history.
--id names the purchase by its id instead.`

// purchaseArg is the purchase that a command is about: a code, or --id.
type purchaseArg struct{ id int64 }

func (p *purchaseArg) register(c *cobra.Command) {
	c.Flags().Int64Var(&p.id, "id", 0, "`id` of the purchase, in place of its code")
}

// check wants one code, or --id alone.
func (p *purchaseArg) check(c *cobra.Command, args []string) error {
	switch {
	case !c.Flags().Changed("id"):
		return one("purchase code")(c, args)
	case len(args) > 0:
		return usage(c, "give a purchase code or --id, not both")
	case p.id <= 0:
		return usage(c, "--id is a whole number from 1 on")
	}
	return nil
}

// with opens the store and calls do with the code of the purchase.
func (p *purchaseArg) with(a *app, c *cobra.Command, args []string, do func(ctx context.Context, s *store.Store, code string) error) error {
	code := ""
	if p.id == 0 {
		var err error
		if code, err = a.purchaseCode(c.Context(), args[0]); err != nil {
			return err
		}
	}
	return a.withStore(c, func(ctx context.Context, s *store.Store) error {
		if p.id != 0 {
			var err error
			if code, err = s.Validation.Code(ctx, operator(), p.id); err != nil {
				return err
			}
		}
		return do(ctx, s, code)
	})
}

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
