package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newAddonAudit(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "audit", Short: "Who did what, when and from where: list, export, verify, prune", SuggestionsMinimumDistance: 2,
	}, newAuditList(a), newAuditExport(a), newAuditVerify(a, a.withAddonChain), newAuditPrune(a, a.withAddonChain))
}

// newStoreAudit is the audit log of the store, which has no list yet.
func newStoreAudit(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "audit", Short: "The store's audit log: verify, prune", SuggestionsMinimumDistance: 2,
	}, newAuditVerify(a, a.withStoreChain), newAuditPrune(a, a.withStoreChain))
}

// withChain runs do on the chain of one service's audit log.
type withChain func(c *cobra.Command, do func(context.Context, *people.AuditChain) error) error

func (a *app) withAddonChain(c *cobra.Command, do func(context.Context, *people.AuditChain) error) error {
	return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return do(ctx, s.AuditChain()) })
}

func (a *app) withStoreChain(c *cobra.Command, do func(context.Context, *people.AuditChain) error) error {
	return a.withStore(c, func(ctx context.Context, s *store.Store) error { return do(ctx, s.AuditChain()) })
}

// auditFlags are those by which the log is narrowed.
func auditFlags(c *cobra.Command, f *people.AuditFilter) {
	c.Flags().StringVar(&f.Action, "about", "", "only this `action`, like settings.publish, or all of a noun, like settings")
	c.Flags().StringVar(&f.Actor, "who", "", "only what this `actor` did, for example an e-mail address")
}
