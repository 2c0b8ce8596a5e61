package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// backupCommands are the commands for the backups of a service.
type backupCommands struct {
	*app
	service string // as in a sentence
	flags   locationFlags
	// opened opens a service that is set up, as [backupCreator].
	opened opener[backupCreator]
	// service of a location, which need not exist.
	of func(context.Context, location) (*backup.Service, error)
	// record writes a restore into the audit log.
	record func(*cobra.Command, *sqldb.FolderLock, backup.Restored) error
	// migrate is the command that brings the tables to this version.
	migrate string
}

// backupCreator creates a backup of a service.
type backupCreator func(context.Context, backup.CreateOptions) (backup.Created, error)

func newStoreBackup(a *app) *cobra.Command {
	return backupCommands{
		app: a, service: "store", flags: storeLocation, migrate: "countersign store migrate up",
		opened: func(c *cobra.Command, do func(context.Context, backupCreator) error) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				return do(ctx, func(ctx context.Context, o backup.CreateOptions) (backup.Created, error) {
					return s.CreateBackup(ctx, operator(), o)
				})
			})
		},
		of: func(ctx context.Context, at location) (*backup.Service, error) {
			return store.Backups(ctx, a.storeOptions(at, nil, store.Options{}))
		},
		record: func(c *cobra.Command, lock *sqldb.FolderLock, done backup.Restored) error {
			return a.openStore(c, store.Options{Lock: lock}, func(ctx context.Context, s *store.Store) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return s.RecordRestore(ctx, operator(), done)
			})
		},
	}.group()
}

func newAddonBackup(a *app) *cobra.Command {
	return backupCommands{
		app: a, service: "addon", flags: addonLocation, migrate: "countersign addon update",
		opened: func(c *cobra.Command, do func(context.Context, backupCreator) error) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				return do(ctx, func(ctx context.Context, o backup.CreateOptions) (backup.Created, error) {
					return s.CreateBackup(ctx, operator(), o)
				})
			})
		},
		of: func(_ context.Context, at location) (*backup.Service, error) {
			return addon.Backups(a.addonOptions(at, nil, addon.Options{})), nil
		},
		record: func(c *cobra.Command, lock *sqldb.FolderLock, done backup.Restored) error {
			return a.openAddon(c, addon.Options{Lock: lock}, func(ctx context.Context, s *addon.Addon) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return s.RecordRestore(ctx, operator(), done)
			})
		},
	}.group()
}

func (b backupCommands) group() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "backup", Short: "Backups: create, list, verify, restore",
	}, b.create(), b.list(), b.verify(), b.restore())
}

// backupView is a backup that was read or written.
type backupView struct {
	File      string                `json:"file" card:"1,File,text"`
	CreatedAt countersign.Timestamp `json:"created_at" card:"3,Created (UTC)"`
	Engine    string                `json:"engine" card:"4,Engine"`
	Tables    int64                 `json:"tables" card:"5,Tables"`
	Rows      int64                 `json:"rows" card:"6,Rows,thousands"`
	Files     int64                 `json:"files" card:"7,Uploaded files,thousands"`
	KeyFile   bool                  `json:"key_file" card:"8,Contains the key file"`
	Encrypted bool                  `json:"encrypted" card:"9,Encrypted"`
}

// createdView is a new backup.
type createdView struct {
	backupView
	Size int64 `json:"size" card:"2,Bytes,thousands"`
}

func viewBackup(file string, i backup.Info) backupView {
	return backupView{
		File: file, CreatedAt: countersign.At(i.Header.CreatedAt), Engine: string(i.Header.Engine), Tables: int64(len(i.Header.Tables)),
		Rows: i.Rows(), Files: i.Manifest.Media.Count, KeyFile: i.Header.KeyFile, Encrypted: i.Encrypted,
	}
}

func (b backupCommands) create() *cobra.Command {
	var o backup.CreateOptions
	var out string
	var recipients []string
	var keep, keepDays int
	c := &cobra.Command{
		Use: "create", Short: "Write a backup, also while the server runs", Args: cli.Args(),
		Long: `Write a backup, also while the server runs: all tables and uploaded files in one file. It
is the same for SQLite and PostgreSQL, and can be restored into either.

The key file is left out unless --with-key-file is given: keep a copy of it in another place,
since secrets can't be read without it. A person with both can read all secrets.
--recipient encrypts the backup for a public key of age.`,
		Example: "  countersign " + b.service + " backup create\n  countersign " + b.service + " backup create --out s3://bucket?region=eu-central-1 --recipient age1…",
	}
	c.Flags().StringVar(&out, "out", "", "`file`, folder, or URL of a bucket to write to; default the folder backups in the data folder")
	c.Flags().BoolVar(&o.KeyFile, "with-key-file", false, "put the key file into the backup")
	c.Flags().StringArrayVar(&recipients, "recipient", nil, "encrypt for this age `public key`; can be repeated")
	c.Flags().IntVar(&keep, "keep", 0, "then remove older backups, but `N` of the newest")
	c.Flags().IntVar(&keepDays, "keep-days", 0, "then remove older backups, but those of the last `N` days")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if keep < 0 || keepDays < 0 || ((keep > 0 || keepDays > 0) && out != "" && !strings.Contains(out, "://")) {
			return cli.Usage(c, "--keep and --keep-days are numbers above zero, for the default folder or a bucket")
		}
		for _, text := range recipients {
			one, err := backup.ParseRecipient(text)
			if err != nil {
				return err
			}
			o.Recipients = append(o.Recipients, one)
		}
		if err := placeBackup(c.Context(), out, &o); err != nil {
			return err
		}
		if o.Bucket != nil {
			defer o.Bucket.Close()
		}
		return b.opened(c, func(ctx context.Context, create backupCreator) error {
			made, err := create(ctx, o)
			if err != nil {
				return err
			}
			if err := b.prune(c, o.Bucket, keep, keepDays); err != nil {
				return err
			}
			return b.Show(createdView{viewBackup(made.File, made.Info), made.Size}, nil)
		})
	}
	return c
}

// placeBackup reads where a backup goes.
func placeBackup(ctx context.Context, out string, o *backup.CreateOptions) (err error) {
	switch info, statErr := os.Stat(out); {
	case out == "":
	case strings.Contains(out, "://"):
		o.Bucket, err = openBucket(ctx, out)
	case (statErr == nil && info.IsDir()) || strings.HasSuffix(out, string(filepath.Separator)):
		o.Folder = out
	default:
		o.File = out
	}
	return err
}

func openBucket(ctx context.Context, url string) (*blob.Bucket, error) {
	bucket, err := blob.Open(ctx, url)
	if err != nil {
		return nil, fault.WithCause(fault.Invalid("backup_url", "Invalid URL for backups: "+err.Error()), err)
	}
	return bucket, nil
}

// prune removes old backups.
func (b backupCommands) prune(c *cobra.Command, in *blob.Bucket, keep, days int) error {
	if keep == 0 && days == 0 {
		return nil
	}
	s, _, err := b.located(c)
	if err != nil {
		return err
	}
	defer closeMedia(s)
	removed, err := s.Prune(c.Context(), in, keep, time.Duration(days)*24*time.Hour)
	for _, f := range removed {
		b.Say("Removed %s.", cli.Safe(f.Path))
	}
	return err
}

// located is the service of a command, which need not exist.
func (b backupCommands) located(c *cobra.Command) (*backup.Service, location, error) {
	at, err := b.locate(c, b.flags)
	if err != nil {
		return nil, at, err
	}
	s, err := b.of(c.Context(), at)
	return s, at, err
}

func closeMedia(s *backup.Service) {
	if s.Media != nil {
		_ = s.Media.Close()
	}
}

type backupFileView struct {
	File      string                `json:"file" row:"1,FILE,text"`
	Size      int64                 `json:"size" row:"2,BYTES,thousands"`
	CreatedAt countersign.Timestamp `json:"created_at" row:"3,CREATED (UTC)"`
	Encrypted bool                  `json:"encrypted" row:"4,ENCRYPTED"`
}

func viewBackupFile(f backup.File) backupFileView {
	return backupFileView{File: f.Path, Size: f.Size, CreatedAt: countersign.At(f.CreatedAt), Encrypted: f.Encrypted}
}

func (b backupCommands) list() *cobra.Command {
	var from string
	c := &cobra.Command{Use: "list", Short: "List backups, the newest first", Args: cli.Args()}
	fromFlag(c, &from)
	c.RunE = func(c *cobra.Command, _ []string) error {
		s, _, err := b.located(c)
		if err != nil {
			return err
		}
		defer closeMedia(s)
		source, err := b.source(c, from, "", "")
		if err != nil {
			return err
		}
		list, err := s.List(c.Context(), source.Bucket)
		return cli.PrintList(b.Console, list, viewBackupFile, "No backups.", err)
	}
	return b.Listing(c)
}

func fromFlag(c *cobra.Command, from *string) {
	c.Flags().StringVar(from, "from", "", "`URL` of the bucket with the backups, as for create --out")
}

func identityFlag(c *cobra.Command, identity *string) {
	c.Flags().StringVar(identity, "identity", "", "`file` with the age private key of an encrypted backup")
}

// source is a backup that a command reads.
func (b backupCommands) source(c *cobra.Command, from, file, identity string) (s backup.Source, err error) {
	s.File = file
	if from != "" {
		s.Bucket, err = openBucket(c.Context(), from)
	}
	if err == nil && identity != "" {
		s.Identities, err = backup.ReadIdentities(identity)
	}
	return s, err
}

// damagedBackup ends a command with the exit code of a check that says no.
func damagedBackup(err error) error {
	if fault.HasCode(err, backup.CodeDamaged) {
		return cli.Fail(cli.ExitNo, backup.CodeDamaged, fault.Of(err).Message)
	}
	return err
}

func (b backupCommands) verify() *cobra.Command {
	var from, identity string
	c := &cobra.Command{
		Use: "verify FILE", Short: "Restore a backup into a temporary file and compare counts and sums", Args: cli.Args("FILE"),
		Long: `Restore a backup into a temporary file and compare counts and sums. Nothing else is changed.
The temporary folder needs room for the database. Exit code 4: the backup is damaged.`,
	}
	fromFlag(c, &from)
	identityFlag(c, &identity)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, _, err := b.located(c)
		if err != nil {
			return err
		}
		defer closeMedia(s)
		source, err := b.source(c, from, args[0], identity)
		if err != nil {
			return err
		}
		info, err := s.Verify(c.Context(), source)
		return b.Show(viewBackup(args[0], info), damagedBackup(err))
	}
	return c
}

// restoredView is what a restore did.
type restoredView struct {
	backupView
	Before  string   `json:"before,omitempty"`
	Aside   []string `json:"aside,omitempty"`
	Migrate bool     `json:"migrate"`
}

func (b backupCommands) restore() *cobra.Command {
	var from, identity string
	c := &cobra.Command{
		Use: "restore FILE", Short: "Replace everything by a backup", Args: cli.Args("FILE"),
		Long: `Replace the database, the key file and the uploaded files by those of a backup. What is
there is backed up first. No server may run on the data folder or the database. An interrupted
restore leaves everything as it was, or restored; it can be repeated.`,
	}
	fromFlag(c, &from)
	identityFlag(c, &identity)
	c.RunE = func(c *cobra.Command, args []string) error {
		s, at, err := b.located(c)
		if err != nil {
			return err
		}
		defer closeMedia(s)
		source, err := b.source(c, from, args[0], identity)
		if err != nil {
			return err
		}
		if err := b.Confirm(c.Context(), "Replace the "+b.service+" by the backup?"); err != nil {
			return err
		}
		lock, err := lockForCommand(c, at)
		if err != nil {
			return err
		}
		defer lock.Unlock()
		done, err := s.Restore(c.Context(), source)
		if err == nil && !done.Older {
			err = b.record(c, lock, done)
		}
		if err != nil {
			return damagedBackup(err)
		}
		return b.printRestored(args[0], done)
	}
	return c
}

func (b backupCommands) printRestored(file string, done backup.Restored) error {
	if done.Before != "" {
		b.Say("Backup of what was there before: %s", cli.Safe(done.Before))
	}
	for _, f := range done.Aside {
		b.Say("The damaged file was kept: %s", cli.Safe(f))
	}
	if done.Older {
		b.Say("The tables are of an older version; run: %s", b.migrate)
	}
	view := restoredView{viewBackup(file, done.Info), done.Before, done.Aside, done.Older}
	return b.Done(view, "Restored the backup of %s: %s rows.", done.Info.Header.CreatedAt.Format(time.RFC3339), cli.Thousands(done.Info.Rows()))
}
