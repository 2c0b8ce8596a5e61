package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/pages"
	"github.com/spf13/cobra"
)

func newMember(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "member", Short: "Members of workspaces with their roles: list, add, invite, set, remove, invitations, withdraw",
		Long: `Members of workspaces with their roles.

  viewer    reads everything but the e-mail addresses of buyers
  manager   also works on items, purchases and licenses
  owner     also works on API keys, members and settings

Administrators of the store are owners of every workspace without being members.`,
	},
		newMemberList(a), newMemberAdd(a), newMemberInvite(a), newMemberSet(a), newMemberRemove(a), newMemberInvitations(a), newMemberWithdraw(a))
}

type memberView struct {
	Workspace string                `json:"workspace" card:"1,Workspace"`
	Email     string                `json:"email" row:"1,E-MAIL,text" card:"2,E-mail"`
	Role      store.Role            `json:"role" row:"2,ROLE" card:"3,Role"`
	Active    bool                  `json:"active"`
	State     string                `json:"-" row:"3,STATE" card:"4,State"`
	Since     countersign.Timestamp `json:"since" row:"4,SINCE" card:"5,Since"`
}

func viewMember(workspace string, m store.Member) memberView {
	return memberView{workspace, m.Email, m.Role, !m.Inactive, active(!m.Inactive), countersign.At(m.Since.Time)}
}

type invitationView struct {
	ID        string                `json:"id" row:"1,ID" card:"1,Id"`
	Workspace string                `json:"workspace" card:"2,Workspace"`
	Email     string                `json:"email" row:"2,E-MAIL,text" card:"3,E-mail"`
	Role      store.Role            `json:"role" row:"3,ROLE" card:"4,Role"`
	InvitedBy string                `json:"invited_by" row:"4,INVITED BY,text"`
	CreatedAt countersign.Timestamp `json:"created_at" row:"5,CREATED"`
	ExpiresAt countersign.Timestamp `json:"expires_at" row:"6,VALID UNTIL" card:"6,Valid until"`
	// URL is where it is accepted, for the command that makes one.
	URL string `json:"invitation_url,omitempty" card:"5,Link"`
}

func viewInvitation(workspace string, i store.Invitation) invitationView {
	return invitationView{
		ID: i.ID, Workspace: workspace, Email: i.Email, Role: i.Role, InvitedBy: i.InvitedBy,
		CreatedAt: countersign.At(i.CreatedAt.Time), ExpiresAt: countersign.At(i.ExpiresAt.Time),
	}
}

// memberFlags are the workspace of a member, and the role for the commands that give one.
type memberFlags struct {
	workspace string
	role      store.Role
}

// workspaceOnly adds the flag of the workspace, which is required.
func (f *memberFlags) workspaceOnly(a *app, c *cobra.Command) *cobra.Command {
	a.workspaceFlag(c, &f.workspace, "the `username` of the workspace (required)")
	c.PreRunE = cli.Require("workspace")
	return c
}

// register adds the flags of the workspace and the role, which are required.
func (f *memberFlags) register(a *app, c *cobra.Command) *cobra.Command {
	f.workspaceOnly(a, c)
	cli.ChoiceVar(c, &f.role, "role", "", "viewer, manager or owner (required)", store.RoleViewer, store.RoleManager, store.RoleOwner)
	c.PreRunE = cli.Require("workspace", "role")
	return c
}

func newMemberList(a *app) *cobra.Command {
	var flags memberFlags
	return flags.workspaceOnly(a, a.Listing(on(a.withStore, &cobra.Command{
		Use: "list --workspace W", Short: "List the members of a workspace", Args: cli.Args(),
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		members, err := s.Members(ctx, operator(), flags.workspace)
		return cli.PrintList(a.Console, members, func(m store.Member) memberView { return viewMember(flags.workspace, m) },
			"No members. Invite one with: countersign store member invite EMAIL --workspace W --role R", err)
	})))
}

func newMemberAdd(a *app) *cobra.Command {
	var flags memberFlags
	return flags.register(a, on(a.withStore, &cobra.Command{
		Use: "add EMAIL --workspace W --role R", Short: "Add a user to a workspace", Args: cli.Args("e-mail"),
		Long: `Add a user to a workspace, with a role. Somebody who is not a user yet is invited with:
countersign store member invite`,
		Example:           "  countersign store member add grace@shop.example --workspace ada --role manager",
		ValidArgsFunction: first(a.fromStore(storeEmails)),
	}, func(ctx context.Context, s *store.Store, args []string) error {
		m, err := s.AddMember(ctx, operator(), flags.workspace, args[0], flags.role)
		return a.Show(viewMember(flags.workspace, m), err)
	}))
}

func newMemberInvite(a *app) *cobra.Command {
	var flags memberFlags
	return flags.register(a, onLink(a, storeLocation, &cobra.Command{
		Use: "invite EMAIL --workspace W --role R", Short: "Print a link that makes somebody a member of a workspace; it works once, within 7 days", Args: cli.Args("e-mail"),
		Long: `Print a link that makes somebody a member of a workspace. It works once, within 7 days. A person
without an account creates one there. Anybody with the link can use it, so send it to that person
only. To withdraw it: countersign store member withdraw

The link leads to --base-url, or to the server that runs on the data folder.`,
		Example: "  countersign store member invite grace@shop.example --workspace ada --role viewer",
	}, a.withStore, func(ctx context.Context, s *store.Store, url string, args []string) error {
		i, token, err := s.Invite(ctx, operator(), flags.workspace, args[0], flags.role)
		v := viewInvitation(flags.workspace, i)
		v.URL = url + pages.PathInvite + "#" + token
		return a.Show(v, err)
	}))
}

// onMember returns a command that works on the member of a workspace whose e-mail is its argument.
func (f *memberFlags) onMember(a *app, c *cobra.Command, do func(ctx context.Context, s *store.Store, user int64) error) *cobra.Command {
	c.Args, c.ValidArgsFunction = cli.Args("e-mail"), first(a.fromStore(memberEmails))
	return on(a.withStore, c, func(ctx context.Context, s *store.Store, args []string) error {
		u, err := s.Instance.People.UserNamed(ctx, operator(), args[0])
		if err != nil {
			return err
		}
		return do(ctx, s, u.ID)
	})
}

func newMemberSet(a *app) *cobra.Command {
	var flags memberFlags
	return flags.register(a, flags.onMember(a, &cobra.Command{
		Use: "set EMAIL --workspace W --role R", Short: "Change the role of a member",
		Example: "  countersign store member set grace@shop.example --workspace ada --role owner",
	}, func(ctx context.Context, s *store.Store, user int64) error {
		m, err := s.SetMember(ctx, operator(), flags.workspace, user, flags.role)
		return a.Show(viewMember(flags.workspace, m), err)
	}))
}

func newMemberRemove(a *app) *cobra.Command {
	var flags memberFlags
	return flags.workspaceOnly(a, flags.onMember(a, &cobra.Command{
		Use: "remove EMAIL --workspace W", Short: "Remove a member from a workspace; the user stays",
		Long: `Remove a member from a workspace. The user stays, and the memberships of other workspaces.
To make the user a member again: countersign store member add`,
		Example: "  countersign store member remove grace@shop.example --workspace ada",
	}, func(ctx context.Context, s *store.Store, user int64) error {
		m, err := s.RemoveMember(ctx, operator(), flags.workspace, user)
		if err != nil {
			return err
		}
		return a.Done(struct {
			Removed   string `json:"removed"`
			Workspace string `json:"workspace"`
		}{m.Email, flags.workspace}, "Removed %s from the workspace %s.", cli.Safe(m.Email), cli.Safe(flags.workspace))
	}))
}

func newMemberInvitations(a *app) *cobra.Command {
	var flags memberFlags
	return flags.workspaceOnly(a, a.Listing(on(a.withStore, &cobra.Command{
		Use: "invitations --workspace W", Short: "List the open invitations to a workspace, newest first", Args: cli.Args(),
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		open, err := s.Invitations(ctx, operator(), flags.workspace)
		return cli.PrintList(a.Console, open, func(i store.Invitation) invitationView { return viewInvitation(flags.workspace, i) }, "No open invitations.", err)
	})))
}

func newMemberWithdraw(a *app) *cobra.Command {
	var flags memberFlags
	return flags.workspaceOnly(a, on(a.withStore, &cobra.Command{
		Use: "withdraw ID --workspace W", Short: "Withdraw an invitation: its link no longer works", Args: cli.Args("invitation's id"),
		Example:           "  countersign store member withdraw 4VZ6QK2JHXNA --workspace ada",
		ValidArgsFunction: first(a.fromStore(invitationIDs)),
	}, func(ctx context.Context, s *store.Store, args []string) error {
		if err := s.WithdrawInvitation(ctx, operator(), flags.workspace, args[0]); err != nil {
			return err
		}
		return a.Done(struct {
			Withdrawn string `json:"withdrawn"`
			Workspace string `json:"workspace"`
		}{args[0], flags.workspace}, "Withdrew the invitation %s.", cli.Safe(args[0]))
	}))
}

// memberEmails completes the e-mail of a member of --workspace.
func memberEmails(ctx context.Context, s *store.Store, c *cobra.Command, _ []string) ([]string, error) {
	members, err := s.Members(ctx, operator(), workspaceOf(c))
	return sqldb.Convert(members, func(m store.Member) string { return choice(m.Email, string(m.Role)) }), err
}

// invitationIDs completes the id of an open invitation to --workspace.
func invitationIDs(ctx context.Context, s *store.Store, c *cobra.Command, _ []string) ([]string, error) {
	open, err := s.Invitations(ctx, operator(), workspaceOf(c))
	return sqldb.Convert(open, func(i store.Invitation) string { return choice(i.ID, string(i.Role)+" for "+i.Email) }), err
}
