package main

import (
	"context"

	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newUserResetPassword(a *app) *cobra.Command {
	var file string
	var removeTwoStep bool
	c := &cobra.Command{
		Use: "reset-password EMAIL", Short: "Give an administrator a new password; all of their sessions end", Args: one("e-mail"),
		Example: `  countersign addon user reset-password ada@site.example
  countersign addon user reset-password ada@site.example --password-file - --remove-two-step < password.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withNewPassword(c, file, func(ctx context.Context, s *addon.Addon, password string) error {
				if err := s.People().ResetPassword(ctx, operator(), args[0], password, removeTwoStep); err != nil {
					return err
				}
				if a.json {
					return a.printJSON(struct {
						Email          string `json:"email"`
						TwoStepRemoved bool   `json:"two_step_removed"`
					}{args[0], removeTwoStep})
				}
				a.say("The password of %s is the new one, and all of their sessions have ended.", safe(args[0]))
				return nil
			})
		},
	}
	registerPasswordFile(c, &file)
	c.Flags().BoolVar(&removeTwoStep, "remove-two-step", false, "end two-step sign-in as well, for a lost authenticator")
	return c
}

func registerPasswordFile(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "password-file", "", "the `file` with the new password, - for stdin (default: you are asked)")
}

// withNewPassword runs do on the addon with a password from a file or a person.
func (a *app) withNewPassword(c *cobra.Command, file string, do func(context.Context, *addon.Addon, string) error) error {
	return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
		password, err := a.newPassword(ctx, file)
		if err != nil {
			return err
		}
		return do(ctx, s, password)
	})
}

// newPassword reads a new password from a file, or asks a person for it twice.
func (a *app) newPassword(ctx context.Context, file string) (string, error) {
	if file != "" {
		return a.readPasswordFile(file)
	}
	first, err := a.askSecret(ctx, "New password: ", "--password-file")
	if err != nil {
		return "", err
	}
	second, err := a.askSecret(ctx, "Once more: ", "--password-file")
	if err != nil {
		return "", err
	}
	if first != second {
		return "", fail(exitUsage, "usage", "the two passwords differ; nothing was changed, try again")
	}
	return first, nil
}
