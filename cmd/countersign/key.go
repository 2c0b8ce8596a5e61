package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKey(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "key", Short: "API keys: list, create, reveal, rotate, revoke, restore, set their expiry",
	}, newKeyList(a), newKeyCreate(a),
		onID(a.withStore, "key", a.fromStore(keyIDs), &cobra.Command{Use: "reveal ID", Short: "Reveal a key; the audit log records it"}, func(ctx context.Context, s *store.Store, id int64) error {
			k, value, err := s.RevealKey(ctx, operator(), id)
			return a.showKeyValue(k, value, err)
		}),
		newKeyRotate(a),
		onID(a.withStore, "key", a.fromStore(keyIDs), &cobra.Command{Use: "revoke ID", Short: "Revoke a key; it can be restored for ten minutes"}, a.revokeKey),
		onID(a.withStore, "key", a.fromStore(keyIDs), &cobra.Command{Use: "restore ID", Short: "Restore a key within ten minutes of its revocation"}, a.restoreKey),
		newKeySet(a))
}

// keyView is a key without its value.
type keyView struct {
	ID                int64                  `json:"id" row:"1,ID" card:"1,Id"`
	Name              string                 `json:"name" row:"3,NAME,text" card:"2,Name"`
	Workspace         string                 `json:"workspace" row:"2,WORKSPACE" card:"3,Workspace"`
	Class             store.Class            `json:"class" row:"4,CLASS" card:"4,Class"`
	ItemID            *int64                 `json:"item_id" row:"5,ITEM" card:"5,Item"`
	Hint              string                 `json:"hint" row:"6,KEY" card:"8,Key"`
	State             string                 `json:"state" row:"7,STATE" card:"9,State"`
	CreatedAt         countersign.Timestamp  `json:"created_at" row:"8,CREATED"`
	ExpiresAt         *countersign.Timestamp `json:"expires_at" row:"9,EXPIRES"`
	RevokedAt         *countersign.Timestamp `json:"revoked_at"`
	PreviousExpiresAt *countersign.Timestamp `json:"previous_expires_at" card:"7,Old value ends,optional"`
	LastUsedAt        *countersign.Timestamp `json:"last_used_at" row:"10,LAST USED (UTC),minute"`
	LastUsedFrom      string                 `json:"last_used_from" row:"11,FROM"`
	UsedCount         int64                  `json:"used_count" row:"12,USES,thousands"`
	Expires           string                 `json:"-" card:"6,Expires"`
}

func (a *app) viewKey(k store.Key) keyView {
	return keyView{
		ID: k.ID, Name: k.Name, Workspace: k.Workspace, Class: k.Class, ItemID: cli.NonZero(k.ItemID), Hint: k.Hint,
		State: string(store.KeyStateAt(k, a.Now())), CreatedAt: k.CreatedAt, ExpiresAt: cli.OrNull(k.ExpiresAt), RevokedAt: cli.OrNull(k.RevokedAt),
		PreviousExpiresAt: cli.OrNull(k.PreviousExpiresAt), LastUsedAt: cli.OrNull(k.LastUsedAt), LastUsedFrom: k.LastUsedFrom, UsedCount: k.UsedCount,
		Expires: cmp.Or(cli.Second(k.ExpiresAt), "never"),
	}
}

// keyValueView is a key with its value, for the commands whose purpose it is.
type keyValueView struct {
	ID        int64                  `json:"id" card:"1,Id"`
	Name      string                 `json:"name" card:"2,Name"`
	Workspace string                 `json:"workspace" card:"3,Workspace"`
	Class     store.Class            `json:"class" card:"4,Class"`
	ItemID    *int64                 `json:"item_id" card:"5,Item"`
	Key       string                 `json:"key" card:"8,Key"`
	ExpiresAt *countersign.Timestamp `json:"expires_at"`
	// PreviousExpiresAt is when the value before the last rotation ends.
	PreviousExpiresAt *countersign.Timestamp `json:"previous_expires_at,omitempty" card:"7,Old value ends,optional"`
	Expires           string                 `json:"-" card:"6,Expires"`
}

func (a *app) showKeyValue(k store.Key, value string, err error) error {
	v := a.viewKey(k)
	return a.Show(keyValueView{v.ID, v.Name, v.Workspace, v.Class, v.ItemID, value, v.ExpiresAt, v.PreviousExpiresAt, v.Expires}, err)
}

func newKeyList(a *app) *cobra.Command {
	var workspace string
	c := on(a.withStore, &cobra.Command{
		Use: "list", Short: "List keys, without their values", Args: cli.Args(),
	}, func(ctx context.Context, s *store.Store, _ []string) error {
		keys, err := s.Keys(ctx, operator(), workspace)
		return cli.PrintList(a.Console, keys, a.viewKey, "No keys. Create one with: countersign store key create NAME --workspace W", err)
	})
	a.workspaceFlag(c, &workspace, "only the keys of this `username`")
	return a.Listing(c)
}

func newKeyCreate(a *app) *cobra.Command {
	var key store.NewKey
	var publishable bool
	c := on(a.withStore, &cobra.Command{
		Use: "create NAME --workspace W", Short: "Create a key and print it", Args: cli.Args("name"),
		Long: `Create a key and print it.

A secret key can use all endpoints of its workspace and belongs on a server. A publishable key
validates purchases of one item and nothing else. You may ship it inside a product.`,
		Example: `  countersign store key create web --workspace ada
  countersign store key create plugin --workspace ada --publishable --item 1229`,
		PreRunE: func(c *cobra.Command, args []string) error {
			switch err := cli.Require("workspace")(c, args); {
			case err != nil:
				return err
			case publishable && key.Item == 0:
				return cli.Usage(c, "a publishable key is bound to one item; name it with --item")
			case !publishable && key.Item != 0:
				return cli.Usage(c, "--item is for publishable keys; add --publishable")
			case !key.ExpiresAt.IsZero() && !a.Now().Before(key.ExpiresAt.Time):
				return cli.Usage(c, "--expires is in the past; name a later date")
			}
			return nil
		},
	}, func(ctx context.Context, s *store.Store, args []string) error {
		key.Name, key.Class = args[0], store.ClassSecret
		if publishable {
			key.Class = store.ClassPublishable
		}
		made, value, err := s.CreateKey(ctx, operator(), key)
		return a.showNewKey(made, value, err)
	})
	fs := c.Flags()
	a.workspaceFlag(c, &key.Workspace, "the `username` of its workspace (required)")
	fs.BoolVar(&publishable, "publishable", false, "create a publishable key, bound to --item")
	a.itemFlag(c, &key.Item, "`id` of the one item of a publishable key")
	cli.Var(fs, &key.ExpiresAt, cli.ParseDate, "date", "expires", "when it expires: 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z (default never)")
	return c
}

// showNewKey prints a key with its value, and tells a person what to do with it.
func (a *app) showNewKey(k store.Key, value string, err error) error {
	if err := a.showKeyValue(k, value, err); err != nil || a.JSON {
		return err
	}
	if k.Class == store.ClassPublishable {
		a.Say("\nShip it in the product of item %d and send it in the header X-Api-Key: it validates purchases of that item, nothing else.", k.ItemID)
	} else {
		a.Say("\nKeep it on a server and send it in the header X-Api-Key; never put it into a product or a page.")
	}
	a.Say("To reveal it again: countersign store key reveal %d", k.ID)
	return nil
}

func newKeyRotate(a *app) *cobra.Command {
	var overlap time.Duration
	c := onID(a.withStore, "key", a.fromStore(keyIDs), &cobra.Command{
		Use: "rotate ID", Short: "Rotate a key and print its new value",
		Long: `Rotate a key and print its new value. The old value works until the overlap has passed, so
that you can update programs one after the other. --overlap 0 ends it at once.

A key has one earlier value at most. If the value before the last rotation still works, it ends
now. At a terminal, the command asks first; --yes skips the question.`,
		Example: `  countersign store key rotate 3
  countersign store key rotate 3 --overlap 72h`,
		PreRunE: cli.Refuse(func() bool { return overlap < 0 }, "--overlap can't be negative"),
	}, func(ctx context.Context, s *store.Store, id int64) error {
		earlier, err := s.EarlierValue(ctx, operator(), id)
		if err == nil && !earlier.EndsAt.IsZero() {
			err = a.Confirm(ctx, cutOff(earlier))
		}
		if err != nil {
			return err
		}
		k, value, err := s.RotateKey(ctx, operator(), id, overlap, "")
		if err := a.showNewKey(k, value, err); err != nil || earlier.EndsAt.IsZero() {
			return err
		}
		a.Say("The earlier value%s ended now instead of %s.", inBrackets(earlier.Hint), cli.Second(earlier.EndsAt))
		return nil
	})
	c.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "how long the old value still works, like 24h or 30m")
	return c
}

// cutOff asks whether an earlier value of a key may end now.
func cutOff(e store.EarlierValue) string {
	used := "never used"
	if !e.Key.LastUsedAt.IsZero() {
		used = "last used " + cli.Second(e.Key.LastUsedAt) + " from " + e.Key.LastUsedFrom
	}
	return fmt.Sprintf("Key %d (%q of %s) was rotated before. Its earlier value%s works until %s and would end now. The key was %s. Rotate it again?",
		e.Key.ID, e.Key.Name, e.Key.Workspace, inBrackets(e.Hint), cli.Second(e.EndsAt), used)
}

// inBrackets is a text in brackets with a space before it, "" for none.
func inBrackets(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func (a *app) revokeKey(ctx context.Context, s *store.Store, id int64) error {
	question := fmt.Sprintf("Revoke key %d%s? Programs that use it stop working. For ten minutes this can be undone with: countersign store key restore %[1]d", id, keyName(ctx, s, id))
	if err := a.Confirm(ctx, question); err != nil {
		return err
	}
	k, err := s.RevokeKey(ctx, operator(), id)
	return a.Show(a.viewKey(k), err)
}

func (a *app) restoreKey(ctx context.Context, s *store.Store, id int64) error {
	k, err := s.RestoreKey(ctx, operator(), id)
	return a.Show(a.viewKey(k), err)
}

func allKeys(ctx context.Context, s *store.Store) ([]store.Key, error) {
	return s.Keys(ctx, operator(), "")
}

// keyName describes a key for a question, "" when it can't be found.
func keyName(ctx context.Context, s *store.Store, id int64) string {
	keys, _ := allKeys(ctx, s)
	for _, k := range keys {
		if k.ID == id {
			return fmt.Sprintf(" (%q of %s, %s)", k.Name, k.Workspace, k.Hint)
		}
	}
	return ""
}

func newKeySet(a *app) *cobra.Command {
	var expires countersign.Timestamp
	c := onID(a.withStore, "key", a.fromStore(keyIDs), &cobra.Command{
		Use: "set ID --expires DATE|never", Short: "Set or remove the expiry of a key", PreRunE: cli.Require("expires"),
	}, func(ctx context.Context, s *store.Store, id int64) error {
		k, err := s.SetKeyExpiry(ctx, operator(), id, expires)
		return a.Show(a.viewKey(k), err)
	})
	cli.Var(c.Flags(), &expires, cli.ParseDate, "date", "expires", "never, 2006-01-02 (the start of that day, UTC) or 2006-01-02T15:04:05Z")
	return c
}
