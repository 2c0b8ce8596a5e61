package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// backupCommands are the commands for the backups of a service.
type backupCommands struct {
	*app
	service string // as in a sentence
	flags   locationFlags
	// opened opens a service that is set up.
	opened opener[*instance.Instance]
	// present is opened for a service that may not be there; it creates nothing.
	present opener[*instance.Instance]
	// of returns the backups of the service at a location, which need not exist.
	of func(location) (*backup.Service, error)
	// restored opens a service that was restored, under the lock of its folder.
	restored func(*cobra.Command, *sqldb.FolderLock, func(context.Context, *instance.Instance) error) error
}

func newStoreBackup(a *app) *cobra.Command {
	return backupCommands{
		app: a, service: "store", flags: storeLocation, opened: a.onStore,
		present: func(c *cobra.Command, do func(context.Context, *instance.Instance) error) error {
			return a.openStore(c, store.Options{Options: instance.Options{NoCreate: true}}, func(ctx context.Context, s *store.Store) error {
				if err := s.PrepareToRead(ctx); err != nil {
					return err
				}
				return do(ctx, s.Instance)
			})
		},
		of: func(at location) (*backup.Service, error) {
			return store.Backups(a.storeOptions(at, nil, store.Options{}))
		},
		restored: func(c *cobra.Command, lock *sqldb.FolderLock, do func(context.Context, *instance.Instance) error) error {
			return a.openStore(c, store.Options{Options: instance.Options{Lock: lock}}, func(ctx context.Context, s *store.Store) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return do(ctx, s.Instance)
			})
		},
	}.group()
}

func newAddonBackup(a *app) *cobra.Command {
	return backupCommands{
		app: a, service: "addon", flags: addonLocation, opened: a.onAddon, present: a.onAddon,
		of: func(at location) (*backup.Service, error) {
			return addon.Product.Backups(a.instanceOptions(at, nil, instance.Options{})), nil
		},
		restored: func(c *cobra.Command, lock *sqldb.FolderLock, do func(context.Context, *instance.Instance) error) error {
			return a.openAddon(c, addon.Options{Options: instance.Options{Lock: lock}}, func(ctx context.Context, s *addon.Addon) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return do(ctx, s.Instance)
			})
		},
	}.group()
}

func (b backupCommands) group() *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "backup", Short: "Backups: create, schedule, list, verify, restore",
	}, b.create(), b.schedule(), b.list(), b.verify(), b.restore())
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
	// Lacks are uploaded files that are missing or damaged.
	Lacks string `json:"lacks,omitempty" card:"10,Lacks,optional"`
}

// createdView is a new backup.
type createdView struct {
	backupView
	Size int64 `json:"size" card:"2,Bytes,thousands"`
}

func viewBackup(file string, i backup.Info) backupView {
	lacks := ""
	if len(i.Lacks) > 0 {
		lacks = blob.LacksText(i.Lacks)
	}
	return backupView{
		File: file, CreatedAt: countersign.At(i.Header.CreatedAt), Engine: string(i.Header.Engine), Tables: int64(len(i.Header.Tables)),
		Rows: i.Rows(), Files: i.Manifest.Media.Count, KeyFile: i.Header.KeyFile, Encrypted: i.Encrypted, Lacks: lacks,
	}
}

func (b backupCommands) create() *cobra.Command {
	var o backup.CreateOptions
	var out string
	var recipients []string
	var keep keepFlags
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
	keep.register(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := keep.check(c, out); err != nil {
			return err
		}
		var err error
		if o.Recipients, err = backup.ParseRecipients(recipients); err != nil {
			return err
		}
		if err := b.placeBackup(c.Context(), out, &o); err != nil {
			return err
		}
		if o.Bucket != nil {
			defer o.Bucket.Close()
		}
		return b.opened(c, func(ctx context.Context, i *instance.Instance) error {
			k := i.Backups
			made, err := k.Create(ctx, operator(), o)
			if err != nil {
				return err
			}
			if made.Unrecorded != nil {
				b.Warn("The backup was written, but the audit log has no entry of it: %s.", fault.Message(made.Unrecorded))
			}
			removed, err := k.Prune(ctx, operator(), backup.Destination{Bucket: o.Bucket}, keep.keep())
			for _, f := range removed {
				b.Say("Removed %s.", cli.Safe(f.Path))
			}
			if err != nil {
				b.Warn("The backup was written, but old ones could not be removed: %s.", fault.Message(err))
			}
			if err := b.Show(createdView{viewBackup(made.File, made.Info), made.Size}, nil); err != nil {
				return err
			}
			return lacking(made.Info)
		})
	}
	return c
}

// lacking ends a command with the exit code of what was done in part if a backup lacks uploaded files.
func lacking(i backup.Info) error {
	if len(i.Lacks) == 0 {
		return nil
	}
	return cli.Fail(cli.ExitPartly, backup.CodeFilesMissing, "the backup has all rows, but lacks "+blob.LacksText(i.Lacks))
}
