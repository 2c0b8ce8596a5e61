package validation

import (
	"context"
	"errors"
	"strconv"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// keyTable is every key by its digests.
type keyTable struct {
	byDigest map[storedb.KeyDigest]*cachedKey
	// imported says that some may have come from another shop, whose digests take longer
	// to make. Without any, nothing is made for a key that is not one of ours.
	imported bool
}

// cachedKey is a key and the actor that it makes of whoever has it.
type cachedKey struct {
	storedb.HeldKey
	actor people.Actor
}

func newCachedKey(k storedb.HeldKey) *cachedKey {
	return &cachedKey{k, people.Actor{
		Kind: people.KindKey, ID: strconv.FormatInt(k.ID, 10), Face: people.FaceAPI,
		Workspace: k.WorkspaceID, Secret: k.Class == storedb.ClassSecret, Item: k.ItemID,
	}}
}

// readKeys reads every key.
func (v *Validator) readKeys(ctx context.Context) (*keyTable, error) {
	list, err := v.db.HeldKeys(ctx)
	if err != nil {
		return nil, err
	}
	t := &keyTable{byDigest: make(map[storedb.KeyDigest]*cachedKey, len(list))}
	for _, k := range list {
		c := newCachedKey(k)
		t.byDigest[k.Digest] = c
		if k.Previous != nil {
			t.byDigest[*k.Previous] = c
		}
		t.imported = t.imported || !rules.IsOurs(k.Hint) || k.Previous != nil
	}
	return t, nil
}

// findKey finds a key by one of its values, and returns the digest that found it. The
// keys that the store made have one digest; an imported one may still have the plain
// one of an earlier version.
func (v *Validator) findKey(ctx context.Context, value string) (*cachedKey, storedb.KeyDigest, error) {
	ours := rules.IsOurs(value)
	if t := v.keys.Cached(); t != nil && !t.imported && !ours {
		return nil, storedb.KeyDigest{}, errKeyUnknown
	}
	digest := rules.KeyDigest(v.gate.Box(), value)
	k, err := v.findDigest(ctx, value, digest)
	if errors.Is(err, errKeyUnknown) && !ours {
		digest = token.Digest(value)
		k, err = v.findDigest(ctx, value, digest)
	}
	return k, digest, err
}

func (v *Validator) findDigest(ctx context.Context, value string, digest storedb.KeyDigest) (*cachedKey, error) {
	if t := v.keys.Cached(); t != nil {
		if k := t.byDigest[digest]; k != nil {
			return k, nil
		}
		return nil, errKeyUnknown
	}
	if rules.Mistyped(value) {
		return nil, errKeyUnknown
	}
	k, err := v.db.HeldKey(ctx, digest)
	if err != nil {
		return nil, sqldb.IfNotFound(err, errKeyUnknown)
	}
	return newCachedKey(k), nil
}

var errKeyUnknown error = fault.Unauthorized("key_unknown", countersign.MsgInvalidRequest)
