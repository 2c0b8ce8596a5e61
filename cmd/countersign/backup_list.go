package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/spf13/cobra"
)

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
	var flags sourceFlags
	c := &cobra.Command{Use: "list", Short: "List backups, the newest first, and when they were verified", Args: cli.Args()}
	flags.registerFrom(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		return b.reading(c, flags, "", func(s *backup.Service, _ location, from backup.Source) error {
			list, err := s.List(c.Context(), backup.Destination{Bucket: from.Bucket})
			var verified []backup.Verification
			if len(list) > 0 {
				verified = b.verified(c)
			}
			view := func(f backup.File) backupFileView {
				v := backup.Recorded(verified, backup.Source{File: f.Path, Bucket: from.Bucket})
				return backupFileView{
					File: f.Path, Size: f.Size, CreatedAt: countersign.At(f.CreatedAt), Encrypted: f.Encrypted, Verified: countersign.At(v.VerifiedAt), Problem: v.Problem,
				}
			}
			return cli.PrintList(b.Console, list, view, "No backups.", err)
		})
	}
	return b.Listing(c)
}

// verified reads which backups were verified, none where no service is set up.
func (b backupCommands) verified(c *cobra.Command) (list []backup.Verification) {
	err := b.present(c, func(ctx context.Context, i *instance.Instance) (err error) {
		list, err = i.Backups.Verifications(ctx, operator())
		return err
	})
	if err != nil {
		b.Say("Which backups were verified is not known: %s.", fault.Message(err))
	}
	return list
}
