package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newKeyRevoke(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "revoke ID", Short: "End a key for good", Args: one("key's id"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "key", args[0])
			if err != nil {
				return err
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				question := fmt.Sprintf("Revoke key %d%s? Programs that use it stop working, and it can't be taken back.", id, keyName(ctx, s, id))
				if err := a.confirm(ctx, question); err != nil {
					return err
				}
				k, err := s.RevokeKey(ctx, operator(), id)
				if err != nil {
					return err
				}
				return a.printKey(k)
			})
		},
	}
}

// keyName describes a key for a question, "" when it can't be found.
func keyName(ctx context.Context, s *store.Store, id int64) string {
	keys, err := s.Keys(ctx, operator(), "")
	if err != nil {
		return ""
	}
	for _, k := range keys {
		if k.ID == id {
			return fmt.Sprintf(" (%q of %s, %s)", k.Name, k.Workspace, k.Hint)
		}
	}
	return ""
}
