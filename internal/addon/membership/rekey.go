package membership

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"math"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/keyfile"
)

// batch is how many rows are read at once.
const batch = 500

// LostTokens lists the ids of the purchases whose tokens an old key file, nil when it is lost,
// can't open any more.
func LostTokens(ctx context.Context, db *addondb.DB, old *keyfile.Box) (lost []string, err error) {
	err = eachPurchase(ctx, db, func(p addondb.Purchase) error {
		if len(p.Sealed) > 0 && keyfile.Reseal(old, old, sealPurpose(p.Name), p.Sealed) == nil {
			lost = append(lost, p.Name)
		}
		return nil
	})
	return lost, err
}

// Reseal brings purchases and notifications from an old key file, nil when it is lost, to a
// new one: tokens are sealed again, and digests made again. A purchase whose tokens are lost
// keeps its access until it ends, and apps restore it.
func Reseal(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	if err := tx.ForgetTokens(ctx); err != nil {
		return err
	}
	if err := eachPurchase(ctx, tx, func(p addondb.Purchase) error { return resealPurchase(ctx, tx, p, old, fresh) }); err != nil {
		return err
	}
	if err := eachQueued(ctx, tx, func(q addondb.QueuedVerification) error { return resealQueued(ctx, tx, q, old, fresh) }); err != nil {
		return err
	}
	if err := resealMessages(ctx, tx, old, fresh); err != nil {
		return err
	}
	return resealSigningKey(ctx, tx, old, fresh)
}

func eachPurchase(ctx context.Context, tx *addondb.DB, do func(addondb.Purchase) error) error {
	for after := int64(0); ; {
		list, err := tx.Purchases(ctx, after, batch)
		if err != nil {
			return err
		}
		for _, p := range list {
			if err := do(p); err != nil {
				return err
			}
			after = p.ID
		}
		if len(list) < batch {
			return nil
		}
	}
}

func resealPurchase(ctx context.Context, tx *addondb.DB, p addondb.Purchase, old, fresh *keyfile.Box) error {
	if old != nil {
		if stored, err := openTokens(old, p); err == nil {
			sealed, err := seal(fresh, p.Name, stored)
			if err != nil {
				return err
			}
			before := stored.Before
			if len(before) == 0 && p.Retires && stored.Linked != "" { // written by an older version
				before = []string{stored.Linked}
			}
			set := tx.SetFirstSuccessor
			if p.Retires {
				set = tx.SetSuccessor
			}
			for _, token := range before {
				if err := set(ctx, digestOf(fresh, token), p.ID); err != nil {
					return err
				}
			}
			return tx.SetPurchaseKey(ctx, p.ID, digestOf(fresh, stored.Token), linkedDigest(fresh, stored.Linked), sealed)
		}
	}
	nobody := make([]byte, len(p.TokenDigest)) // the digest of no token
	rand.Read(nobody)
	return tx.SetPurchaseKey(ctx, p.ID, nobody, nil, []byte{})
}

func resealMessages(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	for before := int64(math.MaxInt64); ; {
		list, err := tx.Messages(ctx, before, batch)
		if err != nil {
			return err
		}
		for _, m := range list {
			before = m.ID
			sealed, digest, err := resealMessage(m, old, fresh)
			if err != nil {
				return err
			}
			if err := tx.SetMessageKey(ctx, m.ID, digest, sealed); err != nil {
				return err
			}
		}
		if len(list) < batch {
			return nil
		}
	}
}

func resealMessage(m addondb.Message, old, fresh *keyfile.Box) (sealed, digest []byte, err error) {
	if old == nil {
		return []byte{}, nil, nil
	}
	plain, err := old.Open(messagePurpose(m.MessageID), m.Sealed)
	if err != nil {
		return []byte{}, nil, nil
	}
	var body sealedMessage
	if err := json.Unmarshal(plain, &body); err != nil {
		return nil, nil, fmt.Errorf("membership: a stored notification: %w", err)
	}
	return fresh.Seal(messagePurpose(m.MessageID), plain), linkedDigest(fresh, body.Token), nil
}
