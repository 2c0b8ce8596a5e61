package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAuditVerify(a *app, with withChain) *cobra.Command {
	return &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, removed or inserted (exit code 4)", Args: none,
		Long: `Check that no entry of the audit log was changed, removed or inserted in the database. Each
entry has a seal, made within a second, that stands on the one before; the last carries a
digest under the key file. Where the chain breaks, this says at which entry, and exits with 4.

Keep the last seal elsewhere from time to time: who can replace the whole database by an
older copy also replaces the seals, and then only such a note shows it.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return with(c, func(ctx context.Context, chain *people.AuditChain) error {
				report, err := chain.Verify(ctx, operator())
				if err != nil {
					return err
				}
				return a.printAuditReport(report)
			})
		},
	}
}

// auditReportJSON is a verification as --json prints it.
type auditReportJSON struct {
	Intact       bool                   `json:"intact"`
	Sealed       int64                  `json:"sealed"`
	Waiting      int64                  `json:"waiting"`
	SealedSince  *countersign.Timestamp `json:"sealed_since"`
	Inherited    int64                  `json:"inherited_up_to"`
	PrunedBefore *countersign.Timestamp `json:"pruned_before"`
	LastSeal     string                 `json:"last_seal"`
	Problems     []auditProblemJSON     `json:"problems"`
}

type auditProblemJSON struct {
	Entry int64  `json:"entry"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
}

// printAuditReport prints what was found. A chain that breaks is the exit code that
// says so.
func (a *app) printAuditReport(r people.AuditReport) error {
	shown := auditReportJSON{
		Intact: r.Intact(), Sealed: r.Sealed, Waiting: r.Waiting, SealedSince: orNull(countersign.At(r.SealedSince)), Inherited: r.Inherited,
		PrunedBefore: orNull(countersign.At(r.PrunedBefore)), LastSeal: r.LastSeal, Problems: []auditProblemJSON{},
	}
	pairs := []pair{
		{"Entries sealed", fmt.Sprint(r.Sealed)}, {"Not sealed yet", fmt.Sprint(r.Waiting)},
		{"Sealed since", second(countersign.At(r.SealedSince))}, {"Pruned before", second(countersign.At(r.PrunedBefore))}, {"Last seal", r.LastSeal},
	}
	if r.Inherited > 0 {
		pairs = append(pairs, pair{"Older than the seals", fmt.Sprintf("entries up to %d, sealed as they were then", r.Inherited)})
	}
	for _, p := range r.Problems {
		shown.Problems = append(shown.Problems, auditProblemJSON{p.Entry, p.Kind, p.Text})
		pairs = append(pairs, pair{"Problem", p.Text})
	}
	if err := a.printCard(shown, pairs...); err != nil {
		return err
	}
	if !r.Intact() {
		return fail(exitNo, "audit_broken", "the audit log was tampered with; keep a copy of the database, and compare it with your backups")
	}
	return nil
}
