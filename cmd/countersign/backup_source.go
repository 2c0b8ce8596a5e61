package main

import (
	"github.com/countersign/countersign/internal/backup"
	"github.com/spf13/cobra"
)

// sourceFlags say where a backup is read from, and what decrypts it.
type sourceFlags struct {
	from, identity string
	withoutCode    bool
}

func (f *sourceFlags) register(c *cobra.Command) {
	f.registerFrom(c)
	c.Flags().StringVar(&f.identity, "identity", "", "`file` with the age private key of an encrypted backup")
	c.Flags().BoolVar(&f.withoutCode, "without-code", false, "accept a backup without an authentication code, as earlier versions wrote it")
}

func (f *sourceFlags) registerFrom(c *cobra.Command) {
	c.Flags().StringVar(&f.from, "from", "", "`URL` of the bucket with the backups, as for create --out")
}

// reading calls do with the service of a command, which need not exist, and with a backup of it.
func (b backupCommands) reading(c *cobra.Command, f sourceFlags, file string, do func(*backup.Service, location, backup.Source) error) error {
	at, err := b.locate(c, b.flags)
	if err != nil {
		return err
	}
	s, err := b.of(at)
	if err != nil {
		return err
	}
	if s.Media != nil {
		defer s.Media.Close()
	}
	from := backup.Source{File: file, WithoutCode: f.withoutCode}
	if f.from == "" {
		from.File = b.Path(file)
	}
	if f.from != "" {
		if from.Bucket, err = backup.OpenBucket(f.from); err != nil {
			return err
		}
		defer from.Bucket.Close()
	}
	if f.identity != "" {
		if from.Identities, err = backup.ReadIdentities(b.Path(f.identity)); err != nil {
			return err
		}
	}
	return do(s, at, from)
}
