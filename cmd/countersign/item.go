package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/spf13/cobra"
)

func newItem(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "item", Short: "Items: list, show, set their license rules (to add items, use: store import)",
	}, newItemList(a),
		onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{Use: "show ID", Short: "Show an item"}, func(ctx context.Context, s *store.Store, id int64) error {
			i, err := s.ShowItem(ctx, operator(), id)
			return a.showItem(ctx, s, i, err)
		}),
		newItemSet(a))
}

// itemView is an item: as the API prints it, and what only the store knows.
type itemView struct {
	Workspace string `json:"workspace" row:"2,WORKSPACE"`
	Kind      string `json:"kind" row:"4,KIND"`
	Support   bool   `json:"support" row:"8,SUPPORT"`
	countersign.Item
	Licensing licensing.Rule        `json:"licensing"`
	Number    int64                 `json:"-" row:"1,ID"`
	Title     string                `json:"-" row:"3,NAME,text"`
	Release   countersign.Version   `json:"-" row:"5,VERSION"`
	Regular   string                `json:"-" row:"6,REGULAR"`
	Extended  string                `json:"-" row:"7,EXTENDED"`
	Since     countersign.Timestamp `json:"-" row:"9,PUBLISHED"`
	Details   []cli.Line            `json:"-" card:"1,"`
}

func viewItem(i store.Item, workspace string) itemView {
	v := itemView{
		Workspace: workspace, Kind: string(i.Kind), Support: i.Support, Item: i.Item, Licensing: i.Licensing,
		Number: i.ID, Title: i.Name, Release: i.Version, Since: i.PublishedAt,
		Regular: cli.Price(i.Price.Regular, i.Currency), Extended: cli.Price(i.Price.Extended, i.Currency),
	}
	optional := func(link *string) string {
		if link == nil {
			return ""
		}
		return *link
	}
	v.Details = cli.Lines(
		"Id", strconv.FormatInt(i.ID, 10), "Workspace", workspace, "Name", i.Name, "Kind", v.Kind, "Version", string(i.Version),
		"Category", i.Category, "Sub-category", i.SubCategory, "Options", strings.Join(i.Options, ", "),
		"Tags", strings.Join(i.Tags, ", "), "Description", i.Description, "Regular", v.Regular, "Extended", v.Extended,
		"Support", cli.YesNo(i.Support), "Published", cli.Second(i.PublishedAt), "Demo", i.DemoLink,
		"Thumbnail", i.Media.Thumbnail, "Preview image", optional(i.Media.PreviewImage),
		"Preview video", optional(i.Media.PreviewVideo), "Preview audio", optional(i.Media.PreviewAudio),
		"Screenshots", strings.Join(i.Media.Screenshots, " "),
		"Domains", "Regular "+strconv.Itoa(i.Licensing.RegularDomains)+", Extended "+strconv.Itoa(i.Licensing.ExtendedDomains),
		"Moves a year", strconv.Itoa(i.Licensing.MovesAYear), "Hours between moves", strconv.Itoa(i.Licensing.MoveWaitHours),
		"Wildcard domains", cli.YesNo(i.Licensing.Wildcard), "Staging hosts", strings.Join(i.Licensing.StagingHosts, ", "),
	)
	return v
}

func (a *app) showItem(ctx context.Context, s *store.Store, i store.Item, err error) error {
	if err != nil {
		return err
	}
	all, err := s.Workspaces(ctx, operator())
	username := ""
	for _, w := range all {
		if w.ID == i.WorkspaceID {
			username = w.Account.Username
		}
	}
	return a.Show(viewItem(i, username), err)
}

func newItemList(a *app) *cobra.Command {
	var workspace string
	c := on(a.withStore, &cobra.Command{
		Use: "list", Short: "List items", Args: cli.Args(),
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		return listNewest(a, 0, "No items. Import some with: countersign store import FILE", func(_ int, add func(itemView) error) error {
			return eachItem(ctx, s, workspace, func(i store.Item, username string) error { return add(viewItem(i, username)) })
		})
	})
	a.workspaceFlag(c, &workspace, "only the items of this `username`")
	return a.Listing(c)
}

// eachItem calls fn for the items of a workspace, or of all when it is "".
func eachItem(ctx context.Context, s *store.Store, workspace string, fn func(i store.Item, workspace string) error) error {
	return eachWorkspace(ctx, s, workspace, func(name string) error {
		items, err := s.ListItems(ctx, operator(), name)
		for _, i := range items {
			if err := fn(i, name); err != nil {
				return err
			}
		}
		return err
	})
}

func newItemSet(a *app) *cobra.Command {
	var edits cli.Edits[licensing.Rule]
	var staging []string
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "set ID", Short: "Change the license rules of an item",
		Example: `  countersign store item set 1229 --extended-domains 5
  countersign store item set 1229 --wildcard --staging-host 'staging.*' --staging-host '*.preview.example'`,
		PreRunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("staging-host") {
				hosts := slices.DeleteFunc(staging, func(host string) bool { return host == "" })
				edits = append(edits, func(r *licensing.Rule) { r.StagingHosts = hosts })
			}
			return cli.AnyChanged(c, args)
		},
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.Licensing.SetRule(ctx, operator(), id, edits.Apply)
		return a.showItem(ctx, s, i, err)
	})
	fs := c.Flags()
	cli.EditNumber(fs, &edits, "regular-domains", "how many domains a Regular purchase may have, not counting test domains", func(r *licensing.Rule) *int { return &r.RegularDomains })
	cli.EditNumber(fs, &edits, "extended-domains", "how many domains an Extended purchase may have, not counting test domains", func(r *licensing.Rule) *int { return &r.ExtendedDomains })
	cli.EditNumber(fs, &edits, "moves", "how many times a year a buyer may move or revoke a license", func(r *licensing.Rule) *int { return &r.MovesAYear })
	cli.EditNumber(fs, &edits, "move-wait", "`hours` that a buyer has to wait between two moves or revocations", func(r *licensing.Rule) *int { return &r.MoveWaitHours })
	cli.EditSwitch(fs, &edits, "wildcard", "allow wildcard licenses for all hosts one level below a domain (*.shop.example)", func(r *licensing.Rule) *bool { return &r.Wildcard })
	fs.StringArrayVar(&staging, "staging-host", nil, "`host` that counts as a test domain, like staging.*, *.preview.example or dev.example; replaces the current list (repeatable; empty for none)")
	return c
}
