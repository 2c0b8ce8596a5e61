package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/cobra"
)

// keepFlags say which backups stay.
type keepFlags struct{ count, days int }

func (k *keepFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&k.count, "keep", 0, "then remove older backups, but `N` of the newest")
	c.Flags().IntVar(&k.days, "keep-days", 0, "then remove older backups, but those of the last `N` days")
}

// check is an error for values that mean nothing, and for a backup whose file has a name of its own.
func (k *keepFlags) check(c *cobra.Command, out string) error {
	some := k.count > 0 || k.days > 0
	if k.count < 0 || k.days < 0 || k.days > maxDays || (some && out != "" && !strings.Contains(out, "://")) {
		return cli.Usage(c, "--keep and --keep-days are numbers above zero, for the default folder or a bucket")
	}
	return nil
}

// maxDays is a number of days that a duration can hold.
const maxDays = 36500

func (k *keepFlags) keep() backup.Keep {
	return backup.Keep{Count: k.count, Age: time.Duration(k.days) * 24 * time.Hour}
}

// placeBackup reads where a backup goes.
func (a *app) placeBackup(ctx context.Context, out string, o *backup.CreateOptions) (err error) {
	switch info, statErr := os.Stat(a.Path(out)); {
	case out == "":
	case out == "-":
		err = cli.Fail(cli.ExitUsage, "usage", "a backup can't be written to stdout; name a file, a folder or a bucket with --out")
	case strings.Contains(out, "://"):
		o.Bucket, err = backup.OpenBucket(out)
	case (statErr == nil && info.IsDir()) || strings.HasSuffix(out, string(filepath.Separator)):
		o.Folder = a.Path(out)
	default:
		o.File = a.Path(out)
	}
	return err
}
