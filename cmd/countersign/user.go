package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/spf13/cobra"
)

// userCommands makes the commands for the people of a service.
type userCommands struct {
	*app
	of     locationFlags
	open   opener[*people.People]
	emails cobra.CompletionFunc
}

// newUserCommands returns the commands for the people of the service that open opens. emails completes their e-mails.
func newUserCommands(a *app, of locationFlags, open opener[*instance.Instance], emails cobra.CompletionFunc) userCommands {
	return userCommands{a, of, func(c *cobra.Command, do func(context.Context, *people.People) error) error {
		return open(c, func(ctx context.Context, i *instance.Instance) error { return do(ctx, i.People) })
	}, emails}
}

// group returns all of the commands; list lists the users.
func (u userCommands) group(list *cobra.Command) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "user", Short: "People who sign in to the pages: list, create, rename, deactivate, activate, remove, reset-password, sign-in-link",
	}, list, u.create(), u.rename(), u.deactivate(), u.activate(), u.remove(), u.resetPassword(), u.signInLink())
}

// noUsers describes an empty list of users.
func (u userCommands) noUsers() string {
	return "Nobody can sign in yet. Create a link for the first administrator with: " + u.of.command + " setup-link"
}

// example is a line that shows how a command is used.
func (u userCommands) example(arguments string) string {
	return "  " + u.of.command + " user " + arguments
}

type userView struct {
	Email      string                 `json:"email" row:"1,E-MAIL,text" card:"1,E-mail"`
	Active     bool                   `json:"active"`
	State      string                 `json:"-" row:"2,STATE" card:"2,State"`
	TwoStep    bool                   `json:"two_step" row:"3,TWO-STEP SIGN-IN"`
	CreatedAt  countersign.Timestamp  `json:"created_at" row:"4,CREATED"`
	PasswordAt *countersign.Timestamp `json:"password_at"`
	SignedInAt *countersign.Timestamp `json:"signed_in_at" row:"5,LAST SIGN-IN (UTC),minute"`
}

func viewUser(u people.User) userView {
	v := userView{
		Email: u.Email, Active: !u.Inactive, State: active(!u.Inactive), TwoStep: u.TOTP,
		CreatedAt: countersign.At(u.CreatedAt), SignedInAt: cli.OrNull(countersign.At(u.SignedInAt)),
	}
	if u.HasPassword {
		v.PasswordAt = cli.OrNull(countersign.At(u.PasswordAt))
	}
	return v
}

func allUsers(ctx context.Context, p *people.People) ([]people.User, error) {
	return p.Users(ctx, operator())
}

// userEmail is a user for a completion.
func userEmail(u people.User) string { return choice(u.Email, active(!u.Inactive)) }

// onUser returns a command that works on the user whose e-mail is its first argument; more names
// the other arguments.
func (u userCommands) onUser(c *cobra.Command, do func(ctx context.Context, p *people.People, user people.User, args []string) error, more ...string) *cobra.Command {
	c.Args, c.ValidArgsFunction = cli.Args(append([]string{"e-mail"}, more...)...), first(u.emails)
	return on(u.open, c, func(ctx context.Context, p *people.People, args []string) error {
		user, err := p.UserNamed(ctx, operator(), args[0])
		if err != nil {
			return err
		}
		return do(ctx, p, user, args[1:])
	})
}

func (u userCommands) create() *cobra.Command {
	return u.onNewPassword(&cobra.Command{
		Use: "create EMAIL", Short: "Add an administrator",
		Example: u.example("create ada@site.example"),
	}, func(ctx context.Context, p *people.People, email, password string) error {
		made, err := p.CreateAdministrator(ctx, operator(), email, password)
		return u.Show(viewUser(made), err)
	})
}

func (u userCommands) rename() *cobra.Command {
	return u.onUser(&cobra.Command{
		Use: "rename EMAIL NEW-EMAIL", Short: "Change the e-mail with which a user signs in",
		Long: `Change the e-mail with which a user signs in. Password, two-step sign-in and sessions stay.
Earlier entries of the audit log keep the old e-mail.`,
		Example: u.example("rename ada@site.example ada.l@site.example"),
	}, func(ctx context.Context, p *people.People, user people.User, args []string) error {
		renamed, err := p.RenameUser(ctx, operator(), user.ID, args[0])
		return u.Show(viewUser(renamed), err)
	}, "new e-mail")
}

func (u userCommands) deactivate() *cobra.Command {
	return u.onUser(&cobra.Command{
		Use: "deactivate EMAIL", Short: "Keep a user from signing in, until they are activated",
		Long: `Keep a user from signing in. Their sessions and sign-in links end, and two-step sign-in is
turned off. The last active administrator can't be deactivated. To undo it:
` + u.of.command + ` user activate`,
		Example: u.example("deactivate bob@site.example"),
	}, func(ctx context.Context, p *people.People, user people.User, _ []string) error {
		after, err := p.DeactivateUser(ctx, operator(), user.ID)
		return u.Show(viewUser(after), err)
	})
}

func (u userCommands) activate() *cobra.Command {
	return u.onUser(&cobra.Command{
		Use: "activate EMAIL", Short: "Let a deactivated user sign in again",
		Long: `Let a deactivated user sign in again, with the same password and without two-step sign-in. To
set a new password: ` + u.of.command + ` user reset-password`,
		Example: u.example("activate bob@site.example"),
	}, func(ctx context.Context, p *people.People, user people.User, _ []string) error {
		after, err := p.ActivateUser(ctx, operator(), user.ID)
		return u.Show(viewUser(after), err)
	})
}

func (u userCommands) remove() *cobra.Command {
	return u.onUser(&cobra.Command{
		Use: "remove EMAIL", Short: "Remove a user; the audit log keeps the e-mail",
		Long: `Remove a user with their password, sessions, sign-in links and two-step sign-in. It can't be
undone. Entries of the audit log keep the e-mail. The last active administrator can't be
removed.`,
		Example: u.example("remove bob@site.example"),
	}, func(ctx context.Context, p *people.People, user people.User, _ []string) error {
		if err := u.Confirm(ctx, "The user "+user.Email+" is removed and can't sign in any more. Continue?"); err != nil {
			return err
		}
		if _, err := p.RemoveUser(ctx, operator(), user.ID); err != nil {
			return err
		}
		return u.Done(struct {
			Removed string `json:"removed"`
		}{user.Email}, "Removed the user %s.", cli.Safe(user.Email))
	})
}

// roles returns the commands that make a user an administrator and undo it, for a service some of
// whose users are no administrators.
func (u userCommands) roles() []*cobra.Command {
	set := func(administrator bool) func(context.Context, *people.People, people.User, []string) error {
		return func(ctx context.Context, p *people.People, user people.User, _ []string) error {
			after, err := p.SetAdministrator(ctx, operator(), user.ID, administrator)
			return u.Show(administratorView{viewUser(after), after.Administrator}, err)
		}
	}
	return []*cobra.Command{
		u.onUser(&cobra.Command{
			Use: "promote EMAIL", Short: "Promote a user to administrator",
			Long: `Promote a user to administrator: an owner of every workspace, who manages users too. To undo it:
` + u.of.command + ` user demote`,
			Example: u.example("promote bob@shop.example"),
		}, set(true)),
		u.onUser(&cobra.Command{
			Use: "demote EMAIL", Short: "Take administrator rights from a user, who keeps roles in workspaces",
			Long: `Take administrator rights from a user. Sessions and roles in workspaces stay. The last active
administrator can't be demoted. To undo it: ` + u.of.command + ` user promote`,
			Example: u.example("demote bob@shop.example"),
		}, set(false)),
	}
}

// administratorView is a user of a service with roles.
type administratorView struct {
	userView
	Administrator bool `json:"administrator" card:"6,Administrator"`
}

func (u userCommands) resetPassword() *cobra.Command {
	var removeTwoStep bool
	c := u.onNewPassword(&cobra.Command{
		Use: "reset-password EMAIL", Short: "Set a new password for a user and end all of their sessions",
		Example: u.example("reset-password ada@site.example") + "\n" +
			u.example("reset-password ada@site.example --password-file - --remove-two-step < password.txt"),
		ValidArgsFunction: first(u.emails),
	}, func(ctx context.Context, p *people.People, email, password string) error {
		if err := p.ResetPassword(ctx, operator(), email, password, removeTwoStep); err != nil {
			return err
		}
		return u.Done(struct {
			Email          string `json:"email"`
			TwoStepRemoved bool   `json:"two_step_removed"`
		}{email, removeTwoStep}, "Changed the password of %s and ended all of their sessions.", cli.Safe(email))
	})
	c.Flags().BoolVar(&removeTwoStep, "remove-two-step", false, "also turn off two-step sign-in, for a lost authenticator app")
	return c
}

// onNewPassword returns a command that works with the e-mail of a user and a new password,
// from a file or from a person.
func (u userCommands) onNewPassword(c *cobra.Command, do func(ctx context.Context, p *people.People, email, password string) error) *cobra.Command {
	var file string
	c.Flags().StringVar(&file, "password-file", "", "the `file` with the new password, - for stdin (default: you are asked)")
	c.Args = cli.Args("e-mail")
	return on(u.open, c, func(ctx context.Context, p *people.People, args []string) error {
		password, err := u.NewPassword(ctx, file, "New password: ", "Once more: ", func(string) error { return nil })
		if err != nil {
			return err
		}
		return do(ctx, p, args[0], password)
	})
}

func (u userCommands) signInLink() *cobra.Command {
	return onLink(u.app, u.of, &cobra.Command{
		Use: "sign-in-link EMAIL", Short: "Print a link that signs a user in once, within ten minutes",
		Long: `Print a link that signs a user in. It works once, within ten minutes, without password and
code, even after too many failed sign-ins. Send it to that person only.

The link leads to --base-url, or to the server that runs on the data folder.`,
		Example: u.example("sign-in-link ada@site.example"),
		Args:    cli.Args("e-mail"), ValidArgsFunction: first(u.emails),
	}, u.open, func(ctx context.Context, p *people.People, url string, args []string) error {
		token, expires, err := p.NewSignInLink(ctx, operator(), args[0])
		return u.Show(struct {
			SignInURL string                `json:"sign_in_url" card:"1,Link"`
			ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Valid until"`
		}{u.of.signInLink(url, token), countersign.At(expires)}, err)
	})
}
