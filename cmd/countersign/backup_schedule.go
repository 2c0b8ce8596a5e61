package main

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/spf13/cobra"
)

// scheduleFlags are the settings of scheduled backups. Those that are not given stay as they are.
type scheduleFlags struct {
	off, keyFile   bool
	every, at, out string
	recipients     []string
	keep           keepFlags
}

func (b backupCommands) schedule() *cobra.Command {
	var f scheduleFlags
	c := &cobra.Command{
		Use: "schedule", Short: "Show or change when the server writes backups by itself", Args: cli.Args(),
		Long: `Show or change when the server writes backups by itself. Any setting switches the schedule
on; settings that are not given stay as they are, and an empty value is the default. After each
backup the server restores it into a temporary file to verify it, removes old ones as --keep and
--keep-days say, and records the result. After a failure it tries again.

Without --at, the first backup is written at once. Several servers on one database write it
once. The URL of a bucket is kept encrypted and is not shown.`,
		Example: "  countersign " + b.service + " backup schedule --every 24h --at 03:00 --keep 14\n" +
			"  countersign " + b.service + " backup schedule --out s3://bucket?region=eu-central-1 --recipient age1…\n" +
			"  countersign " + b.service + " backup schedule --off",
	}
	c.Flags().BoolVar(&f.off, "off", false, "write no backups by schedule; the settings stay")
	c.Flags().StringVar(&f.every, "every", "", "`time` from one backup to the next, from 1h to 31d; default 24h")
	c.Flags().StringVar(&f.at, "at", "", "`time` of day in UTC, like 03:00")
	c.Flags().StringVar(&f.out, "out", "", "`folder`, or URL of a bucket; default the folder backups in the data folder of the server")
	c.Flags().BoolVar(&f.keyFile, "with-key-file", false, "put the key file into the backups")
	c.Flags().StringArrayVar(&f.recipients, "recipient", nil, "encrypt for this age `public key`; can be repeated")
	f.keep.register(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		change, err := f.read(c, b.Path)
		if err != nil {
			return err
		}
		return b.opened(c, func(ctx context.Context, i *instance.Instance) error {
			k := i.Backups
			if change == nil {
				s, err := k.Schedule(ctx, operator())
				return b.Show(viewSchedule(s, k.Service.Folder()), err)
			}
			s, err := k.SetSchedule(ctx, operator(), change)
			return b.Show(viewSchedule(s, k.Service.Folder()), err)
		})
	}
	return c
}

// read returns what the flags change, nil for nothing. open returns where a path leads.
func (f *scheduleFlags) read(c *cobra.Command, open func(path string) string) (change func(*backup.Settings), err error) {
	given := map[string]bool{}
	for _, name := range []string{"off", "every", "at", "out", "with-key-file", "recipient", "keep", "keep-days"} {
		if c.Flags().Changed(name) {
			given[name] = true
		}
	}
	if len(given) == 0 {
		return nil, nil
	}
	if f.off && len(given) > 1 {
		return nil, cli.Usage(c, "--off stands alone")
	}
	if err := f.keep.check(c, ""); err != nil {
		return nil, err
	}
	every := time.Duration(0)
	if f.every != "" {
		if every, err = cli.ParseAge(f.every); err != nil {
			return nil, cli.Usage(c, "--every: "+err.Error())
		}
	}
	if f.out != "" && !strings.Contains(f.out, "://") {
		if f.out, err = filepath.Abs(open(f.out)); err != nil {
			return nil, err
		}
	}
	return func(s *backup.Settings) { f.set(s, given, every) }, nil
}

// set writes the flags that were given into settings.
func (f *scheduleFlags) set(s *backup.Settings, given map[string]bool, every time.Duration) {
	s.Active = !f.off
	if given["every"] {
		s.Every = every
	}
	if given["at"] {
		s.At = f.at
	}
	if given["out"] {
		s.Out = f.out
	}
	if given["with-key-file"] {
		s.KeyFile = f.keyFile
	}
	if given["recipient"] {
		s.Recipients = nil
		for _, one := range f.recipients {
			if one != "" {
				s.Recipients = append(s.Recipients, one)
			}
		}
	}
	if given["keep"] {
		s.Keep.Count = f.keep.count
	}
	if given["keep-days"] {
		s.Keep.Age = f.keep.keep().Age
	}
}

// scheduleView is the schedule of backups and what was done.
type scheduleView struct {
	Active     bool                  `json:"active" card:"1,Active"`
	Every      string                `json:"every" card:"2,Every,optional"`
	At         string                `json:"at,omitempty" card:"3,At (UTC),optional"`
	Out        string                `json:"out" card:"4,Written to"`
	Recipients []string              `json:"recipients"`
	Encrypted  bool                  `json:"-" card:"5,Encrypted"`
	KeyFile    bool                  `json:"key_file" card:"6,With the key file"`
	Keep       int64                 `json:"keep"`
	KeepDays   int64                 `json:"keep_days"`
	Keeps      string                `json:"-" card:"7,Keeps"`
	Next       countersign.Timestamp `json:"next_run,omitzero" card:"8,Next run (UTC),optional"`
	Started    countersign.Timestamp `json:"last_run,omitzero" card:"9,Last run (UTC),optional"`
	Succeeded  countersign.Timestamp `json:"last_success,omitzero" card:"10,Last success (UTC),optional"`
	File       string                `json:"last_file,omitempty" card:"11,Last file,optional"`
	Failed     countersign.Timestamp `json:"last_failure,omitzero" card:"12,Last failure (UTC),optional"`
	Failure    string                `json:"failure,omitempty" card:"13,Reason,optional"`
}

// viewSchedule is the view of a schedule of a service whose backups are in a folder by default.
func viewSchedule(s backup.Schedule, folder string) scheduleView {
	v := scheduleView{
		Active: s.Active, At: s.At, Out: s.Destination, Recipients: append([]string{}, s.Recipients...), Encrypted: len(s.Recipients) > 0, KeyFile: s.KeyFile,
		Keep: int64(s.Keep.Count), KeepDays: int64(s.Keep.Age / (24 * time.Hour)), Keeps: "all",
		Started: countersign.At(s.StartedAt), Succeeded: countersign.At(s.SucceededAt), File: s.File, Failed: countersign.At(s.FailedAt), Failure: s.Failure,
	}
	if s.Every > 0 {
		v.Every = backup.EveryText(s.Every)
	}
	if v.Out == "" {
		v.Out = folder
	}
	var keeps []string
	if v.Keep > 0 {
		keeps = append(keeps, "the newest "+strconv.Itoa(s.Keep.Count))
	}
	if v.KeepDays > 0 {
		keeps = append(keeps, strconv.FormatInt(v.KeepDays, 10)+" days")
	}
	if len(keeps) > 0 {
		v.Keeps = strings.Join(keeps, " and ")
	}
	if s.Active {
		v.Next = countersign.At(s.Next)
	}
	return v
}
