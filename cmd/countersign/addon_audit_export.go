package main

import (
	"context"
	"io"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAuditExport(a *app) *cobra.Command {
	var f people.AuditFilter
	c := &cobra.Command{
		Use: "export", Short: "Write the whole audit log to stdout as CSV, newest first; with --json as JSON Lines", Args: none,
		Example: "  countersign addon audit export > audit.csv",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				format, by := people.AuditCSV, safeText
				if a.json {
					format, by = people.AuditJSONL, safeJSON
				}
				var out io.Writer = a.term.out
				if a.term.out.isTerminal {
					out = &safeLines{to: a.term.out, by: by}
				}
				return s.People().ExportAudit(ctx, operator(), f, format, out)
			})
		},
	}
	auditFlags(c, &f)
	return c
}
