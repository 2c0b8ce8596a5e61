package main

import (
	"context"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newStoreSetupLink(a *app) *cobra.Command {
	return newSetupLink(a, storeLocation, a.withStore, "", func(ctx context.Context, s *store.Store) (string, time.Time, error) {
		return s.Instance.People.NewSetupLink(ctx, operator())
	})
}

// newStoreUsers returns the commands for the people of a store.
func newStoreUsers(a *app) *cobra.Command {
	users := newUserCommands(a, storeLocation, a.onStore, a.fromStore(storeEmails))
	group := users.group(on(a.withStore, a.Listing(&cobra.Command{
		Use: "list", Short: "List the users, with their roles in workspaces", Args: cli.Args(),
	}), func(ctx context.Context, s *store.Store, _ []string) error {
		memberships, err := s.Memberships(ctx, operator())
		if err != nil {
			return err
		}
		list, err := allUsers(ctx, s.Instance.People)
		return cli.PrintList(a.Console, list, func(u people.User) storeUserView {
			return viewStoreUser(u, memberships[u.ID])
		}, users.noUsers(), err)
	}))
	group.AddCommand(users.roles()...)
	return group
}

// storeUserView is a user of a store, with the roles.
type storeUserView struct {
	userView
	Administrator bool             `json:"administrator" row:"6,ADMINISTRATOR"`
	Workspaces    []membershipView `json:"workspaces"`
	Roles         string           `json:"-" row:"7,WORKSPACES,text"`
}

type membershipView struct {
	Workspace string     `json:"workspace"`
	Role      store.Role `json:"role"`
}

func viewStoreUser(u people.User, memberships []store.Membership) storeUserView {
	v := storeUserView{userView: viewUser(u), Administrator: u.Administrator}
	v.Workspaces = sqldb.Convert(memberships, func(m store.Membership) membershipView { return membershipView{m.Workspace, m.Role} })
	roles := sqldb.Convert(memberships, func(m store.Membership) string { return m.Workspace + " (" + string(m.Role) + ")" })
	v.Roles = strings.Join(roles, ", ")
	return v
}
