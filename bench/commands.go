package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/countersign/countersign/internal/store/sample"
)

// commands are the store's commands, each a process beside the server.
type commands struct{ shop *shop }

func (c commands) refund(ctx context.Context, code string) error {
	return c.shop.command(ctx, "store", "purchase", "refund", code)
}

func (c commands) createKey(ctx context.Context, name string) (id int64, key string, err error) {
	out, err := c.shop.program(ctx, append([]string{"store", "key", "create", name, "--workspace", sample.BigWorkspace, "--json"}, c.shop.flags()...)...)
	if err != nil {
		return 0, "", err
	}
	var made struct {
		ID  int64  `json:"id"`
		Key string `json:"key"`
	}
	err = json.Unmarshal(out, &made)
	return made.ID, made.Key, err
}

func (c commands) revokeKey(ctx context.Context, id int64) error {
	return c.shop.command(ctx, "store", "key", "revoke", strconv.FormatInt(id, 10), "--yes")
}
