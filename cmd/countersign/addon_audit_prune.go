package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAuditPrune(a *app, with withChain) *cobra.Command {
	var older ageValue
	c := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Remove old entries of the audit log; the rest can be verified as before", Args: none,
		Long: `Remove the entries of the audit log that are older than an age. A sealed cut takes their
place, so that the rest can be verified as before, and an entry says how many were removed.
A log that was tampered with is not pruned. Export first what you have to keep.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if older.Duration == 0 {
				return usage(c, "say how old the entries must be, like --older-than 365d")
			}
			before := a.now().Add(-older.Duration)
			return with(c, func(ctx context.Context, chain *people.AuditChain) error {
				n, err := chain.PlanPrune(ctx, operator(), before)
				if err != nil {
					return err
				}
				if n > 0 {
					err = a.confirm(ctx, fmt.Sprintf("Remove about %s from before %s?", count(int(n), "entry", "entries"), second(countersign.At(before))))
				}
				if err != nil {
					return err
				}
				removed, err := chain.Prune(ctx, operator(), before)
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						Removed int64                 `json:"removed"`
						Before  countersign.Timestamp `json:"before"`
					}{removed, countersign.At(before)})
				}
				a.say("Removed %s from before %s.", count(int(removed), "entry", "entries"), second(countersign.At(before)))
				return nil
			})
		},
	}
	c.Flags().Var(&older, "older-than", "remove entries older than this `age`, like 365d or 720h")
	return c
}
