package main

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/cli"
)

func newAddonEvent(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "event", Short: "Events of memberships and purchases: list",
	}, newEventList(a))
}

// eventView is an event, with what webhooks get of it.
type eventView struct {
	Seq       int64                 `json:"seq" row:"1,SEQ"`
	ID        string                `json:"id" row:"2,EVENT"`
	Type      events.Type           `json:"type" row:"3,TYPE"`
	CreatedAt countersign.Timestamp `json:"created_at" row:"4,TIME (UTC),minute"`
	Event     json.RawMessage       `json:"event"`
}

func newEventList(a *app) *cobra.Command {
	var after int64
	var limit int
	c := on(a.withAddon, &cobra.Command{
		Use: "list", Short: "List the events of the last 30 days, oldest first", Args: cli.Args(),
		Long: `List the events of the last 30 days in the order in which they happened. With --json each has
the text that webhooks get.`,
		Example: "  countersign addon event list --after 120 --json",
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		feed, err := s.Events.List(ctx, operator(), after, limit)
		if err != nil {
			return err
		}
		if feed.Missed {
			a.Warn("events after %d were deleted before they were read", after)
		}
		view := func(e events.Item) eventView { return eventView{e.Seq, e.ID, e.Type, e.CreatedAt, e.Body} }
		if err := cli.PrintList(a.Console, feed.Events, view, "No events.", nil); err != nil {
			return err
		}
		if len(feed.Events) == limit {
			a.Note("There may be later ones. To list them, use --after %d.", feed.Cursor)
		}
		return nil
	})
	c.Flags().Int64Var(&after, "after", 0, "only events after this `number`")
	c.Flags().IntVar(&limit, "limit", events.DefaultLimit, "how many at most, up to 500")
	c.PreRunE = cli.Refuse(func() bool { return after < 0 || limit < 1 || limit > events.MaxLimit }, "--limit is 1 to 500, and --after the number of an event")
	return a.Listing(c)
}
