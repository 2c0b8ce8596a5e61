package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all settings: the draft, and what apps receive", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := s.Settings.Draft(ctx, operator())
				if err != nil {
					return err
				}
				return a.printSettings(all)
			})
		},
	}
}

func (a *app) printSettings(all settings.Draft) error {
	l := a.newList("KEY", "VALUE", "PUBLISHED", "STATE")
	for _, s := range all.List {
		if err := l.add(jsonOfSetting(s), s.Key, s.Value, s.Published, settingState(s)); err != nil {
			return err
		}
	}
	return l.end("No setting.")
}
