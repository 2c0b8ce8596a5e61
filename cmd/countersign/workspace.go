package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newWorkspace(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "workspace", Short: "Workspaces of authors: list, show, create, change",
	},
		listAll(a, a.withStore, "List all workspaces", "No workspaces. Create one with: countersign store workspace create USERNAME", viewWorkspace, allWorkspaces),
		on(a.withStore, &cobra.Command{Use: "show USERNAME", Short: "Show a workspace", Args: cli.Args("username"), ValidArgsFunction: first(a.fromStore(workspaceNames))}, func(ctx context.Context, s *store.Store, args []string) error {
			w, err := s.Workspace(ctx, operator(), args[0])
			return a.Show(viewWorkspace(w), err)
		}),
		newWorkspaceCreate(a), newWorkspaceSet(a))
}

// workspaceView is a workspace: the account as the API prints it, and the switches.
type workspaceView struct {
	countersign.Account
	store.Switches
	Named   string                `json:"-" row:"1,USERNAME"`
	Person  string                `json:"-" row:"2,NAME,text"`
	Mail    string                `json:"-" row:"3,E-MAIL,text"`
	Money   string                `json:"-" row:"4,BALANCE"`
	Since   countersign.Timestamp `json:"-" row:"5,REGISTERED"`
	Details []cli.Line            `json:"-" card:"1,"`
}

func viewWorkspace(w store.Workspace) workspaceView {
	account, profile := w.Account, w.Account.Profile
	quota := "none"
	if w.Switches.Quota > 0 {
		quota = cli.Thousands(w.Switches.Quota) + " a minute"
	}
	balance := account.Balance.In(account.Currency)
	return workspaceView{account, w.Switches, account.Username, account.Name.FullName, account.Email, balance, account.RegisteredAt, cli.Lines(
		"Username", account.Username, "Name", account.Name.FullName, "E-mail", account.Email,
		"Balance", balance, "Registered", cli.Second(account.RegisteredAt),
		"Heading", profile.Heading, "Description", profile.Description, "Contact", profile.Contact.Email,
		"Links", linksText(profile.SocialLinks), "Avatar", profile.Media.Avatar, "Cover", profile.Media.Cover,
		"Always 200", cli.YesNo(w.Switches.Always200), "Refuses keys in the query", cli.YesNo(w.Switches.RefuseQueryKeys), "Quota", quota,
	)}
}

func linksText(links countersign.Links) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(links)) {
		all = append(all, fmt.Sprintf("%s=%s", name, links[name]))
	}
	return strings.Join(all, " ")
}

// eachWorkspace calls fn with the username of a workspace, or with those of all when it is "".
func eachWorkspace(ctx context.Context, s *store.Store, username string, fn func(username string) error) error {
	if username != "" {
		return fn(username)
	}
	all, err := s.Workspaces(ctx, operator())
	for _, w := range all {
		if err := fn(w.Account.Username); err != nil {
			return err
		}
	}
	return err
}

func allWorkspaces(ctx context.Context, s *store.Store) ([]store.Workspace, error) {
	return s.Workspaces(ctx, operator())
}

func newWorkspaceCreate(a *app) *cobra.Command {
	var flags workspaceFlags
	c := on(a.withNewStore, &cobra.Command{
		Use: "create USERNAME", Short: "Create a workspace", Args: cli.Args("username"), PreRunE: flags.parseLinks,
		Example: "  countersign store workspace create ada --email ada@shop.example --firstname Ada --lastname Byron",
	}, func(ctx context.Context, s *store.Store, args []string) error {
		var w store.Workspace
		w.Account.Username, w.Account.Currency = args[0], "USD"
		flags.edits.Apply(&w)
		made, err := s.CreateWorkspace(ctx, operator(), w)
		if err == nil {
			a.Say("Created the workspace %s. Create a key for its programs with: countersign store key create web --workspace %[1]s", args[0])
		}
		return a.Show(viewWorkspace(made), err)
	})
	flags.register(c.Flags())
	c.Flags().Lookup("currency").Usage += " (default USD)"
	return c
}

func newWorkspaceSet(a *app) *cobra.Command {
	var flags workspaceFlags
	c := on(a.withStore, &cobra.Command{
		Use: "set USERNAME", Short: "Change a workspace and its switches", Args: cli.Args("username"), ValidArgsFunction: first(a.fromStore(workspaceNames)),
		Example: `  countersign store workspace set ada --quota 600
  countersign store workspace set ada --always-200=false --social-link facebook=https://facebook.example/ada`,
		PreRunE: func(c *cobra.Command, args []string) error {
			if err := cli.AnyChanged(c, args); err != nil {
				return err
			}
			return flags.parseLinks(c, args)
		},
	}, func(ctx context.Context, s *store.Store, args []string) error {
		w, err := s.SetWorkspace(ctx, operator(), args[0], flags.edits.Apply)
		return a.Show(viewWorkspace(w), err)
	})
	flags.register(c.Flags())
	return c
}

// workspaceFlags are what can be said of a workspace. Only flags that were given change it.
type workspaceFlags struct {
	edits cli.Edits[store.Workspace]
	links []string
}

func (f *workspaceFlags) register(flags *pflag.FlagSet) {
	cli.EditText(flags, &f.edits, "email", "the author's e-mail `address`", func(w *store.Workspace) *string { return &w.Account.Email })
	cli.EditText(flags, &f.edits, "firstname", "the author's first `name`", func(w *store.Workspace) *string { return &w.Account.Name.Firstname })
	cli.EditText(flags, &f.edits, "lastname", "the author's last `name`", func(w *store.Workspace) *string { return &w.Account.Name.Lastname })
	cli.EditText(flags, &f.edits, "currency", "three capital letters, like USD", func(w *store.Workspace) *string { return &w.Account.Currency })
	cli.EditText(flags, &f.edits, "heading", "the profile's heading", func(w *store.Workspace) *string { return &w.Account.Profile.Heading })
	cli.EditText(flags, &f.edits, "description", "the profile's text", func(w *store.Workspace) *string { return &w.Account.Profile.Description })
	cli.EditText(flags, &f.edits, "contact-email", "the profile's public e-mail `address`", func(w *store.Workspace) *string { return &w.Account.Profile.Contact.Email })
	cli.EditText(flags, &f.edits, "avatar", "`URL` of the profile's picture; empty for the store's own", func(w *store.Workspace) *string { return &w.Account.Profile.Media.Avatar })
	cli.EditText(flags, &f.edits, "cover", "`URL` of the profile's cover; empty for the store's own", func(w *store.Workspace) *string { return &w.Account.Profile.Media.Cover })
	cli.EditVar(flags, &f.edits, "balance", "the account's balance, like 120.50", func(w *store.Workspace) *countersign.Money { return &w.Account.Balance }, cli.ParseMoney, "amount")
	flags.StringArrayVar(&f.links, "social-link", nil, "`name=URL` of a profile elsewhere; name= removes it (repeatable)")
	cli.EditSwitch(flags, &f.edits, "always-200", "answer errors of 4xx with status 200, for clients that can't read them", func(w *store.Workspace) *bool { return &w.Switches.Always200 })
	cli.EditSwitch(flags, &f.edits, "refuse-query-keys", "refuse API keys in the query string", func(w *store.Workspace) *bool { return &w.Switches.RefuseQueryKeys })
	cli.EditNumber(flags, &f.edits, "quota", "successful calls allowed a minute; 0 for no limit", func(w *store.Workspace) *int64 { return &w.Switches.Quota })
}

// parseLinks reads the values of --social-link. They are added to the links of the workspace; an empty one takes its name away.
func (f *workspaceFlags) parseLinks(c *cobra.Command, _ []string) error {
	added := countersign.Links{}
	for _, text := range f.links {
		name, url, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return cli.Usage(c, "--social-link is written name=URL")
		}
		added[name] = url
	}
	if len(added) == 0 {
		return nil
	}
	f.edits = append(f.edits, func(w *store.Workspace) {
		merged := countersign.Links{}
		maps.Copy(merged, w.Account.Profile.SocialLinks)
		maps.Copy(merged, added)
		maps.DeleteFunc(merged, func(_, url string) bool { return url == "" })
		w.Account.Profile.SocialLinks = merged
	})
	return nil
}
