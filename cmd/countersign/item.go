package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/transfer"
	"github.com/countersign/countersign/internal/store/validation"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newItem(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "item", Short: "Items: list, show, create, edit, their versions, license rules and files",
	}, newItemList(a), newItemShow(a),
		newItemCreate(a), newItemEdit(a), newItemSet(a), newItemVersions(a), newItemMedia(a))
}

func newItemShow(a *app) *cobra.Command {
	base := ""
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "show ID", Short: "Show an item",
		Long: `Show an item. Uploaded files have their whole address when that of the store is known: from
--base-url, or from the server that runs on the data folder. With --json they have none: "item edit"
reads it again.`,
		Example: "  countersign store item show 1229",
		PreRunE: func(c *cobra.Command, _ []string) (err error) {
			base, err = baseURL(c, "base-url")
			return err
		},
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.ShowItem(ctx, operator(), id)
		return a.showItem(ctx, s, cmp.Or(base, a.served()), i, err)
	})
	c.Flags().String("base-url", "", "the store's public `URL`, for the addresses of uploaded files (default: the running server's; "+storeLocation.baseURL+")")
	return c
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

// viewItem shows an item of a workspace; base is the address of the store, "" when it is not known.
func viewItem(i store.Item, workspace, base string) itemView {
	v := itemView{
		Workspace: workspace, Kind: string(i.Kind), Support: i.Support, Item: i.Item, Licensing: i.Licensing,
		Number: i.ID, Title: i.Name, Release: i.Version, Since: i.PublishedAt,
		Regular: i.Price.Regular.In(i.Currency), Extended: i.Price.Extended.In(i.Currency),
	}
	optional := func(link *string) string {
		if link == nil {
			return ""
		}
		return validation.Whole(*link, base)
	}
	var screenshots []string
	for _, link := range i.Media.Screenshots {
		screenshots = append(screenshots, validation.Whole(link, base))
	}
	v.Details = cli.Lines(
		"Id", strconv.FormatInt(i.ID, 10), "Workspace", workspace, "Name", i.Name, "Kind", v.Kind, "Version", string(i.Version),
		"Category", i.Category, "Sub-category", i.SubCategory, "Options", strings.Join(i.Options, ", "),
		"Tags", strings.Join(i.Tags, ", "), "Description", i.Description, "Regular", v.Regular, "Extended", v.Extended,
		"Support", cli.YesNo(i.Support), "Published", cli.Second(i.PublishedAt), "Demo", i.DemoLink,
		"Thumbnail", validation.Whole(i.Media.Thumbnail, base), "Preview image", optional(i.Media.PreviewImage),
		"Preview video", optional(i.Media.PreviewVideo), "Preview audio", optional(i.Media.PreviewAudio),
		"Screenshots", strings.Join(screenshots, " "),
		"Domains", "Regular "+strconv.Itoa(i.Licensing.RegularDomains)+", Extended "+strconv.Itoa(i.Licensing.ExtendedDomains),
		"Moves a year", strconv.Itoa(i.Licensing.MovesAYear), "Hours between moves", strconv.Itoa(i.Licensing.MoveWaitHours),
		"Wildcard domains", cli.YesNo(i.Licensing.Wildcard), "Staging hosts", strings.Join(i.Licensing.StagingHosts, ", "),
	)
	return v
}

func (a *app) showItem(ctx context.Context, s *store.Store, base string, i store.Item, err error) error {
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
	return a.Show(viewItem(i, username, base), err)
}

func newItemList(a *app) *cobra.Command {
	var workspace string
	var withoutPicture bool
	c := on(a.withStore, &cobra.Command{
		Use: "list", Short: "List items", Args: cli.Args(),
		Example: `  countersign store item list --workspace ada
  countersign store item list --without-picture`,
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		return listNewest(a, 0, "No items. Create one with: countersign store item create, or import some with: countersign store import FILE", func(_ int, add func(itemView) error) error {
			return eachItem(ctx, s, workspace, func(i store.Item, username string) error {
				if withoutPicture && !store.LacksPicture(i) {
					return nil
				}
				return add(viewItem(i, username, ""))
			})
		})
	})
	c.Flags().BoolVar(&withoutPicture, "without-picture", false, "only items without a thumbnail or a preview image; clients get a default picture")
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

// itemChange is what a file and the flags of a command say about an item.
type itemChange struct {
	file  string
	text  []byte // of the file
	edits cli.Edits[store.Item]
}

// itemFileHelp is part of the help of the commands that read an item.
const itemFileHelp = `The file is one JSON object with the names of the API (name, version, media, price, and so on)
and of the store (kind, support, licensing), as "item show --json" prints it; - is stdin. Flags
win over the file. A list flag replaces the whole list; an empty text empties it.`

func (i *itemChange) register(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&i.file, "file", "f", "", "JSON `file` of the item, - for stdin")
	_ = c.MarkFlagFilename("file", "json")
	cli.EditText(fs, &i.edits, "name", "its `name`", func(i *store.Item) *string { return &i.Name })
	cli.EditText(fs, &i.edits, "description", "its description, a `text`", func(i *store.Item) *string { return &i.Description })
	cli.EditChoice(c, &i.edits, "kind", "audio, video or other: which preview files the API prints", func(i *store.Item) *store.Kind { return &i.Kind },
		store.KindAudio, store.KindVideo, store.KindOther)
	cli.EditSwitch(fs, &i.edits, "support", "its purchases may have support", func(i *store.Item) *bool { return &i.Support })
	cli.EditText(fs, &i.edits, "category", "its `category`", func(i *store.Item) *string { return &i.Category })
	cli.EditText(fs, &i.edits, "sub-category", "its sub-`category`", func(i *store.Item) *string { return &i.SubCategory })
	cli.EditList(fs, &i.edits, "option", "one of its options, a `text` (repeatable)", func(i *store.Item) *countersign.List { return &i.Options })
	cli.EditList(fs, &i.edits, "tag", "one of its tags, a `text` (repeatable)", func(i *store.Item) *countersign.List { return &i.Tags })
	cli.EditVar(fs, &i.edits, "version", "its version, like 1.2.3", func(i *store.Item) *countersign.Version { return &i.Version },
		func(text string) (countersign.Version, error) { return countersign.Version(text), nil }, "version")
	cli.EditVar(fs, &i.edits, "regular", "its price with a Regular license, like 49.00", func(i *store.Item) *countersign.Money { return &i.Price.Regular }, cli.ParseMoney, "amount")
	cli.EditVar(fs, &i.edits, "extended", "its price with an Extended license", func(i *store.Item) *countersign.Money { return &i.Price.Extended }, cli.ParseMoney, "amount")
	cli.EditText(fs, &i.edits, "currency", "of its prices, a `code` like USD", func(i *store.Item) *string { return &i.Currency })
	cli.EditVar(fs, &i.edits, "published", "when it was published: 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z",
		func(i *store.Item) *countersign.Timestamp { return &i.PublishedAt }, cli.ParseDate, "date")
	cli.EditText(fs, &i.edits, "notes", "what changed in the new version, a `text` for the history of versions", func(i *store.Item) *string { return &i.Notes })
	i.registerLinks(fs)
}

func (i *itemChange) registerLinks(fs *pflag.FlagSet) {
	cli.EditText(fs, &i.edits, "demo-link", "`URL` of a demo", func(i *store.Item) *string { return &i.DemoLink })
	cli.EditText(fs, &i.edits, "thumbnail", "`URL` of its thumbnail", func(i *store.Item) *string { return &i.Media.Thumbnail })
	optional := func(name, usage string, field func(*store.Item) **string) {
		cli.EditVar(fs, &i.edits, name, usage, field, func(text string) (*string, error) { return &text, nil }, "URL")
	}
	optional("preview-image", "its preview image", func(i *store.Item) **string { return &i.Media.PreviewImage })
	optional("preview-video", "its preview video", func(i *store.Item) **string { return &i.Media.PreviewVideo })
	optional("preview-audio", "its preview audio", func(i *store.Item) **string { return &i.Media.PreviewAudio })
	cli.EditList(fs, &i.edits, "screenshot", "`URL` of a screenshot (repeatable)", func(i *store.Item) *[]string { return &i.Media.Screenshots })
}

// read reads the file, if one is named.
func (i *itemChange) read(a *app) (err error) {
	if i.file != "" {
		i.text, err = a.ReadInput(i.file, "item", "pipe it in, or name a file")
	}
	return err
}

// apply changes an item of a workspace, and returns the workspace that the file names.
func (i *itemChange) apply(item *store.Item, workspace string) (named string, err error) {
	if i.file != "" {
		named, err = transfer.ReadItem(i.text, item, workspace)
	}
	i.edits.Apply(item)
	return named, err
}

// showWritten prints an item that was written, and warns when it has no pictures of its own.
func (a *app) showWritten(ctx context.Context, s *store.Store, i store.Item, err error) error {
	if err = a.showItem(ctx, s, "", i, err); err == nil && store.LacksPicture(i) {
		a.Warn("the item lacks a thumbnail or a preview image; clients get a default picture")
	}
	return err
}

func newItemCreate(a *app) *cobra.Command {
	var change itemChange
	var workspace string
	var id int64
	c := on(a.withStore, &cobra.Command{
		Use: "create --workspace W", Short: "Create an item from a file or flags and print it", Args: cli.Args(),
		Long: "Create an item and print it. Without --id, it gets the next id; without a currency, that of its\n" +
			"workspace; without a date, it is published now.\n\n" + itemFileHelp,
		Example: `  countersign store item create --workspace ada --name "Rain Loop Pack" --version 1.0.0 --regular 49.00
  countersign store item create --workspace ada -f item.json`,
		PreRunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("id") && id <= 0 {
				return cli.Usage(c, "--id is a whole number from 1 on")
			}
			if err := change.read(a); err != nil {
				return err
			}
			if workspace == "" && change.file != "" {
				var err error
				if workspace, err = change.apply(new(store.Item), ""); err != nil {
					return err
				}
			}
			return cli.Require("workspace")(c, args)
		},
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		i, err := s.CreateItem(ctx, operator(), workspace, func(i *store.Item) error {
			_, err := change.apply(i, workspace)
			i.ID = cmp.Or(id, i.ID)
			return err
		})
		return a.showWritten(ctx, s, i, err)
	})
	a.workspaceFlag(c, &workspace, "the `username` of its workspace (required, unless the file names it)")
	c.Flags().Int64Var(&id, "id", 0, "its `id` (default the next one)")
	change.register(c)
	return c
}

func newItemEdit(a *app) *cobra.Command {
	var change itemChange
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "edit ID", Short: "Change an item by a file or flags and print it",
		Long: "Change an item and print it. What neither the file nor a flag names stays as it is.\n\n" + itemFileHelp,
		Example: `  countersign store item edit 1229 --version 1.2.4 --tag rain --tag loops
  countersign store item edit 1229 --version 1.2.5 --notes "Fixes the menu on phones"
  countersign store item edit 1229 -f changes.json`,
		PreRunE: func(c *cobra.Command, args []string) error {
			if err := cli.AnyChanged(c, args); err != nil {
				return err
			}
			return change.read(a)
		},
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.EditItem(ctx, operator(), id, "", func(i *store.Item, workspace string) error {
			_, err := change.apply(i, workspace)
			return err
		})
		return a.showWritten(ctx, s, i, err)
	})
	change.register(c)
	return c
}

func newItemSet(a *app) *cobra.Command {
	var edits cli.Edits[licensing.Rule]
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "set ID", Short: "Change the license rules of an item",
		Example: `  countersign store item set 1229 --extended-domains 5
  countersign store item set 1229 --wildcard --staging-host 'staging.*' --staging-host '*.preview.example'`,
		PreRunE: cli.AnyChanged,
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.Licensing.SetRule(ctx, operator(), id, "", edits.Apply)
		return a.showItem(ctx, s, "", i, err)
	})
	fs := c.Flags()
	cli.EditNumber(fs, &edits, "regular-domains", "how many domains a Regular purchase may have, not counting test domains", func(r *licensing.Rule) *int { return &r.RegularDomains })
	cli.EditNumber(fs, &edits, "extended-domains", "how many domains an Extended purchase may have, not counting test domains", func(r *licensing.Rule) *int { return &r.ExtendedDomains })
	cli.EditNumber(fs, &edits, "moves", "how many times a year a buyer may move or revoke a license", func(r *licensing.Rule) *int { return &r.MovesAYear })
	cli.EditNumber(fs, &edits, "move-wait", "`hours` that a buyer has to wait between two moves or revocations", func(r *licensing.Rule) *int { return &r.MoveWaitHours })
	cli.EditSwitch(fs, &edits, "wildcard", "allow wildcard licenses for all hosts one level below a domain (*.shop.example)", func(r *licensing.Rule) *bool { return &r.Wildcard })
	cli.EditList(fs, &edits, "staging-host", "`host` that counts as a test domain, like staging.*, *.preview.example or dev.example; replaces the current list (repeatable; empty for none)", func(r *licensing.Rule) *countersign.List { return &r.StagingHosts })
	return c
}

// itemVersionView is a version of an item.
type itemVersionView struct {
	Number  int64                 `json:"number" row:"1,NUMBER"`
	Version string                `json:"version" row:"2,VERSION,text"`
	At      countersign.Timestamp `json:"at" row:"3,SINCE"`
	Actor   string                `json:"actor" row:"4,BY,text"`
	Notes   string                `json:"notes" row:"5,NOTES,text"`
}

func newItemVersions(a *app) *cobra.Command {
	return a.Listing(onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "versions ID", Short: "List the versions of an item, newest first",
		Example: `  countersign store item versions 1229`,
	}, func(ctx context.Context, s *store.Store, id int64) error {
		return listNewest(a, 0, "No versions. Set one with: countersign store item edit ID --version 1.0.0", func(_ int, add func(itemVersionView) error) error {
			all, err := s.ItemVersions(ctx, operator(), id)
			for _, v := range all {
				if err := add(itemVersionView{v.Number, string(v.Version), v.At, v.Actor, v.Notes}); err != nil {
					return err
				}
			}
			return err
		})
	}))
}
