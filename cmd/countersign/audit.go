package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newAddonAudit(a *app) *cobra.Command {
	log := auditCommands[auditView]{
		app: a, open: a.onAddon, service: "addon", actions: access.Actions(), example: "settings.publish",
		view: func(l people.AuditLine) auditView { return auditView(l.Row(false)) },
	}
	return cli.Group(&cobra.Command{
		Use: "audit", Short: "Audit log: list, export, verify, prune",
	}, log.list(), log.export(), newAuditVerify(a, a.onAddon), newAuditPrune(a, a.onAddon))
}

func newStoreAudit(a *app) *cobra.Command {
	log := auditCommands[storeAuditView]{
		app: a, open: a.onStore, service: "store", actions: store.Actions(), example: "purchase.refund",
		view: func(l people.AuditLine) storeAuditView { return storeAuditView(l.Row(true)) }, workspaces: true,
	}
	return cli.Group(&cobra.Command{
		Use: "audit", Short: "The store's audit log: list, export, verify, prune",
	}, log.list(), log.export(), newAuditVerify(a, a.onStore), newAuditPrune(a, a.onStore))
}

// auditCommands are the commands that read the audit log of a service, whose entries are
// printed as V.
type auditCommands[V any] struct {
	app     *app
	open    opener[*instance.Instance]
	service string // the name of the service's commands
	actions []people.Action
	example string // one of the actions
	view    func(people.AuditLine) V
	// workspaces reports that entries may be about a workspace.
	workspaces bool
}

// flags adds those by which the log is narrowed.
func (l auditCommands[V]) flags(c *cobra.Command, f *people.AuditFilter) {
	noun, _, _ := strings.Cut(l.example, ".")
	c.Flags().StringVar(&f.Action, "about", "", "only this `action`, like "+l.example+", or all of a noun, like "+noun)
	c.Flags().StringVar(&f.Actor, "who", "", "only what this `actor` did, for example an e-mail address")
	_ = c.RegisterFlagCompletionFunc("about", cobra.FixedCompletions(l.subjects(), cobra.ShellCompDirectiveNoFileComp))
	if l.workspaces {
		l.app.workspaceFlag(c, &f.Workspace, "only entries about the workspace with this `username`")
	}
}

// subjects lists what --about may name: the actions of the service, and their nouns.
func (l auditCommands[V]) subjects() []string {
	var all []string
	for _, action := range l.actions {
		noun, _, _ := strings.Cut(string(action), ".")
		all = append(all, noun, string(action))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// checkSubject is the error of an --about that names nothing that this version writes.
func (l auditCommands[V]) checkSubject(about string) error {
	all := l.subjects()
	if about == "" || slices.Contains(all, about) {
		return nil
	}
	return cli.Fail(cli.ExitNotFound, "subject_not_found", fmt.Sprintf("no action or noun %q is written to the audit log%s; leave --about out to see all entries", about, cli.DidYouMean(about, all)))
}

func (l auditCommands[V]) list() *cobra.Command {
	var f people.AuditFilter
	c := on(l.open, &cobra.Command{
		Use: "list", Short: "List the entries of the audit log, newest first", Args: cli.Args(),
		Example: fmt.Sprintf("  countersign %s audit list --about %s --limit 10", l.service, l.example),
	}, func(ctx context.Context, i *instance.Instance, _ []string) error {
		view := func(line people.AuditLine) (int64, V) { return line.ID, l.view(line) }
		return listPages(l.app, f.Limit, f.Before, "No matching entries.", view, func(before int64, limit int) ([]people.AuditLine, error) {
			f.Before, f.Limit = before, limit
			lines, err := i.Audit.Audit(ctx, operator(), f)
			if err == nil && len(lines) == 0 {
				err = l.checkSubject(f.Action)
			}
			return lines, err
		})
	})
	l.flags(c, &f)
	return l.app.Listing(pageFlags(c, &f.Limit, &f.Before, "an entry", "entries"))
}

func (l auditCommands[V]) export() *cobra.Command {
	var f people.AuditFilter
	c := on(l.open, &cobra.Command{
		Use: "export", Short: "Write the whole audit log to stdout as CSV, newest first; with --json as JSON Lines", Args: cli.Args(),
		Example: fmt.Sprintf("  countersign %s audit export > audit.csv", l.service),
	}, func(ctx context.Context, i *instance.Instance, _ []string) error {
		format := people.AuditCSV
		if l.app.JSON {
			format = people.AuditJSONL
		}
		return i.Audit.ExportAudit(ctx, operator(), f, format, l.app.Lines(l.app.JSON))
	})
	l.flags(c, &f)
	return c
}

// auditView is an entry of the addon's audit log. Its members are those of an export.
type auditView struct {
	ID        int64                 `json:"id" row:"1,LINE"`
	At        countersign.Timestamp `json:"at" row:"2,WHEN (UTC),minute"`
	Kind      string                `json:"kind"`
	Actor     string                `json:"actor" row:"3,WHO,text"`
	FrontEnd  string                `json:"face" row:"4,VIA"`
	Address   string                `json:"address"`
	Action    string                `json:"action" row:"5,ACTION"`
	Workspace *string               `json:"-"`
	Subject   string                `json:"subject" row:"6,SUBJECT,text"`
	Detail    string                `json:"detail"`
	Before    string                `json:"before" row:"7,BEFORE,brief"`
	After     string                `json:"after" row:"8,AFTER,brief"`
}

// storeAuditView is an entry of the store's audit log. Its members are those of an export.
type storeAuditView struct {
	ID        int64                 `json:"id" row:"1,LINE"`
	At        countersign.Timestamp `json:"at" row:"2,WHEN (UTC),minute"`
	Kind      string                `json:"kind"`
	Actor     string                `json:"actor" row:"3,WHO,text"`
	FrontEnd  string                `json:"face" row:"4,VIA"`
	Address   string                `json:"address"`
	Action    string                `json:"action" row:"5,ACTION"`
	Workspace *string               `json:"workspace" row:"6,WORKSPACE"`
	Subject   string                `json:"subject" row:"7,SUBJECT,text"`
	Detail    string                `json:"detail"`
	Before    string                `json:"before" row:"8,BEFORE,brief"`
	After     string                `json:"after" row:"9,AFTER,brief"`
}

func newAuditVerify(a *app, open opener[*instance.Instance]) *cobra.Command {
	return on(open, &cobra.Command{
		Use: "verify", Short: "Check that no entry of the audit log was changed, removed or inserted (exit code 4)", Args: cli.Args(),
		Long: `Check that no entry of the audit log was changed, removed or inserted in the database. Each
entry is sealed within a second. A seal is a digest of the entry and the previous seal; the
last is signed with the key file. If the chain is broken, the first affected entry is named.

From time to time, store the last seal in another place. An older copy of the whole database
has valid seals. Only such a record reveals it.`,
	}, func(ctx context.Context, i *instance.Instance, _ []string) error {
		report, err := i.Chain.Verify(ctx, operator())
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

func newAuditPrune(a *app, open opener[*instance.Instance]) *cobra.Command {
	var older time.Duration
	c := on(open, &cobra.Command{
		Use: "prune --older-than AGE", Short: "Remove old entries of the audit log; the rest can still be verified", Args: cli.Args(),
		Long: `Remove entries older than an age from the audit log. A signed cut replaces them, so that the
rest can still be verified, and a new entry records their number. A log that was tampered
with is not pruned. First export the entries that you have to keep.`,
		PreRunE: cli.Refuse(func() bool { return older == 0 }, "say how old the entries must be, like --older-than 365d"),
	}, func(ctx context.Context, i *instance.Instance, _ []string) error {
		before := a.Now().Add(-older)
		n, err := i.Chain.PlanPrune(ctx, operator(), before)
		if err == nil && n > 0 {
			err = a.Confirm(ctx, fmt.Sprintf("Remove about %s from before %s?", cli.Count(n, "entry", "entries"), cli.Second(countersign.At(before))))
		}
		if err != nil {
			return err
		}
		removed, err := i.Chain.Prune(ctx, operator(), before)
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
