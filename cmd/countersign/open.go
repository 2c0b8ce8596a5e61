package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"slices"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dial"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// opener opens a service for a command, runs do and closes it again.
type opener[S any] func(c *cobra.Command, do func(context.Context, S) error) error

// on makes a command that works on a service.
func on[S any](open opener[S], c *cobra.Command, do func(ctx context.Context, s S, args []string) error) *cobra.Command {
	c.RunE = func(c *cobra.Command, args []string) error {
		return open(c, func(ctx context.Context, s S) error { return do(ctx, s, args) })
	}
	return c
}

// onID is on for a command whose argument is the id of a thing, which what names; a shell completes it by ids.
func onID[S any](open opener[S], what string, ids cobra.CompletionFunc, c *cobra.Command, do func(ctx context.Context, s S, id int64) error) *cobra.Command {
	c.Args, c.ValidArgsFunction = cli.Args(what+"'s id"), first(ids)
	c.RunE = func(c *cobra.Command, args []string) error {
		id, err := cli.ParseID(c, what, args[0])
		if err != nil {
			return err
		}
		return open(c, func(ctx context.Context, s S) error { return do(ctx, s, id) })
	}
	return c
}

// listAll returns the command that lists all things of a kind. nothing is what to say when there are none.
func listAll[S, T, V any](a *app, open opener[S], short, nothing string, view func(T) V, all func(context.Context, S) ([]T, error)) *cobra.Command {
	return a.Listing(on(open, &cobra.Command{Use: "list", Short: short, Args: cli.Args()}, func(ctx context.Context, s S, _ []string) error {
		things, err := all(ctx, s)
		return cli.PrintList(a.Console, things, view, nothing, err)
	}))
}

// parseID returns a check that reads the id of a thing, which what names, from one of a command's arguments.
func parseID(what string, place int, id *int64) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) (err error) {
		*id, err = cli.ParseID(c, what, args[place])
		return err
	}
}

// closing runs do on a service that was just opened, and closes it.
func closing[S io.Closer](s S, opened error, do func(S) error) (err error) {
	if opened != nil {
		return opened
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// withStore opens the store and prepares it. A data folder without a store is a
// wrong name rather than a new store: it may be the addon's.
func (a *app) withStore(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	if err := a.findStore(c); err != nil {
		return err
	}
	return a.prepareStore(c, do)
}

// findStore is an error where no store begins, before a file is created.
func (a *app) findStore(c *cobra.Command) error {
	at, err := a.locateChecked(c, storeLocation)
	if err != nil {
		return err
	}
	if at.url == "" && !store.Product.Begun(at.dir) {
		return cli.Fail(cli.ExitNotFound, "no_store", fmt.Sprintf("no store in %s; name its folder with --data, or create one there with: countersign store workspace create USERNAME --data %[1]s", a.Service.Dir))
	}
	return nil
}

// withNewStore is withStore for commands that begin a store.
func (a *app) withNewStore(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	if _, err := a.locateChecked(c, storeLocation); err != nil {
		return err
	}
	return a.prepareStore(c, do)
}

// prepareStore opens the store and prepares it.
func (a *app) prepareStore(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	return a.openStore(c, store.Options{}, func(ctx context.Context, s *store.Store) error {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
		return a.work(ctx, s.Instance, func() error { return do(ctx, s) })
	})
}

// onStore is withStore for a command that needs only what every service has.
func (a *app) onStore(c *cobra.Command, do func(context.Context, *instance.Instance) error) error {
	return a.withStore(c, func(ctx context.Context, s *store.Store) error { return do(ctx, s.Instance) })
}

// withStoreToTry is withNewStore for a command that writes nothing. Where no store begins, it
// works on an empty one in a temporary folder, and makes nothing else.
func (a *app) withStoreToTry(c *cobra.Command, do func(context.Context, *store.Store) error) error {
	begun := true
	err := a.openStore(c, store.Options{Options: instance.Options{NoCreate: true}}, func(ctx context.Context, s *store.Store) error {
		steps, err := s.Migrations(ctx)
		begun = slices.ContainsFunc(steps, func(m sqldb.Migration) bool { return m.Applied })
		return err
	})
	if err != nil {
		return err
	}
	if begun {
		return a.withNewStore(c, do)
	}
	dir, err := os.MkdirTemp("", "countersign-dry-run-")
	if err != nil {
		return cli.Fail(cli.ExitFailed, "temporary_folder", fmt.Sprintf("no temporary folder can be created (%v); set TMPDIR to a folder where it can", fault.FileReason(err)))
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(c.Context(), a.storeOptions(location{dir: dir}, nil, store.Options{}))
	return closing(s, err, func(s *store.Store) error {
		if err := s.Prepare(c.Context()); err != nil {
			return err
		}
		return do(c.Context(), s)
	})
}

// openStore opens a store that is not prepared. o says how.
func (a *app) openStore(c *cobra.Command, o store.Options, do func(context.Context, *store.Store) error) error {
	at, err := a.locate(c, storeLocation)
	if err != nil {
		return err
	}
	s, err := store.Open(c.Context(), a.storeOptions(at, nil, o))
	return closing(s, err, func(s *store.Store) error { return do(c.Context(), s) })
}

// lockStore is openStore while no server may run on the data folder. check refuses a store
// before a file is created.
func (a *app) lockStore(c *cobra.Command, o store.Options, check func(context.Context, instance.Options) error, do func(context.Context, *store.Store) error) error {
	return a.locked(c, storeLocation, check, func(lock *sqldb.FolderLock) error {
		o.Lock = lock
		return a.openStore(c, o, do)
	})
}

// locked runs do while no server may run on the data folder of a service. check refuses the service before a file is created.
func (a *app) locked(c *cobra.Command, l locationFlags, check func(context.Context, instance.Options) error, do func(*sqldb.FolderLock) error) error {
	at, err := a.locate(c, l)
	if err != nil {
		return err
	}
	if err := check(c.Context(), a.instanceOptions(at, nil, instance.Options{})); err != nil {
		return err
	}
	lock, err := lockForCommand(c, at)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	return do(lock)
}

// locateChecked is locate, and refuses a folder, a database and a key file that are not the service's or do not belong
// together, before a file is created.
func (a *app) locateChecked(c *cobra.Command, l locationFlags) (location, error) {
	at, err := a.locate(c, l)
	if err == nil {
		err = a.check(c.Context(), l, at)
	}
	return at, err
}

// check is the error of locateChecked.
func (a *app) check(ctx context.Context, l locationFlags, at location) error {
	return l.product.CheckAll(ctx, a.instanceOptions(at, nil, instance.Options{}))
}

// instanceOptions are those of a service at a location. A command that does one thing has no log:
// its error says what failed.
func (a *app) instanceOptions(at location, log *slog.Logger, o instance.Options) instance.Options {
	o.Dir, o.URL, o.KeyText, o.KeyVariable, o.Log, o.Now = at.dir, at.url, at.keyText, at.keyVariable, log, a.Now
	return o
}

// storeOptions is instanceOptions of a store.
func (a *app) storeOptions(at location, log *slog.Logger, o store.Options) store.Options {
	o.Options, o.Media = a.instanceOptions(at, log, o.Options), at.media
	return o
}

// withAddon opens the addon and prepares it. It creates no addon. An operator may
// name private addresses; the server that calls them has its own list.
func (a *app) withAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	return a.openAddon(c, addon.Options{Options: instance.Options{NoCreate: true}, AllowPrivate: dial.Private()}, func(ctx context.Context, s *addon.Addon) error {
		err := s.Prepare(ctx)
		if s.State() == access.StateNew {
			return a.noAddon()
		}
		if err != nil {
			return err
		}
		return a.work(ctx, s.Instance, func() error { return do(ctx, s) })
	})
}

// onAddon is withAddon for a command that needs only what every service has.
func (a *app) onAddon(c *cobra.Command, do func(context.Context, *instance.Instance) error) error {
	return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return do(ctx, s.Instance) })
}

// noAddon is the error of a command that found no addon.
func (a *app) noAddon() error {
	where, other, how := a.Service.Dir, "name its folder with --data", " --data "+a.Service.Dir
	if a.Service.Postgres {
		where, other, how = "this database", "name its database with --db", ", with the same --db and --data"
	}
	return cli.Fail(cli.ExitNotFound, "not_installed", fmt.Sprintf("no addon in %s; %s, or set it up there with: countersign addon update%s", where, other, how))
}

// withNewAddon opens an addon that is not prepared, for commands that also work before the first update. It makes the data folder.
func (a *app) withNewAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	at, err := a.locate(c, addonLocation)
	if err != nil {
		return err
	}
	if err := outsideWeb(at.dir); err != nil {
		return err
	}
	if err := a.check(c.Context(), addonLocation, at); err != nil {
		return err
	}
	return a.openAddon(c, addon.Options{}, do)
}

// openAddon opens an addon that is not prepared. o says how.
func (a *app) openAddon(c *cobra.Command, o addon.Options, do func(context.Context, *addon.Addon) error) error {
	at, err := a.locate(c, addonLocation)
	if err != nil {
		return err
	}
	s, err := addon.Open(c.Context(), a.addonOptions(at, nil, o))
	return closing(s, err, func(s *addon.Addon) error { return do(c.Context(), s) })
}

// outsideWeb keeps an addon from beginning in a web root. One that is there already works on:
// its server warns, and doctor fails.
func outsideWeb(dir string) error {
	if addon.Product.Begun(dir) {
		return nil
	}
	return keyfile.OutsideWeb(dir)
}

// lockAddon is openAddon while no server may run on the data folder. Only an addon on
// PostgreSQL may have lost that folder with its key file.
func (a *app) lockAddon(c *cobra.Command, do func(context.Context, *addon.Addon) error) error {
	check := func(ctx context.Context, o instance.Options) error {
		if o.URL == "" && !addon.Product.Begun(o.Dir) {
			return a.noAddon()
		}
		if err := outsideWeb(o.Dir); err != nil {
			return err
		}
		return addon.Product.Check(ctx, o)
	}
	return a.locked(c, addonLocation, check, func(lock *sqldb.FolderLock) error {
		return a.openAddon(c, addon.Options{Options: instance.Options{Lock: lock}}, do)
	})
}

// addonOptions is instanceOptions of an addon.
func (a *app) addonOptions(at location, log *slog.Logger, o addon.Options) addon.Options {
	o.Options, o.Version, o.PlayURL = a.instanceOptions(at, log, o.Options), readBuildInfo().Version, at.playURL
	return o
}

// work runs a command on a service that is prepared, and seals what it has written into the audit log. On a database
// that lacks commits, a command that only reads works and says so; any other ends with the error that says so.
func (a *app) work(ctx context.Context, i *instance.Instance, do func() error) error {
	defer i.Chain.SealNow(ctx)
	behind := i.Database.Behind()
	err := do()
	if behind != nil && !fault.HasCode(err, sqldb.CodeBehind) {
		a.Warn("%s", a.Sentence(fault.Of(behind)))
	}
	return err
}

// lockForCommand locks the data folder for a command that must not meet a server.
func lockForCommand(c *cobra.Command, at location) (*sqldb.FolderLock, error) {
	return lockFolder(at.dir, fmt.Sprintf("process %d (%s)", os.Getpid(), c.CommandPath()), "")
}

// lockFolder creates the data folder when it is missing and locks it for a server,
// which is at a URL, or for a command that must not meet one.
func lockFolder(dir, owner, url string) (*sqldb.FolderLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(dir, "created", err)
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

// operator is the person who started the program.
func operator() people.Actor {
	login := fmt.Sprintf("user %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		login = u.Username
	}
	return people.Operator(login)
}

// openFile opens a file that a flag or an argument names.
func (a *app) openFile(path string) (*os.File, error) {
	file, err := os.Open(a.Path(path))
	switch {
	case os.IsNotExist(err):
		return nil, cli.Fail(cli.ExitNotFound, "file_not_found", fmt.Sprintf("no such file: %s; check its name", path))
	case err != nil:
		return nil, cli.Fail(cli.ExitFailed, "file_unreadable", fmt.Sprintf("%s can't be read (%v); make it readable for this user", path, fault.FileReason(err)))
	}
	return file, nil
}
