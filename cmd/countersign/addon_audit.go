package main

import (
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAddonAudit(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "audit", Short: "Who did what, when and from where: list, export", SuggestionsMinimumDistance: 2,
	}, newAuditList(a), newAuditExport(a))
}

// auditFlags are those by which the log is narrowed.
func auditFlags(c *cobra.Command, f *people.AuditFilter) {
	c.Flags().StringVar(&f.Action, "about", "", "only this `action`, like settings.publish, or all of a noun, like settings")
	c.Flags().StringVar(&f.Actor, "who", "", "only what this `actor` did, for example an e-mail address")
}
