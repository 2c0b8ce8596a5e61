package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

func newAddonAudit(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "audit", Short: "Audit log: list, export, verify, prune",
	}, newAuditList(a), newAuditExport(a), newAuditVerify(a, chainOf(a.withAddon)),
		newAuditPrune(a, chainOf(a.withAddon)))
}

// newStoreAudit is the audit log of the store, which has no list yet.
func newStoreAudit(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "audit", Short: "The store's audit log: verify, prune",
	}, newAuditVerify(a, chainOf(a.withStore)),
		newAuditPrune(a, chainOf(a.withStore)))
}

// chainOf opens the audit log of a service.
func chainOf[S service](open opener[S]) opener[*people.AuditChain] {
	return func(c *cobra.Command, do func(context.Context, *people.AuditChain) error) error {
		return open(c, func(ctx context.Context, s S) error { return do(ctx, s.AuditChain()) })
	}
}

// auditFlags are those by which the log is narrowed.
func auditFlags(c *cobra.Command, f *people.AuditFilter) {
	c.Flags().StringVar(&f.Action, "about", "", "only this `action`, like settings.publish, or all of a noun, like settings")
	c.Flags().StringVar(&f.Actor, "who", "", "only what this `actor` did, for example an e-mail address")
	_ = c.RegisterFlagCompletionFunc("about", cobra.FixedCompletions(auditSubjects(), cobra.ShellCompDirectiveNoFileComp))
}

// auditSubjects lists what --about may name: the actions of the addon, and their nouns.
func auditSubjects() []string {
	var all []string
	for _, action := range access.Actions() {
		noun, _, _ := strings.Cut(string(action), ".")
		all = append(all, noun, string(action))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkSubject is the error of an --about that names nothing that this version writes.
func checkSubject(about string) error {
	all := auditSubjects()
	if about == "" || slices.Contains(all, about) {
		return nil
	}
	return cli.Fail(cli.ExitNotFound, "subject_not_found", fmt.Sprintf("no action or noun %q is written to the audit log%s; leave --about out to see all entries", about, cli.DidYouMean(about, all)))
}

// auditView is an entry of the audit log. Its members are those of an export.
type auditView struct {
	ID      int64                 `json:"id" row:"1,LINE"`
	At      countersign.Timestamp `json:"at" row:"2,WHEN (UTC),minute"`
	Kind    string                `json:"kind"`
	Actor   string                `json:"actor" row:"3,WHO,text"`
	Face    string                `json:"face" row:"4,VIA"`
	Address string                `json:"address"`
	Action  string                `json:"action" row:"5,ACTION"`
	Subject string                `json:"subject" row:"6,SUBJECT,text"`
	Detail  string                `json:"detail"`
	Before  string                `json:"before" row:"7,BEFORE,brief"`
	After   string                `json:"after" row:"8,AFTER,brief"`
}

func viewAudit(l people.AuditLine) auditView { return auditView(l.Row()) }

func newAuditList(a *app) *cobra.Command {
	var f people.AuditFilter
	c := on(a.withAddon, &cobra.Command{
		Use: "list", Short: "List the entries of the audit log, newest first", Args: cli.Args(),
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		view := func(l people.AuditLine) (int64, auditView) { return l.ID, viewAudit(l) }
		return listPages(a, f.Limit, f.Before, "No matching entries.", view, func(before int64, limit int) ([]people.AuditLine, error) {
			f.Before, f.Limit = before, limit
			lines, err := s.People().Audit(ctx, operator(), f)
			if err == nil && len(lines) == 0 {
				err = checkSubject(f.Action)
			}
			return lines, err
		})
	})
	auditFlags(c, &f)
	return a.Listing(pageFlags(c, &f.Limit, &f.Before, "an entry", "entries"))
}

func newAuditExport(a *app) *cobra.Command {
	var f people.AuditFilter
	c := on(a.withAddon, &cobra.Command{
		Use: "export", Short: "Write the whole audit log to stdout as CSV, newest first; with --json as JSON Lines", Args: cli.Args(),
		Example: "  countersign addon audit export > audit.csv",
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		format := people.AuditCSV
		if a.JSON {
			format = people.AuditJSONL
		}
		return s.People().ExportAudit(ctx, operator(), f, format, a.Lines(a.JSON))
	})
	auditFlags(c, &f)
	return c
}

func newAuditVerify(a *app, open opener[*people.AuditChain]) *cobra.Command {
	return on(open, &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, removed or inserted (exit code 4)", Args: cli.Args(),
		Long: `Check that no entry of the audit log was changed, removed or inserted in the database. Each
entry is sealed within a second. A seal is a digest of the entry and the previous seal; the
last is signed with the key file. If the chain is broken, the first affected entry is named.

From time to time, store the last seal in another place. An older copy of the whole database
has valid seals. Only such a record reveals it.`,
	}, func(ctx context.Context, chain *people.AuditChain, _ []string) error {
		report, err := chain.Verify(ctx, operator())
		if err := a.Show(viewAuditReport(report), err); err != nil {
			return err
		}
		if !report.Intact() {
			return cli.Fail(cli.ExitNo, "audit_broken", "the audit log was tampered with; keep a copy of the database, and compare it with your backups")
		}
		return nil
	})
}

type auditReportView struct {
	Intact       bool                   `json:"intact"`
	Sealed       int64                  `json:"sealed" card:"1,Entries sealed"`
	Waiting      int64                  `json:"waiting" card:"2,Not sealed yet"`
	SealedSince  *countersign.Timestamp `json:"sealed_since" card:"3,Sealed since"`
	Inherited    int64                  `json:"inherited_up_to"`
	PrunedBefore *countersign.Timestamp `json:"pruned_before" card:"4,Pruned before"`
	LastSeal     string                 `json:"last_seal" card:"5,Last seal"`
	Problems     []auditProblemView     `json:"problems"`
	Notes        []cli.Line             `json:"-" card:"6,"`
}

type auditProblemView struct {
	Entry int64  `json:"entry"`
	Kind  string `json:"kind"`
	Text  string `json:"text"`
}

func viewAuditReport(r people.AuditReport) auditReportView {
	v := auditReportView{
		Intact: r.Intact(), Sealed: r.Sealed, Waiting: r.Waiting, SealedSince: cli.OrNull(countersign.At(r.SealedSince)), Inherited: r.Inherited,
		PrunedBefore: cli.OrNull(countersign.At(r.PrunedBefore)), LastSeal: r.LastSeal, Problems: []auditProblemView{},
	}
	if r.Inherited > 0 {
		v.Notes = cli.Lines("Older than the seals", fmt.Sprintf("entries up to %d, sealed as they were then", r.Inherited))
	}
	for _, p := range r.Problems {
		v.Problems = append(v.Problems, auditProblemView{p.Entry, p.Kind, p.Text})
		v.Notes = append(v.Notes, cli.Line{Label: "Problem", Value: p.Text})
	}
	return v
}

func newAuditPrune(a *app, open opener[*people.AuditChain]) *cobra.Command {
	var older time.Duration
	c := on(open, &cobra.Command{
		Use: "prune --older-than AGE", Short: "Remove old entries of the audit log; the rest can still be verified", Args: cli.Args(),
		Long: `Remove entries older than an age from the audit log. A signed cut replaces them, so that the
rest can still be verified, and a new entry records their number. A log that was tampered
with is not pruned. First export the entries that you have to keep.`,
		PreRunE: cli.Refuse(func() bool { return older == 0 }, "say how old the entries must be, like --older-than 365d"),
	}, func(ctx context.Context, chain *people.AuditChain, _ []string) error {
		before := a.Now().Add(-older)
		n, err := chain.PlanPrune(ctx, operator(), before)
		if err == nil && n > 0 {
			err = a.Confirm(ctx, fmt.Sprintf("Remove about %s from before %s?", cli.Count(n, "entry", "entries"), cli.Second(countersign.At(before))))
		}
		if err != nil {
			return err
		}
		removed, err := chain.Prune(ctx, operator(), before)
		if err != nil {
			return err
		}
		return a.Done(struct {
			Removed int64                 `json:"removed"`
			Before  countersign.Timestamp `json:"before"`
		}{removed, countersign.At(before)}, "Removed %s from before %s.", cli.Count(removed, "entry", "entries"), cli.Second(countersign.At(before)))
	})
	cli.Var(c.Flags(), &older, cli.ParseAge, "age", "older-than", "remove entries older than this `age`, like 365d or 720h")
	return c
}
