package validation

import (
	"context"
	"errors"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/cached"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// keyTable is every key by its digests.
type keyTable map[storedb.KeyDigest]*cachedKey

// keyCache finds keys, in memory as far as that can be trusted.
type keyCache struct {
	cached.Value[keyTable]
	db   *storedb.DB
	gate *instance.Gate
}

// cachedKey is a key and the actor that it makes of whoever has it.
type cachedKey struct {
	storedb.CachedKey
	actor people.Actor
}

func newCachedKey(k storedb.CachedKey) *cachedKey {
	return &cachedKey{k, people.Actor{
		Kind: people.KindKey, ID: strconv.FormatInt(k.ID, 10), FrontEnd: people.FrontEndAPI,
		Workspace: k.WorkspaceID, Secret: k.Class == storedb.ClassSecret, Item: k.ItemID,
	}}
}

// readAll reads every key.
func (c *keyCache) readAll(ctx context.Context) (*keyTable, error) {
	list, err := c.db.CachedKeys(ctx)
	if err != nil {
		return nil, err
	}
	t := make(keyTable, len(list))
	for _, k := range list {
		one := newCachedKey(k)
		t[k.Digest] = one
		if k.Previous != nil {
			t[*k.Previous] = one
		}
	}
	return &t, nil
}

// find finds a key by one of its values, and returns the digest that found it. The
// keys that the store made have one digest; an imported one may still have the plain
// one of an earlier version.
func (c *keyCache) find(ctx context.Context, value string) (*cachedKey, storedb.KeyDigest, error) {
	digest := rules.KeyDigest(c.gate.Box(), value)
	k, err := c.findDigest(ctx, value, digest)
	if errors.Is(err, errKeyUnknown) && !rules.IsOurs(value) {
		digest = token.Digest(value)
		k, err = c.findDigest(ctx, value, digest)
	}
	return k, digest, err
}

func (c *keyCache) findDigest(ctx context.Context, value string, digest storedb.KeyDigest) (*cachedKey, error) {
	if t := c.Cached(); t != nil {
		if k := (*t)[digest]; k != nil {
			return k, nil
		}
		return nil, errKeyUnknown
	}
	if rules.Mistyped(value) {
		return nil, errKeyUnknown
	}
	k, err := c.db.CachedKey(ctx, digest)
	if err != nil {
		return nil, sqldb.IfNotFound(err, errKeyUnknown)
	}
	return newCachedKey(k), nil
}

var errKeyUnknown error = fault.Unauthorized("key_unknown", countersign.MsgInvalidRequest)
