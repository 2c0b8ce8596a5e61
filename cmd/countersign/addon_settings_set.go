package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newSettingsSet(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "set KEY VALUE", Short: "Change a setting in the draft; \"\" empties it", Args: two("key", "value"),
		Example: `  countersign addon settings set appName Tuneful
  countersign addon settings set pushEnabled true`,
		RunE: func(c *cobra.Command, args []string) error { return a.setSetting(c, args[0], args[1]) },
	}
}

func (a *app) setSetting(c *cobra.Command, key, value string) error {
	if key == iap.KeyServiceAccount {
		return usage(c, "a service account is a secret and must not stand in a command; give its file to: countersign addon iap service-account FILE")
	}
	return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
		now, err := s.Settings.Set(ctx, operator(), 0, map[string]string{key: value})
		if err != nil {
			return err
		}
		return a.printSetting(now, key)
	})
}

// two wants exactly two arguments, whose names are for the message.
func two(first, second string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 2 {
			return nil
		}
		return usage(c, fmt.Sprintf("give a %s and a %s, not %s", first, second, count(len(args), "argument", "arguments")))
	}
}
