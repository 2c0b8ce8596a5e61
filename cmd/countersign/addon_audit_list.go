package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAuditList(a *app) *cobra.Command {
	var f people.AuditFilter
	c := &cobra.Command{
		Use: "list", Short: "List the lines of the audit log, newest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.Limit < 1 || f.Limit > 500 || f.Before < 0 {
				return usage(c, "--limit is a number from 1 to 500, and --before that of a line")
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				lines, err := s.People().Audit(ctx, operator(), f)
				if err != nil {
					return err
				}
				return a.printAudit(lines, f.Limit)
			})
		},
	}
	auditFlags(c, &f)
	c.Flags().IntVar(&f.Limit, "limit", 50, "how many at most, up to 500")
	c.Flags().Int64Var(&f.Before, "before", 0, "only lines before this `number`")
	return c
}

func (a *app) printAudit(lines []people.AuditLine, limit int) error {
	l := a.newList("LINE", "WHEN (UTC)", "WHO", "VIA", "ACTION", "SUBJECT", "BEFORE", "AFTER")
	for _, line := range lines {
		if err := l.add(line.Row(), idText(line.ID), minute(countersign.At(line.At)), line.Actor, string(line.Face), string(line.Action), line.Subject, brief(line.Before), brief(line.After)); err != nil {
			return err
		}
	}
	if err := l.end("The audit log has no such line."); err != nil {
		return err
	}
	if len(lines) == limit {
		a.say("There may be earlier ones: --before %d lists them.", lines[limit-1].ID)
	}
	return nil
}

// brief keeps a long value from tearing a table apart; --json has all of it.
func brief(text string) string {
	const limit = 40
	if characters := []rune(text); len(characters) > limit {
		return string(characters[:limit]) + "…"
	}
	return text
}
