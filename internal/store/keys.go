package store

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Key, Class and Switches are the rows behind the rules.
type (
	Key      = storedb.Key
	Class    = storedb.Class
	Switches = storedb.Switches
)

// The classes of key.
const (
	ClassSecret      = storedb.ClassSecret
	ClassPublishable = storedb.ClassPublishable
)

// Access is what a request may do once its key is known.
type Access struct {
	Actor    people.Actor
	Switches Switches
}

// Authenticate finds the key that a program sent and notes its use. The error
// is of kind Unauthorized, with the code key_unknown, key_revoked or
// key_expired, all with the same message. It answers from memory, as far as
// memory can be trusted.
func (s *Store) Authenticate(ctx context.Context, key string, from netip.Addr) (Access, error) {
	if !s.prepared() {
		return Access{}, s.notPrepared()
	}
	k, digest, err := s.findKey(ctx, key)
	if !s.prepared() { // the digest was made with a key file that was replaced
		return Access{}, s.notPrepared()
	}
	if err != nil {
		return Access{}, err
	}
	now := s.now()
	if err := usable(k, digest, now); err != nil {
		return Access{}, err
	}
	s.uses.Note(k.ID, now, from)
	access := Access{Actor: k.actor, Switches: k.Switches}
	access.Actor.Addr = from
	return access, nil
}

// usable tells whether a value of a key opens anything now: the key is neither
// revoked nor expired, and an earlier value is within its overlap.
func usable(k *cachedKey, digest storedb.KeyDigest, now time.Time) error {
	switch {
	case !k.RevokedAt.IsZero():
		return fault.Unauthorized("key_revoked", countersign.MsgInvalidRequest)
	case passed(k.ExpiresAt, now):
		return fault.Unauthorized("key_expired", countersign.MsgInvalidRequest)
	case digest != k.Digest && (k.PreviousExpiresAt.IsZero() || passed(k.PreviousExpiresAt, now)):
		return fault.Unauthorized("key_expired", countersign.MsgInvalidRequest)
	}
	return nil
}

// passed tells whether an end has come; no end never comes.
func passed(end countersign.Timestamp, now time.Time) bool {
	return !end.IsZero() && !now.Before(end.Time)
}

// NewKey describes a key to be made. Item is the item of a publishable key.
type NewKey struct {
	Workspace string
	Name      string
	Class     Class
	Item      int64
	ExpiresAt countersign.Timestamp
}

// CreateKey makes a key and returns it with its value.
func (s *Store) CreateKey(ctx context.Context, a people.Actor, n NewKey) (Key, string, error) {
	if err := may(a, manage); err != nil {
		return Key{}, "", err
	}
	if err := checkName("the key's name", n.Name); err != nil {
		return Key{}, "", err
	}
	k := Key{Workspace: n.Workspace, Name: n.Name, Class: n.Class, ItemID: n.Item, ExpiresAt: n.ExpiresAt, CreatedAt: s.timestamp()}
	token := newKeyValue(n.Class)
	s.setValue(&k, token)
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := tx.Workspace(ctx, n.Workspace)
		if err != nil {
			return sqldb.IfNotFound(err, noWorkspace(n.Workspace))
		}
		k.WorkspaceID = w.ID
		if err := checkScope(ctx, tx, k); err != nil {
			return err
		}
		k.ID, err = tx.AddKey(ctx, k)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("key_exists", fmt.Sprintf("The workspace %s already has a key named %q (revoked keys keep their names); choose another name", n.Workspace, n.Name))
		}
		if err != nil {
			return err
		}
		if err := s.sameKeyFile(ctx, tx); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, "key.create", n.Workspace, n.Name, string(n.Class))
	})
	return k, token, err
}

// setValue gives a key its current value: digest, hint and sealed text.
func (s *Store) setValue(k *Key, token string) {
	k.Digest, k.Hint = keyDigest(s.box.Load(), token), hint(token)
	k.Sealed = s.box.Load().Seal(sealPurpose(k.Digest), []byte(token))
}

// sealPurpose binds a sealed value to its digest, so that values can't be swapped.
func sealPurpose(digest storedb.KeyDigest) string { return fmt.Sprintf("api key %x", digest) }

// checkScope holds a publishable key to an item of its workspace, and a secret
// one to none.
func checkScope(ctx context.Context, tx *storedb.DB, k Key) error {
	switch {
	case k.Class == ClassSecret && k.ItemID != 0:
		return fault.Invalid(fault.CodeInvalid, "A secret key opens all items; only a publishable key is bound to one")
	case k.Class == ClassSecret:
		return nil
	case k.Class != ClassPublishable:
		return fault.Invalid(fault.CodeInvalid, fmt.Sprintf("A key's class is secret or publishable, not %q", k.Class))
	case k.ItemID == 0:
		return fault.Invalid(fault.CodeInvalid, "A publishable key is bound to one item; name it")
	}
	owner, err := tx.ItemWorkspace(ctx, k.ItemID)
	if errors.Is(err, sqldb.ErrNotFound) || (err == nil && owner != k.WorkspaceID) {
		return fault.NotFound("item_not_found", fmt.Sprintf("The workspace %s has no item %d", k.Workspace, k.ItemID))
	}
	return err
}

// Keys lists the keys of a workspace, of all workspaces when it is "".
func (s *Store) Keys(ctx context.Context, a people.Actor, workspace string) ([]Key, error) {
	if err := may(a, manage); err != nil {
		return nil, err
	}
	if workspace != "" {
		if _, err := s.Workspace(ctx, a, workspace); err != nil {
			return nil, err
		}
	}
	all, err := s.db.Keys(ctx)
	if err != nil || workspace == "" {
		return all, err
	}
	var own []Key
	for _, k := range all {
		if k.Workspace == workspace {
			own = append(own, k)
		}
	}
	return own, nil
}

// RevealKey shows the current value of a key again, and writes that down.
func (s *Store) RevealKey(ctx context.Context, a people.Actor, id int64) (Key, string, error) {
	var token string
	k, err := s.changeKey(ctx, a, id, "key.reveal", func(_ *storedb.DB, k *Key) error {
		plain, err := s.box.Load().Open(sealPurpose(k.Digest), k.Sealed)
		if err != nil {
			return fault.Conflict("key_not_kept", "The value of this key can't be shown again: it was dropped with an earlier key file. Rotate the key to get a new value")
		}
		token = string(plain)
		return nil
	})
	return k, token, err
}

// RotateKey gives a key a new value. The one before works for the overlap; an
// earlier one still in its overlap ends at once.
func (s *Store) RotateKey(ctx context.Context, a people.Actor, id int64, overlap time.Duration) (Key, string, error) {
	if overlap < 0 {
		return Key{}, "", fault.Invalid(fault.CodeInvalid, "The overlap can't be negative")
	}
	var token string
	k, err := s.changeKey(ctx, a, id, "key.rotate", func(tx *storedb.DB, k *Key) error {
		if !k.RevokedAt.IsZero() {
			return fault.Conflict("key_revoked", "This key is revoked")
		}
		previous := k.Digest
		k.Previous, k.PreviousSealed = &previous, k.Sealed
		k.PreviousExpiresAt = countersign.At(s.now().Add(overlap))
		token = newKeyValue(k.Class)
		s.setValue(k, token)
		if err := s.sameKeyFile(ctx, tx); err != nil {
			return err
		}
		return tx.UpdateKey(ctx, *k)
	})
	return k, token, err
}

// RevokeKey ends a key, its current and its earlier value, for good. Revoking it
// again changes nothing.
func (s *Store) RevokeKey(ctx context.Context, a people.Actor, id int64) (Key, error) {
	return s.changeKey(ctx, a, id, "key.revoke", func(tx *storedb.DB, k *Key) error {
		if !k.RevokedAt.IsZero() {
			return nil
		}
		k.RevokedAt = s.timestamp()
		return tx.UpdateKey(ctx, *k)
	})
}

// SetKeyExpiry gives a key an end, or none for the zero time.
func (s *Store) SetKeyExpiry(ctx context.Context, a people.Actor, id int64, at countersign.Timestamp) (Key, error) {
	return s.changeKey(ctx, a, id, "key.expire", func(tx *storedb.DB, k *Key) error {
		k.ExpiresAt = at
		return tx.UpdateKey(ctx, *k)
	})
}

// changeKey runs an act on a key and its line of audit in one transaction.
func (s *Store) changeKey(ctx context.Context, a people.Actor, id int64, name string, act func(*storedb.DB, *Key) error) (Key, error) {
	if err := may(a, manage); err != nil {
		return Key{}, err
	}
	var k Key
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		var err error
		if k, err = tx.LockKey(ctx, id); err != nil {
			return sqldb.IfNotFound(err, fault.NotFound("key_not_found", fmt.Sprintf("There is no key %d", id)))
		}
		if err := act(tx, &k); err != nil {
			return err
		}
		return s.audit(ctx, tx, a, name, k.Workspace, k.Name, "")
	})
	return k, err
}
