package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newSettingsAdd(a *app) *cobra.Command {
	kind := choiceValue{value: string(settings.TypeText), choices: []string{string(settings.TypeText), string(settings.TypeBool), string(settings.TypeNumber)}}
	c := &cobra.Command{
		Use: "add KEY VALUE", Short: "Add a public key of your own to the draft", Args: two("key", "value"),
		Example: `  countersign addon settings add welcomeText "Hello"
  countersign addon settings add maxUploads 12 --type number`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				now, err := s.Settings.AddKey(ctx, operator(), 0, args[0], settings.Type(kind.value), args[1])
				if err != nil {
					return err
				}
				return a.printSetting(now, args[0])
			})
		},
	}
	c.Flags().Var(&kind, "type", "what the app receives: text, bool or number")
	return c
}
