package main

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/dial"
)

func newAddonWebhook(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "webhook", Short: "Webhooks, which send events to the site: list, show, add, edit, pause, resume, reveal, rotate-secret, remove, ping, deliveries, replay",
	},
		listAll(a, a.withAddon, "List the webhooks, without their secrets", "No webhooks. Add one with: countersign addon webhook add URL", viewWebhook, allWebhooks),
		a.onWebhook(&cobra.Command{Use: "show ID", Short: "Show a webhook, without its secret"}, (*events.Service).Webhook),
		newWebhookAdd(a), newWebhookEdit(a),
		a.onWebhook(&cobra.Command{
			Use: "pause ID", Short: "Pause a webhook; its events are held for 30 days",
		}, (*events.Service).Pause),
		a.onWebhook(&cobra.Command{
			Use: "resume ID", Short: "Resume a webhook, and send what was held",
		}, (*events.Service).Resume),
		onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{Use: "reveal ID", Short: "Reveal the secret of a webhook; the audit log records it"}, func(ctx context.Context, s *addon.Addon, id int64) error {
			secret, err := s.Events.RevealSecret(ctx, operator(), id)
			return a.Show(webhookSecretView{id, string(secret)}, err)
		}),
		newWebhookRotate(a), newWebhookRemove(a), newWebhookPing(a), newWebhookDeliveries(a), newWebhookReplay(a))
}

// webhookView is a webhook without its secret.
type webhookView struct {
	ID             int64                  `json:"id" row:"1,ID" card:"1,Id"`
	URL            string                 `json:"url" row:"2,URL,text" card:"2,Address"`
	Types          []events.Type          `json:"types"`
	State          string                 `json:"state" row:"4,STATE" card:"4,State"`
	PausedFor      *events.Reason         `json:"paused_for"`
	PausedAt       *countersign.Timestamp `json:"paused_at" card:"5,Paused,optional"`
	FailingSince   *countersign.Timestamp `json:"failing_since" row:"5,FAILING SINCE (UTC),minute" card:"6,Failing since,optional"`
	CreatedAt      countersign.Timestamp  `json:"created_at" row:"6,CREATED" card:"7,Created"`
	RotatedAt      *countersign.Timestamp `json:"rotated_at" card:"8,Rotated,optional"`
	OldSecretUntil *countersign.Timestamp `json:"old_secret_until" card:"9,Old secret until,optional"`
	Wanted         string                 `json:"-" row:"3,EVENTS,brief" card:"3,Events"`
}

func viewWebhook(w events.Webhook) webhookView {
	v := webhookView{
		ID: w.ID, URL: w.URL, Types: append([]events.Type{}, w.Types...), State: "active", PausedAt: cli.OrNull(countersign.At(w.PausedAt)),
		FailingSince: cli.OrNull(countersign.At(w.FailingSince)), CreatedAt: countersign.At(w.CreatedAt), RotatedAt: cli.OrNull(countersign.At(w.RotatedAt)),
		OldSecretUntil: cli.OrNull(countersign.At(w.OldSecretUntil)), Wanted: "all",
	}
	if w.PausedFor != "" {
		v.PausedFor, v.State = &w.PausedFor, "paused: "+w.PausedFor.Text()
	}
	if len(w.Types) > 0 {
		v.Wanted = joinTypes(w.Types)
	}
	return v
}

func joinTypes(list []events.Type) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = string(t)
	}
	return strings.Join(texts, ", ")
}

// webhookSecretView has the secret of a webhook, for the commands whose purpose it is.
type webhookSecretView struct {
	ID     int64  `json:"id" card:"1,Id"`
	Secret string `json:"secret" card:"2,Secret"`
}

func allWebhooks(ctx context.Context, s *addon.Addon) ([]events.Webhook, error) {
	return s.Events.Webhooks(ctx, operator())
}

// onWebhook is onID for a command that ends with showing a webhook.
func (a *app) onWebhook(c *cobra.Command, do webhookMethod) *cobra.Command {
	return onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), c, func(ctx context.Context, s *addon.Addon, id int64) error {
		w, err := do(s.Events, ctx, operator(), id)
		return a.Show(viewWebhook(w), err)
	})
}

// typesFlag adds the flag that names types of events.
func typesFlag(c *cobra.Command, to *[]string, usage string) {
	c.Flags().StringSliceVar(to, "types", nil, usage)
	var all []string
	for _, t := range events.Types() {
		all = append(all, string(t))
	}
	_ = c.RegisterFlagCompletionFunc("types", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
}

func typesOf(names []string) []events.Type {
	list := []events.Type{}
	for _, name := range names {
		if name != "" {
			list = append(list, events.Type(name))
		}
	}
	return list
}

func newWebhookAdd(a *app) *cobra.Command {
	var names []string
	c := on(a.withAddon, &cobra.Command{
		Use: "add URL", Short: "Add a webhook, and print the secret of its signatures", Args: cli.Args("URL"),
		Long: `Add an address of the site that receives events. Each is sent by POST as JSON and signed with
the secret in the Standard Webhooks form. The address is one of https, or of http in a private
network that the server allows with --allow-private.`,
		Example: `  countersign addon webhook add https://site.example/hooks/countersign
  countersign addon webhook add https://site.example/refunds --types purchase.refunded`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		w, secret, err := s.Events.AddWebhook(ctx, operator(), args[0], typesOf(names))
		a.noteReach(ctx, s, w, err)
		return a.Show(webhookSecretView{w.ID, string(secret)}, err)
	})
	typesFlag(c, &names, "only these `types` of events, separated by commas (default all)")
	return c
}

// noteReach says what a server needs to send to a webhook that was written: this command can't know
// whether it has it.
func (a *app) noteReach(ctx context.Context, s *addon.Addon, w events.Webhook, err error) {
	if err != nil {
		return
	}
	at, err := url.Parse(w.URL)
	if err != nil {
		return
	}
	list := s.Events.Addresses(ctx, w.URL)
	switch i := slices.IndexFunc(list, func(addr netip.Addr) bool { return dial.Allowed(addr, dial.Private()) }); {
	case i >= 0:
		addr := list[i].Unmap()
		a.Warn("%s is in a private network. The server sends to it only when it is started with: --allow-private %s", at.Hostname(), netip.PrefixFrom(addr, addr.BitLen()))
	case at.Scheme == "http":
		a.Warn("Over http, the server sends to %s only if it is in a private network that the server is started with: --allow-private NETWORK. Otherwise use https", at.Hostname())
	case len(list) == 0:
		a.Warn("%s has no address now. Nothing can be sent to it until it has one.", at.Hostname())
	}
}

func newWebhookEdit(a *app) *cobra.Command {
	var address string
	var names []string
	var c *cobra.Command
	c = onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "edit ID", Short: "Change the address or the events of a webhook",
		Example: `  countersign addon webhook edit 1 --url https://site.example/hooks
  countersign addon webhook edit 1 --types ""`,
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		var change events.WebhookChange
		if c.Flags().Changed("url") {
			change.URL = &address
		}
		if c.Flags().Changed("types") {
			wanted := typesOf(names)
			change.Types = &wanted
		}
		w, err := s.Events.EditWebhook(ctx, operator(), id, change)
		a.noteReach(ctx, s, w, err)
		return a.Show(viewWebhook(w), err)
	})
	c.Flags().StringVar(&address, "url", "", "the new `address`")
	typesFlag(c, &names, "only these `types` of events, separated by commas; \"\" for all")
	return c
}

func newWebhookRotate(a *app) *cobra.Command {
	var overlap time.Duration
	c := onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "rotate-secret ID", Short: "Rotate the secret of a webhook, and print the new one",
		Long: `Rotate the secret of a webhook, and print the new one. Until the overlap has passed, webhooks
are signed with both, so that the site can be changed meanwhile. --overlap 0 ends the old one
at once.`,
		Example: `  countersign addon webhook rotate-secret 1
  countersign addon webhook rotate-secret 1 --overlap 72h`,
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		if err := a.Confirm(ctx, fmt.Sprintf("Webhook %d gets a new secret. The old one is valid for another %s. Continue?", id, overlap)); err != nil {
			return err
		}
		_, secret, err := s.Events.RotateSecret(ctx, operator(), id, overlap)
		return a.Show(webhookSecretView{id, string(secret)}, err)
	})
	c.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old secret is still used too, like 24h or 30m; up to 168h")
	return c
}

func newWebhookRemove(a *app) *cobra.Command {
	return onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "remove ID", Short: "Remove a webhook and the log of its deliveries",
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		if err := a.Confirm(ctx, fmt.Sprintf("Webhook %d is removed with the log of its deliveries. Continue?", id)); err != nil {
			return err
		}
		gone, err := s.Events.RemoveWebhook(ctx, operator(), id)
		if err != nil {
			return err
		}
		return a.Done(struct {
			Removed int64  `json:"removed"`
			URL     string `json:"url"`
		}{id, gone.URL}, "Removed the webhook %d (%s).", id, cli.Safe(gone.URL))
	})
}
