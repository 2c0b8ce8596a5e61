package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/user"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// withStore opens the store, prepares it, runs do and closes it again. A data
// folder without a store is a wrong name rather than a new store: it may be the
// addon's.
func (a *app) withStore(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	p, err := a.resolve(c, storeWhereabouts)
	if err != nil {
		return err
	}
	if p.url == "" && !store.Begun(p.dir) {
		return fail(exitNotFound, "no_store", fmt.Sprintf("no store in %s; name its folder with --data, or begin one there with: countersign store workspace create USERNAME --data %[1]s", p.dir))
	}
	return a.withNewStore(c, do)
}

// withNewStore is withStore for commands that begin a store.
func (a *app) withNewStore(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	return a.withDatabase(c, false, func(ctx context.Context, s *store.Store) error {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		defer s.AuditChain().SealNow(ctx)
		return a.warnBehind(s.Behind(), do(ctx, s))
	})
}

// warnBehind is the error of a command that has worked on a database. One that only
// reads works without the commits that are missing, and says so; any other ends with
// the error that behind is.
func (a *app) warnBehind(behind, err error) error {
	if behind != nil && !fault.HasCode(err, sqldb.CodeBehind) {
		_, _, message := a.judge(context.Background(), behind)
		a.warn("%s", message)
	}
	return err
}

// withDatabase is withStore for commands that work on a store that is not
// prepared; look is for those that only look at what is there.
func (a *app) withDatabase(c *cobra.Command, look bool, do func(context.Context, *store.Store) error) error {
	p, err := a.resolve(c, storeWhereabouts)
	if err != nil {
		return err
	}
	o := a.storeOptions(p, a.errorLog())
	o.Look = look
	return openStore(c.Context(), o, do)
}

func openStore(ctx context.Context, o store.Options, do func(context.Context, *store.Store) error) (err error) {
	s, err := store.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(ctx, s)
}

// withLock is withDatabase while no server may run on the data folder. progress is told
// how far a migration is.
func (a *app) withLock(c *cobra.Command, progress func(done, total int64), do func(context.Context, *store.Store) error) error {
	p, err := a.resolve(c, storeWhereabouts)
	if err != nil {
		return err
	}
	o := a.storeOptions(p, a.errorLog())
	o.Progress = progress
	if o.Lock, err = lockFolder(p.dir, fmt.Sprintf("process %d (%s)", os.Getpid(), c.CommandPath()), ""); err != nil {
		return err
	}
	defer o.Lock.Unlock()
	return openStore(c.Context(), o, do)
}

func (a *app) storeOptions(p place, log *slog.Logger) store.Options {
	return store.Options{Dir: p.dir, URL: p.url, KeyText: p.keyText, Log: log, Now: a.now}
}

// errorLog is the log of commands that do one thing: what they do shows in their
// output.
func (a *app) errorLog() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.term.err, &slog.HandlerOptions{Level: slog.LevelError}))
}

// lockFolder makes the data folder when it is missing and locks it for a server,
// which is at a URL, or for a command that must not meet one.
func lockFolder(dir, owner, url string) (*sqldb.FolderLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(dir, "made", err)
	}
	lock, err := sqldb.LockFolder(dir, owner, url)
	if err != nil && fault.Of(err) == nil {
		return nil, folderError(dir, "locked", err)
	}
	return lock, err
}

func folderError(dir, what string, err error) error {
	return fault.WithCause(fault.Unavailable("data_folder", fmt.Sprintf("The data folder %s can't be %s", dir, what)), err)
}

// operator is whoever started the program.
func operator() people.Actor {
	login := fmt.Sprintf("user %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		login = u.Username
	}
	return people.Operator(login)
}
