package main

import (
	"context"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/spf13/cobra"
)

// damagedBackup ends a command with the exit code of a check that says no.
func damagedBackup(err error) error {
	for _, code := range []string{backup.CodeDamaged, backup.CodeWithoutCode} {
		if fault.HasCode(err, code) {
			return cli.Fail(cli.ExitNo, code, fault.Of(err).Message)
		}
	}
	return err
}

// notVerified ends a verification with the exit code of a check that says no, also for a backup of
// another service, and for one that the given identity does not open.
func (b backupCommands) notVerified(err error, identity bool) error {
	apiErr := fault.Of(err)
	if apiErr != nil && (apiErr.Code == "other_service" || apiErr.Code == backup.CodeEncrypted && identity) {
		return cli.Fail(cli.ExitNo, apiErr.Code, apiErr.Message)
	}
	return damagedBackup(err)
}

func (b backupCommands) verify() *cobra.Command {
	var flags sourceFlags
	c := &cobra.Command{
		Use: "verify FILE", Short: "Restore a backup into a temporary file and compare counts and sums", Args: cli.Args("FILE"),
		Long: `Restore a backup into a temporary file and compare counts and sums. The temporary folder
needs room for the database. For a backup of this ` + b.service + `, the database keeps a record of
it; doctor warns if the newest verified backup is older than a day.

The key file authenticates a backup by a code. One that somebody changed without that key
file is damaged. One without a code needs --without-code, and is not recorded.

Exit code 4: the backup is damaged, without a code, of another service, or not for the given identity.
Exit code 8: it is as it was written, but lacks uploaded files.`,
	}
	flags.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return b.reading(c, flags, args[0], func(s *backup.Service, _ location, from backup.Source) error {
			info, err := s.Verify(c.Context(), from)
			view := verifiedView{viewBackup(args[0], info), b.recordVerification(c, from, info, err), string(info.Authenticity)}
			if err := b.Show(view, b.notVerified(err, flags.identity != "")); err != nil {
				return err
			}
			return lacking(info)
		})
	}
	return c
}

// verifiedView is a backup that was verified.
type verifiedView struct {
	backupView
	// Recorded reports that the database keeps a record of it.
	Recorded bool `json:"recorded" card:"11,Recorded"`
	// Authenticated reports whether it is known that nobody changed it.
	Authenticated string `json:"authenticated" card:"12,Authenticated"`
}

// recordVerification records a verification that ended with failed or nil, and reports whether it did.
func (b backupCommands) recordVerification(c *cobra.Command, from backup.Source, info backup.Info, failed error) (recorded bool) {
	if failed != nil && !fault.HasCode(failed, backup.CodeDamaged) || info.Authenticity == backup.NoCode {
		return false
	}
	err := b.present(c, func(ctx context.Context, i *instance.Instance) (err error) {
		recorded, err = i.Backups.RecordVerification(ctx, operator(), from, info, failed)
		return err
	})
	switch {
	case err != nil:
		b.Say("Not recorded as verified: %s.", fault.Message(err))
	case !recorded && failed == nil:
		b.Say("Not recorded as verified: the backup belongs to another key file.")
	}
	return err == nil && recorded
}
