package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/countersign/countersign/internal/group"
)

// confirm asks a question before something that can't be undone. Without a
// person at the terminal, and with --yes, the command goes ahead.
func (a *app) confirm(ctx context.Context, question string) error {
	switch {
	case a.yes || !a.term.inIsPerson:
		return nil
	case a.noInput:
		return fail(exitUsage, "usage", "this needs a confirmation, and --no-input forbids to ask for it; confirm with --yes")
	}
	fmt.Fprintf(a.term.err, "%s [y/N] ", safe(question))
	switch answer, err := a.readLine(ctx); {
	case err != nil:
		return err
	case strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes"):
		return nil
	}
	return fail(exitFailed, "not_confirmed", "not confirmed, nothing was changed; answer y, or give --yes")
}

// readLine reads one line from stdin. The end of ctx ends the waiting, though
// not the reading, which only the end of the process can.
func (a *app) readLine(ctx context.Context) (line string, err error) {
	done := prompt(func() { line, _ = bufio.NewReader(a.term.in).ReadString('\n') })
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.term.err)
		return "", ctx.Err()
	case err := <-done:
		return strings.TrimSpace(line), err
	}
}

// prompt reads in a goroutine of its own. Its result is nil, or says how a panic ended it.
func prompt(read func()) <-chan error {
	done := make(chan error, 1)
	go func() {
		done <- group.Contain(slog.New(slog.DiscardHandler), "prompt", func() error {
			read()
			return nil
		})
	}()
	return done
}
