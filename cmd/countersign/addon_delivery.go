package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/people"
)

// webhookMethod is a method of the events that returns a webhook.
type webhookMethod func(s *events.Service, ctx context.Context, a people.Actor, id int64) (events.Webhook, error)

func newWebhookPing(a *app) *cobra.Command {
	return onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "ping ID", Short: "Send a test event to a webhook; the server delivers it",
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		event, err := s.Events.Ping(ctx, operator(), id)
		if err != nil {
			return err
		}
		return a.Done(struct {
			Event string `json:"event"`
		}{event}, "Event %s is to be delivered. See what became of it with: countersign addon webhook deliveries %d", event, id)
	})
}

// deliveryView is what became of an event at a webhook.
type deliveryView struct {
	ID         int64                  `json:"id" row:"1,ID"`
	Event      string                 `json:"event" row:"2,EVENT"`
	Type       events.Type            `json:"type" row:"3,TYPE"`
	State      events.State           `json:"state" row:"4,STATE"`
	Attempts   int64                  `json:"attempts" row:"5,ATTEMPTS"`
	NextAt     *countersign.Timestamp `json:"next_at" row:"6,NEXT (UTC),minute"`
	CreatedAt  countersign.Timestamp  `json:"created_at" row:"7,CREATED (UTC),minute"`
	EndedAt    *countersign.Timestamp `json:"ended_at"`
	LastStatus int                    `json:"last_status" row:"8,STATUS"`
	LastText   string                 `json:"last_text" row:"9,RESPONSE,brief"`
}

func viewDelivery(d events.Delivery) (int64, deliveryView) {
	return d.ID, deliveryView{
		ID: d.ID, Event: d.Event, Type: d.Type, State: d.State, Attempts: d.Attempts, NextAt: cli.OrNull(countersign.At(d.NextAt)),
		CreatedAt: countersign.At(d.CreatedAt), EndedAt: cli.OrNull(countersign.At(d.EndedAt)), LastStatus: d.LastStatus, LastText: d.LastText,
	}
}

func newWebhookDeliveries(a *app) *cobra.Command {
	var f events.DeliveryFilter
	c := onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "deliveries ID", Short: "List the deliveries to a webhook of the last 30 days, newest first",
		Example: "  countersign addon webhook deliveries 1 --state failed",
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		return listPages(a, f.Limit, f.Before, "No deliveries.", viewDelivery, func(before int64, limit int) ([]events.Delivery, error) {
			f.Before, f.Limit = before, limit
			return s.Events.Deliveries(ctx, operator(), id, f)
		})
	})
	cli.ChoiceVar(c, &f.State, "state", "", "only those in this state", events.Pending, events.Held, events.Delivered, events.Failed)
	return a.Listing(pageFlags(c, &f.Limit, &f.Before, "a delivery", "deliveries"))
}

func newWebhookReplay(a *app) *cobra.Command {
	var delivery int64
	var since countersign.Timestamp
	c := onID(a.withAddon, "webhook", a.fromAddon(webhookIDs), &cobra.Command{
		Use: "replay ID", Short: "Send events to a webhook again, with their ids: one delivery, or all since a time",
		Example: `  countersign addon webhook replay 1 --delivery 17
  countersign addon webhook replay 1 --since 2026-11-01T12:00:00Z`,
	}, func(ctx context.Context, s *addon.Addon, id int64) (err error) {
		sent := 1
		if delivery > 0 {
			err = s.Events.Replay(ctx, operator(), id, delivery)
		} else {
			sent, err = s.Events.ReplaySince(ctx, operator(), id, since.Time)
		}
		if err != nil {
			return err
		}
		return a.Done(struct {
			Sent int `json:"sent"`
		}{sent}, "Events to be delivered again: %d.", sent)
	})
	c.PreRunE = cli.Refuse(func() bool { return (delivery > 0) == !since.IsZero() }, "name either --delivery or --since")
	c.Flags().Int64Var(&delivery, "delivery", 0, "only the event of the delivery with this `id`")
	cli.Var(c.Flags(), &since, cli.ParseDate, "date", "since", "all events since 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z")
	return c
}
