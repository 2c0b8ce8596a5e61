package main

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
)

// app is one run of the program: what it was started with, and what its global
// flags say.
type app struct {
	lookupEnv func(string) (string, bool)
	term      *terminal
	now       func() time.Time
	// postgres tells that the command works on a PostgreSQL database.
	postgres     bool
	keyLost      string // whereabouts.lost of its service
	serveCommand string // whereabouts.serve of its service
	command      *cobra.Command
	globalFlags
}

// run runs the program once and returns its exit code. The end of ctx is an
// interruption, such as Ctrl-C.
func run(ctx context.Context, args []string, lookupEnv func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{lookupEnv: lookupEnv, term: newTerminal(stdin, stdout, stderr), now: time.Now}
	return a.execute(ctx, args)
}

func (a *app) execute(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(slices.Concat([]string{}, args)) // never nil, for which cobra takes os.Args
	root.SetIn(a.term.in)
	root.SetOut(a.term.out)
	root.SetErr(a.term.err)
	var err error
	a.command, err = root.ExecuteContextC(ctx)
	if err == nil {
		err = a.term.out.failure()
	}
	if err == nil {
		return exitOK
	}
	return a.fail(ctx, err, args)
}
