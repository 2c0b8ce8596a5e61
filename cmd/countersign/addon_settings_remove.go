package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsRemove(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "remove KEY", Short: "Take a key of your own out of the draft", Args: one("key"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.Settings.RemoveKey(ctx, operator(), 0, args[0], nil)
				if err != nil {
					return err
				}
				return a.printRemoved(args[0], fmt.Sprintf("The key %s is out of the draft.", args[0]), now)
			})
		},
	}
}

// printRemoved prints that something is gone from the draft.
func (a *app) printRemoved(name, sentence string, now settings.Draft) error {
	if a.json {
		return a.printJSON(struct {
			Removed string `json:"removed"`
			Waiting int    `json:"waiting"` // changes that wait to be published
		}{name, len(now.Changes)})
	}
	a.say("%s", safe(sentence))
	a.sayWaiting(now)
	return nil
}
