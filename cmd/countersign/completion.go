package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/countersign/countersign/internal/addon/simulator"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

const (
	// completionTime bounds how long a shell waits.
	completionTime = 2 * time.Second
	// completionCount is how many purchases of a workspace a shell is offered.
	completionCount = 100
)

// finder lists what may stand in a flag or an argument, with a description behind a tab. args are the arguments before it.
type finder[S any] func(ctx context.Context, s S, c *cobra.Command, args []string) ([]string, error)

// fromStore completes by what a store holds. The database is read as it is: nothing is created, migrated or written, and
// on any error there is nothing to complete.
func (a *app) fromStore(find finder[*store.Store]) cobra.CompletionFunc {
	return complete(a, storeLocation, find, (*store.Store).PrepareToRead, func(ctx context.Context, at location) (*store.Store, error) {
		return store.Open(ctx, a.storeOptions(at, slog.New(slog.DiscardHandler), store.Options{Options: instance.Options{NoCreate: true}}))
	})
}

// fromAddon is fromStore for an addon.
func (a *app) fromAddon(find finder[*addon.Addon]) cobra.CompletionFunc {
	return complete(a, addonLocation, find, (*addon.Addon).Prepare, func(ctx context.Context, at location) (*addon.Addon, error) {
		return addon.Open(ctx, a.addonOptions(at, slog.New(slog.DiscardHandler), addon.Options{Options: instance.Options{NoCreate: true}}))
	})
}

func complete[S io.Closer](a *app, l locationFlags, find finder[S], prepare func(S, context.Context) error, open func(context.Context, location) (S, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) (found []string, _ cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), completionTime)
		defer cancel()
		if a.configure(c) != nil { // cobra runs no checks before a completion
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		at, err := a.locate(c, l)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		s, err := open(ctx, at)
		if closing(s, err, func(s S) error {
			if err = prepare(s, ctx); err == nil {
				found, err = find(ctx, s, c, args)
			}
			return err
		}) != nil {
			found = nil
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

// first completes the first argument of a command alone.
func first(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return complete(c, args, toComplete)
	}
}

func (a *app) workspaceFlag(c *cobra.Command, to *string, usage string) {
	c.Flags().StringVar(to, "workspace", "", usage)
	_ = c.RegisterFlagCompletionFunc("workspace", a.fromStore(workspaceNames))
}

func (a *app) itemFlag(c *cobra.Command, to *int64, usage string) {
	c.Flags().Int64Var(to, "item", 0, usage)
	_ = c.RegisterFlagCompletionFunc("item", a.fromStore(itemIDs))
}

// choice is something that may stand in an argument, with its description.
func choice(id any, description string) string {
	return fmt.Sprintf("%v\t%s", id, cli.Safe(description))
}

// choices returns a finder for what of writes of each of all things.
func choices[S, T any](all func(context.Context, S) ([]T, error), of func(T) string) finder[S] {
	return func(ctx context.Context, s S, _ *cobra.Command, _ []string) (found []string, err error) {
		things, err := all(ctx, s)
		for _, thing := range things {
			found = append(found, of(thing))
		}
		return found, err
	}
}

var (
	workspaceNames = choices(allWorkspaces, func(w store.Workspace) string { return choice(w.Account.Username, w.Account.Name.FullName) })
	keyIDs         = choices(allKeys, func(k store.Key) string { return choice(k.ID, k.Name+" of "+k.Workspace) })
	pairIDs        = choices(allPairs, func(c credential.Credential) string { return choice(c.ID, c.Label) })
	webhookIDs     = choices(allWebhooks, func(w events.Webhook) string { return choice(w.ID, w.URL) })
	packageIDs     = choices(allPackages, func(p iap.Package) string { return choice(p.ID, p.Name) })
	simulatedRefs  = choices(allSimulated, func(p simulator.Purchase) string { return choice(p.Ref, p.User+", "+p.Product) })
	storeEmails    = choices(func(ctx context.Context, s *store.Store) ([]people.User, error) {
		return allUsers(ctx, s.Instance.People)
	}, userEmail)
	addonEmails = choices(func(ctx context.Context, s *addon.Addon) ([]people.User, error) {
		return allUsers(ctx, s.Instance.People)
	}, userEmail)
	productIDs = choices(readProducts, func(p productView) string { return choice(p.StoreProductID, p.PackageName) })
)

// workspaceOf is what --workspace says, "" where there is no such flag.
func workspaceOf(c *cobra.Command) string {
	name, _ := c.Flags().GetString("workspace")
	return name
}

func itemIDs(ctx context.Context, s *store.Store, c *cobra.Command, _ []string) (found []string, err error) {
	err = eachItem(ctx, s, workspaceOf(c), func(i store.Item, _ string) error {
		found = append(found, choice(i.ID, i.Name))
		return nil
	})
	return found, err
}

// purchaseIDs lists the newest purchases. Their codes, which are credentials of their buyers, stay out of the terminal.
func purchaseIDs(ctx context.Context, s *store.Store, c *cobra.Command, _ []string) (found []string, err error) {
	err = eachWorkspace(ctx, s, workspaceOf(c), func(name string) error {
		return s.Purchases(ctx, operator(), name, store.PurchaseFilter{Limit: completionCount}, func(p store.Purchase) error {
			found = append(found, choice(p.ID, fmt.Sprintf("item %d, sold %s", p.ItemID, cli.Day(p.SoldAt))))
			return nil
		})
	})
	return found, err
}

// settingKeys returns a finder for the keys of settings, and behind a key for the values that it may have.
func settingKeys(wanted func(settings.Setting) bool) finder[*addon.Addon] {
	return func(ctx context.Context, s *addon.Addon, _ *cobra.Command, args []string) (found []string, err error) {
		draft, err := s.Settings.Draft(ctx, operator())
		if len(args) > 0 {
			one, _ := draft.Get(args[0])
			return append(slices.Clone(switches[one.Type]), sqldb.Convert(one.Choices, func(c settings.Choice) string { return choice(c.Value, c.Label) })...), err
		}
		for _, one := range draft.List {
			if wanted(one) {
				found = append(found, choice(one.Key, one.Label))
			}
		}
		return found, err
	}
}

// changedKeys lists the keys of settings that the draft changes.
func changedKeys(ctx context.Context, s *addon.Addon, _ *cobra.Command, _ []string) ([]string, error) {
	draft, err := s.Settings.Draft(ctx, operator())
	return sqldb.Convert(draft.Changes, func(c settings.Change) string { return choice(c.Key, c.Label) }), err
}

// switches are the values of settings that can only be on or off.
var switches = map[settings.Type][]string{settings.TypeBool: {"true", "false"}, settings.TypeFlag: {"1\ton", "0\toff"}}
