package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newSettingsGet(a *app) *cobra.Command {
	var published bool
	c := &cobra.Command{
		Use: "get KEY", Short: "Print the value of a setting; of a secret, what is known of it", Args: one("key"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := s.Settings.Draft(ctx, operator())
				if err != nil {
					return err
				}
				setting, ok := all.Get(args[0])
				if !ok {
					return fail(exitNotFound, "setting_not_found", fmt.Sprintf("no setting %q; list them with: countersign addon settings list", args[0]))
				}
				if a.json {
					return a.printJSON(jsonOfSetting(setting))
				}
				value := setting.Value
				if published {
					value = setting.Published
				}
				_, err = fmt.Fprintln(a.term.out, safe(value))
				return err
			})
		},
	}
	c.Flags().BoolVar(&published, "published", false, "print what apps receive in place of the draft's value")
	return c
}
