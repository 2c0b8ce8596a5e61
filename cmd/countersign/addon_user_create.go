package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newUserCreate(a *app) *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "create EMAIL", Short: "Add an administrator", Args: one("e-mail"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withNewPassword(c, file, func(ctx context.Context, s *addon.Addon, password string) error {
				u, err := s.People().CreateAdministrator(ctx, operator(), args[0], password)
				if err != nil {
					return err
				}
				return a.printCard(jsonOfUser(u), pair{"E-mail", u.Email})
			})
		},
	}
	registerPasswordFile(c, &file)
	return c
}
