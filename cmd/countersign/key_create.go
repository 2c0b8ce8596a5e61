package main

import (
	"context"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// keyCreateFlags are what can be said of a new key.
type keyCreateFlags struct {
	workspace   string
	publishable bool
	item        int64
	expires     dateValue
}

func newKeyCreate(a *app) *cobra.Command {
	var flags keyCreateFlags
	c := &cobra.Command{
		Use: "create NAME --workspace W", Short: "Make a key and print it", Args: one("name"),
		Long: `Make a key and print it.

A secret key opens all endpoints of its workspace and belongs on a server. A publishable key
validates purchases of one item, nothing else, and may be shipped inside a product.`,
		Example: `  countersign store key create web --workspace ada
  countersign store key create plugin --workspace ada --publishable --item 1229`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := require(c, "workspace"); err != nil {
				return err
			}
			key, err := flags.newKey(a, c, args[0])
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				made, value, err := s.CreateKey(ctx, operator(), key)
				if err != nil {
					return err
				}
				if err := a.printKeyValue(made, value); err != nil {
					return err
				}
				a.sayWhereToPut(made)
				return nil
			})
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.workspace, "workspace", "", "the `username` of its workspace (required)")
	fs.BoolVar(&flags.publishable, "publishable", false, "make a publishable key, bound to --item")
	fs.Int64Var(&flags.item, "item", 0, "`id` of the one item of a publishable key")
	fs.Var(&flags.expires, "expires", "when it ends: 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z (default never)")
	return c
}

func (f *keyCreateFlags) newKey(a *app, c *cobra.Command, name string) (store.NewKey, error) {
	n := store.NewKey{Workspace: f.workspace, Name: name, Class: store.ClassSecret, Item: f.item, ExpiresAt: f.expires.Timestamp}
	switch {
	case f.publishable && f.item == 0:
		return n, usage(c, "a publishable key is bound to one item; name it with --item")
	case !f.publishable && f.item != 0:
		return n, usage(c, "--item is for publishable keys; add --publishable")
	case !n.ExpiresAt.IsZero() && !a.now().Before(n.ExpiresAt.Time):
		return n, usage(c, "--expires has passed already; name a later day")
	case f.publishable:
		n.Class = store.ClassPublishable
	}
	return n, nil
}

// sayWhereToPut tells what to do with a key that was just printed.
func (a *app) sayWhereToPut(k store.Key) {
	if a.json {
		return
	}
	if k.Class == store.ClassPublishable {
		a.say("\nShip it in the product of item %d and send it in the header X-Api-Key: it validates purchases of that item, nothing else.", k.ItemID)
	} else {
		a.say("\nKeep it on a server and send it in the header X-Api-Key; never put it into a product or a page.")
	}
	a.say("It is shown again with: countersign store key reveal %d", k.ID)
}
