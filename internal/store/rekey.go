package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// RekeyPlan describes what a new key file would cost.
type RekeyPlan struct {
	instance.Lost
	// Dropped are the keys whose values can't be shown again afterwards. They go on
	// working, but for those in Ended.
	Dropped []Key
	// Ended are the imported keys among them: their digests were made with the key file
	// that is lost, so they stop working until they are imported again. An imported
	// value that a rotation has replaced ends with them.
	Ended []Key
	// LicenseKey is the id of the key that signs licenses when it can't be opened any
	// more. Licenses that it has signed stay good; a new key signs the next ones.
	LicenseKey string
}

// Working are the dropped keys that still work.
func (p RekeyPlan) Working() (list []Key) {
	for _, k := range p.Dropped {
		if !slices.ContainsFunc(p.Ended, func(ended Key) bool { return ended.ID == k.ID }) {
			list = append(list, k)
		}
	}
	return list
}

// PlanRekey returns what Rekey would drop. It needs no key file.
func (s *Store) PlanRekey(ctx context.Context) (RekeyPlan, error) {
	if err := s.rekeyable(ctx); err != nil {
		return RekeyPlan{}, err
	}
	old, err := s.Instance.Location.Old(ctx, s.db.Queries)
	if err != nil {
		return RekeyPlan{}, err
	}
	made, err := s.db.Meta(ctx, keyDigests)
	if err != nil {
		return RekeyPlan{}, err
	}
	keys, err := s.db.Keys(ctx)
	if err != nil {
		return RekeyPlan{}, err
	}
	var plan RekeyPlan
	for _, k := range keys {
		current := k.Sealed != nil && !opens(old, k.Digest, k.Sealed)
		previous := k.Previous != nil && k.PreviousSealed != nil && !opens(old, *k.Previous, k.PreviousSealed)
		if current || previous {
			plan.Dropped = append(plan.Dropped, k)
		}
		if current && !rules.IsOurs(k.Hint) && made != plainDigests {
			plan.Ended = append(plan.Ended, k)
		}
	}
	if plan.LicenseKey, err = licensing.LostKey(ctx, s.db, old); err != nil {
		return RekeyPlan{}, err
	}
	plan.Lost, err = s.Instance.Lost(ctx, old)
	return plan, err
}

func (s *Store) rekeyable(ctx context.Context) error {
	state, err := s.Instance.Replaceable(ctx)
	if err != nil {
		return err
	}
	if state != sqldb.StateCurrent {
		return fault.Conflict("schema_"+string(state), "The database "+map[sqldb.State]string{
			sqldb.StateEmpty: "has no tables yet", sqldb.StateOlder: "is of an older version", sqldb.StateNewer: "is of a newer version",
		}[state]+"; nothing was changed")
	}
	return nil
}

// Rekey creates a new key file for a database whose key file is lost or was disclosed.
// It computes the digests of all purchase codes again. It encrypts sealed values again
// if the old key file is there, and deletes them otherwise.
func (s *Store) Rekey(ctx context.Context, a people.Actor) (RekeyPlan, error) {
	if err := access.May(a, access.Operate); err != nil {
		return RekeyPlan{}, err
	}
	plan, err := s.PlanRekey(ctx)
	if err != nil {
		return RekeyPlan{}, err
	}
	detail := fmt.Sprintf("%d key values deleted", len(plan.Dropped))
	err = s.Instance.Rekey(ctx, a, detail, func(q sqldb.Queries, old, fresh *keyfile.Box) error {
		tx := storedb.In(q)
		if err := replaceKey(ctx, tx, old, fresh); err != nil {
			return err
		}
		return licensing.ResealKeys(ctx, tx, old, fresh, s.timestamp())
	})
	if err != nil {
		return RekeyPlan{}, err
	}
	s.Instance.Gate.SetReason(nil)
	return plan, nil
}

// replaceKey brings everything in the database that depends on the key file from
// an old one, nil when it is lost, to a new one.
func replaceKey(ctx context.Context, tx *storedb.DB, old, fresh *keyfile.Box) error {
	if err := rebuildDigests(ctx, tx, old, fresh); err != nil {
		return err
	}
	if err := resealKeys(ctx, tx, old, fresh); err != nil {
		return err
	}
	return tx.SetMeta(ctx, keyDigests, keyedDigests)
}

// rebuildDigests sets new digests of all purchases. What license files say of their
// purchases stays, as far as the old key file can say it again.
func rebuildDigests(ctx context.Context, tx *storedb.DB, old, fresh *keyfile.Box) error {
	if old != nil {
		if err := tx.KeepClaims(ctx, func(code string) string { return old.CodeName(rules.FoldCode(code)) }); err != nil {
			return err
		}
	}
	return tx.RebuildDigests(ctx, func(code string) storedb.Digest { return fresh.CodeDigest(rules.FoldCode(code)) })
}

func resealKeys(ctx context.Context, tx *storedb.DB, old, fresh *keyfile.Box) error {
	keys, err := tx.Keys(ctx)
	if err != nil {
		return err
	}
	for _, k := range keys {
		k.Digest, k.Sealed = rules.CarryKeyValue(old, fresh, k.Digest, k.Sealed)
		if k.Previous != nil {
			*k.Previous, k.PreviousSealed = rules.CarryKeyValue(old, fresh, *k.Previous, k.PreviousSealed)
		}
		if err := tx.UpdateKey(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// opens reports whether a key's sealed value can be opened; nil is a lost key file.
func opens(box *keyfile.Box, digest storedb.KeyDigest, sealed []byte) bool {
	_, again := rules.CarryKeyValue(box, box, digest, sealed)
	return again != nil
}
