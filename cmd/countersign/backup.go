package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/backup"
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
	// opened opens the backups of a service that is set up.
	opened opener[*backup.Keeper]
	// present is opened for a service that may not be there; it creates nothing.
	present opener[*backup.Keeper]
	// service of a location, which need not exist.
	of func(context.Context, location) (*backup.Service, error)
	// restored opens the backups of a service that was restored, under the lock of its folder.
	restored func(*cobra.Command, *sqldb.FolderLock, func(context.Context, *backup.Keeper) error) error
	// migrate is the command that brings the tables to this version.
	migrate string
}

func newStoreBackup(a *app) *cobra.Command {
	return backupCommands{
		app: a, service: "store", flags: storeLocation, migrate: "countersign store migrate up",
		opened: func(c *cobra.Command, do func(context.Context, *backup.Keeper) error) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error { return do(ctx, s.Backups) })
		},
		present: func(c *cobra.Command, do func(context.Context, *backup.Keeper) error) error {
			return a.openStore(c, store.Options{NoCreate: true}, func(ctx context.Context, s *store.Store) error {
				if err := s.PrepareToRead(ctx); err != nil {
					return err
				}
				return do(ctx, s.Backups)
			})
		},
		of: func(ctx context.Context, at location) (*backup.Service, error) {
			return store.Backups(ctx, a.storeOptions(at, nil, store.Options{}))
		},
		restored: func(c *cobra.Command, lock *sqldb.FolderLock, do func(context.Context, *backup.Keeper) error) error {
			return a.openStore(c, store.Options{Lock: lock}, func(ctx context.Context, s *store.Store) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return do(ctx, s.Backups)
			})
		},
	}.group()
}

func newAddonBackup(a *app) *cobra.Command {
	opened := func(c *cobra.Command, do func(context.Context, *backup.Keeper) error) error {
		return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return do(ctx, s.Backups) })
	}
	return backupCommands{
		app: a, service: "addon", flags: addonLocation, migrate: "countersign addon update", opened: opened, present: opened,
		of: func(_ context.Context, at location) (*backup.Service, error) {
			return addon.Backups(a.addonOptions(at, nil, addon.Options{})), nil
		},
		restored: func(c *cobra.Command, lock *sqldb.FolderLock, do func(context.Context, *backup.Keeper) error) error {
			return a.openAddon(c, addon.Options{Lock: lock}, func(ctx context.Context, s *addon.Addon) error {
				if err := s.Prepare(ctx); err != nil {
					return err
				}
				return do(ctx, s.Backups)
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
		if err := placeBackup(c.Context(), out, &o); err != nil {
			return err
		}
		if o.Bucket != nil {
			defer o.Bucket.Close()
		}
		return b.opened(c, func(ctx context.Context, k *backup.Keeper) error {
			made, err := k.Create(ctx, operator(), o)
			if err != nil {
				return err
			}
			if made.Unrecorded != nil {
				b.Warn("The backup was written, but the audit log has no entry of it: %s.", fault.Message(made.Unrecorded))
			}
			removed, err := k.Prune(ctx, operator(), backup.Place{Bucket: o.Bucket}, keep.keep())
			for _, f := range removed {
				b.Say("Removed %s.", cli.Safe(f.Path))
			}
			if err != nil {
				b.Warn("The backup was written, but old ones could not be removed: %s.", fault.Message(err))
			}
			return b.Show(createdView{viewBackup(made.File, made.Info), made.Size}, nil)
		})
	}
	return c
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
	// Verified is when it was verified last, Problem what was wrong with it then.
	Verified countersign.Timestamp `json:"verified_at,omitzero" row:"5,VERIFIED (UTC)"`
	Problem  string                `json:"problem,omitempty" row:"6,PROBLEM"`
}

func (b backupCommands) list() *cobra.Command {
	var from string
	c := &cobra.Command{Use: "list", Short: "List backups, the newest first, and when they were verified", Args: cli.Args()}
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
		list, err := s.List(c.Context(), backup.Place{Bucket: source.Bucket})
		var verified []backup.Verification
		if len(list) > 0 {
			verified = b.verified(c)
		}
		view := func(f backup.File) backupFileView {
			v := backup.Recorded(verified, backup.Source{File: f.Path, Bucket: source.Bucket})
			return backupFileView{
				File: f.Path, Size: f.Size, CreatedAt: countersign.At(f.CreatedAt), Encrypted: f.Encrypted, Verified: countersign.At(v.VerifiedAt), Problem: v.Problem,
			}
		}
		return cli.PrintList(b.Console, list, view, "No backups.", err)
	}
	return b.Listing(c)
}

// verified reads which backups were verified, none where no service is set up.
func (b backupCommands) verified(c *cobra.Command) (list []backup.Verification) {
	err := b.present(c, func(ctx context.Context, k *backup.Keeper) (err error) {
		list, err = k.Verifications(ctx, operator())
		return err
	})
	if err != nil {
		b.Say("Which backups were verified is not known: %s.", fault.Message(err))
	}
	return list
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
		s.Bucket, err = backup.OpenBucket(c.Context(), from)
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

// notVerified ends a verification with the exit code of a check that says no, also for a backup of
// another service, and for one that the given identity does not open.
func (b backupCommands) notVerified(err error, identity bool) error {
	ours := fault.Of(err)
	if ours != nil && (ours.Code == "other_service" || ours.Code == backup.CodeEncrypted && identity) {
		return cli.Fail(cli.ExitNo, ours.Code, ours.Message)
	}
	return damagedBackup(err)
}

func (b backupCommands) verify() *cobra.Command {
	var from, identity string
	c := &cobra.Command{
		Use: "verify FILE", Short: "Restore a backup into a temporary file and compare counts and sums", Args: cli.Args("FILE"),
		Long: `Restore a backup into a temporary file and compare counts and sums. The temporary folder
needs room for the database. For a backup of this ` + b.service + `, the database keeps a record of
it; doctor warns if the newest verified backup is older than a day.

Exit code 4: the backup is damaged, of another service, or not for the given identity.`,
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
		view := verifiedView{viewBackup(args[0], info), b.recordVerification(c, source, info, err)}
		return b.Show(view, b.notVerified(err, identity != ""))
	}
	return c
}

// verifiedView is a backup that was verified.
type verifiedView struct {
	backupView
	// Recorded reports that the database keeps a record of it.
	Recorded bool `json:"recorded" card:"10,Recorded"`
}

// recordVerification records a verification that ended with failed or nil, and reports whether it did.
func (b backupCommands) recordVerification(c *cobra.Command, from backup.Source, info backup.Info, failed error) (recorded bool) {
	if failed != nil && !fault.HasCode(failed, backup.CodeDamaged) {
		return false
	}
	err := b.present(c, func(ctx context.Context, k *backup.Keeper) (err error) {
		recorded, err = k.RecordVerification(ctx, operator(), from, info, failed)
		return err
	})
	switch {
	case err != nil:
		b.Say("Not recorded as verified: %s.", fault.Message(err))
	case !recorded && failed == nil:
		b.Say("Not recorded as verified: the backup belongs to another %s.", b.service)
	}
	return err == nil && recorded
}
