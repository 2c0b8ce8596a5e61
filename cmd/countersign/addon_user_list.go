package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newUserList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List who may sign in", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := s.People().Users(ctx, operator())
				if err != nil {
					return err
				}
				l := a.newList("E-MAIL", "TWO-STEP SIGN-IN", "CREATED", "LAST SIGN-IN (UTC)")
				for _, u := range all {
					shown := jsonOfUser(u)
					last := ""
					if shown.SignedInAt != nil {
						last = minute(*shown.SignedInAt)
					}
					if err := l.add(shown, u.Email, yesNo(u.TOTP), day(shown.CreatedAt), last); err != nil {
						return err
					}
				}
				return l.end("Nobody can sign in yet; make a link for the first administrator with: countersign addon setup-link")
			})
		},
	}
}
