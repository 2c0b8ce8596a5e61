package main

import (
	"context"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsHistory(a *app) *cobra.Command {
	var limit int
	var before int64
	c := &cobra.Command{
		Use: "history", Short: "List the published versions, newest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if limit < 1 || limit > 500 || before < 0 {
				return usage(c, "--limit is a number from 1 to 500, and --before that of a version")
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				versions, err := s.Settings.Versions(ctx, operator(), before, limit)
				if err != nil {
					return err
				}
				return a.printVersions(versions, limit)
			})
		},
	}
	c.Flags().IntVar(&limit, "limit", 50, "how many at most, up to 500")
	c.Flags().Int64Var(&before, "before", 0, "only versions before this `number`")
	return c
}

func (a *app) printVersions(versions []settings.Version, limit int) error {
	l := a.newList("VERSION", "PUBLISHED (UTC)", "BY", "VIA", "NOTE")
	for _, v := range versions {
		note := v.Note
		if v.Restored != 0 {
			note += " (back to version " + strconv.FormatInt(v.Restored, 10) + ")"
		}
		if err := l.add(jsonOfVersion(v), strconv.FormatInt(v.Number, 10), minute(countersign.At(v.At)), v.Actor, string(v.Face), note); err != nil {
			return err
		}
	}
	if err := l.end("No earlier version."); err != nil {
		return err
	}
	if len(versions) == limit && versions[limit-1].Number > 1 {
		a.say("There are earlier ones: --before %d lists them.", versions[limit-1].Number)
	}
	return nil
}
