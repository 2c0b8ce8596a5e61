package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
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

// NewKey describes a key to be made. Item is the item of a publishable key.
type NewKey struct {
	Workspace string
	Name      string
	Class     Class
	Item      int64
	ExpiresAt countersign.Timestamp
}

// Check returns what is wrong with the name of a key that is to be made.
func (n NewKey) Check() error { return fault.At("name", rules.CheckName("the key's name", n.Name)) }

// CreateKey creates a key and returns it with its value.
func (s *Store) CreateKey(ctx context.Context, a people.Actor, n NewKey) (Key, string, error) {
	k := Key{Workspace: n.Workspace, Name: n.Name, Class: n.Class, ItemID: n.Item, ExpiresAt: n.ExpiresAt, CreatedAt: s.timestamp()}
	token := rules.NewKeyValue(n.Class)
	err := s.db.Tx(ctx, func(tx *storedb.DB) error {
		w, err := access.Workspace(ctx, tx, a, n.Workspace, access.Own)
		if err != nil {
			return err
		}
		if err := n.Check(); err != nil {
			return err
		}
		k.WorkspaceID = w.ID
		rules.SetKeyValue(s.Instance.Gate.Box(), &k, token)
		if err := rules.CheckKeyScope(ctx, tx, k); err != nil {
			return err
		}
		k.ID, err = tx.AddKey(ctx, k)
		if errors.Is(err, sqldb.ErrExists) {
			return fault.Conflict("key_exists", fmt.Sprintf("The workspace %s already has a key named %q (revoked keys keep their names). Choose another name", n.Workspace, n.Name))
		}
		if err != nil {
			return err
		}
		if err := s.Instance.Gate.SameKeyFile(ctx, tx.Queries); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, people.Event{Action: actionCreateKey, Workspace: n.Workspace, Subject: n.Name, Detail: string(n.Class)})
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, token, nil
}

// Keys lists the keys of a workspace, of all workspaces when it is "".
func (s *Store) Keys(ctx context.Context, a people.Actor, workspace string) ([]Key, error) {
	if workspace == "" {
		if err := access.May(a, access.Administer); err != nil {
			return nil, err
		}
		return s.db.Keys(ctx)
	}
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return nil, err
	}
	return s.db.KeysOf(ctx, w.ID)
}

// Key reads one key, without its value.
func (s *Store) Key(ctx context.Context, a people.Actor, id int64) (Key, error) {
	k, err := s.db.Key(ctx, id)
	if err == nil {
		err = access.In(ctx, s.db, a, k.WorkspaceID, access.View, noKey(id))
	}
	if err != nil {
		return Key{}, sqldb.IfNotFound(err, noKey(id))
	}
	return k, nil
}

// KeyState is what a key can be used for at a time.
type KeyState string

// The states of a key.
const (
	KeyActive  KeyState = "active"
	KeyRevoked KeyState = "revoked"
	KeyExpired KeyState = "expired"
)

// KeyStateAt returns the state that a key has at a time.
func KeyStateAt(k Key, now time.Time) KeyState {
	switch {
	case !k.RevokedAt.IsZero():
		return KeyRevoked
	case rules.Passed(k.ExpiresAt, now):
		return KeyExpired
	}
	return KeyActive
}

// RevealKey shows the current value of a key again, and writes that down.
func (s *Store) RevealKey(ctx context.Context, a people.Actor, id int64) (Key, string, error) {
	var token string
	k, err := s.changeKey(ctx, a, id, actionRevealKey, func(_ *storedb.DB, k *Key, _ *people.Event) (err error) {
		token, err = s.openKey(k)
		return err
	})
	return k, token, err
}

// KeyForCall returns the value of a key for one call of the API, in the name of a manager, and
// notes the use in the audit log. The value is for the API alone: only owners may see it, with [Store.RevealKey].
func (s *Store) KeyForCall(ctx context.Context, a people.Actor, id int64, endpoint string) (value string, err error) {
	_, err = s.lockKey(ctx, a, id, access.Manage, actionUseKey, func(_ *storedb.DB, k *Key, e *people.Event) (err error) {
		e.Detail = endpoint
		value, err = s.openKey(k)
		return err
	})
	return value, err
}

// openKey returns the current value of a key.
func (s *Store) openKey(k *Key) (string, error) {
	value, ok := rules.OpenKeyValue(s.Instance.Gate.Box(), k.Digest, k.Sealed)
	if !ok {
		return "", fault.Conflict("key_not_kept", "The value of this key can't be revealed: it was deleted with an earlier key file. Rotate the key to get a new value")
	}
	return value, nil
}

// EarlierValue is the value that a key had before its last rotation, while it still works.
type EarlierValue struct {
	Key Key
	// Hint is its ends, "" when the value was deleted with an earlier key file.
	Hint string
	// EndsAt is when it ends; zero when no earlier value works.
	EndsAt countersign.Timestamp
}

// EarlierValue returns the value of a key that another rotation would end at once.
func (s *Store) EarlierValue(ctx context.Context, a people.Actor, id int64) (EarlierValue, error) {
	k, err := s.Key(ctx, a, id)
	if err != nil {
		return EarlierValue{}, err
	}
	return s.earlierValue(k), nil
}

func (s *Store) earlierValue(k Key) EarlierValue {
	e, now := EarlierValue{Key: k}, s.now()
	if k.Previous == nil || !k.RevokedAt.IsZero() || rules.Passed(k.ExpiresAt, now) || k.PreviousExpiresAt.IsZero() || rules.Passed(k.PreviousExpiresAt, now) {
		return e
	}
	e.EndsAt = k.PreviousExpiresAt
	if !k.ExpiresAt.IsZero() && k.ExpiresAt.Before(e.EndsAt.Time) {
		e.EndsAt = k.ExpiresAt
	}
	if value, ok := rules.OpenKeyValue(s.Instance.Gate.Box(), *k.Previous, k.PreviousSealed); ok {
		e.Hint = rules.Hint(value)
	}
	return e
}

func noKey(id int64) error {
	return fault.NotFound("key_not_found", fmt.Sprintf("No key %d", id))
}

var errKeyRotated = fault.New(countersign.KindPrecondition, "key_rotated", "Nothing was changed: this key was rotated already")

// RotateKey sets a new value of a key. The previous one works for the overlap; an
// earlier one still in its overlap ([Store.EarlierValue]) ends at once. With the hint of the value that the actor has
// seen, "" for none, a key whose value has changed since stays as it is: the error is of kind Precondition (key_rotated).
func (s *Store) RotateKey(ctx context.Context, a people.Actor, id int64, overlap time.Duration, seen string) (Key, string, error) {
	if overlap < 0 {
		return Key{}, "", fault.Invalid(fault.CodeInvalid, "The overlap can't be negative")
	}
	var token string
	k, err := s.changeKey(ctx, a, id, actionRotateKey, func(tx *storedb.DB, k *Key, e *people.Event) error {
		if seen != "" && k.Hint != seen {
			return errKeyRotated
		}
		if !k.RevokedAt.IsZero() {
			return fault.Conflict("key_revoked", "This key is revoked")
		}
		if earlier := s.earlierValue(*k); !earlier.EndsAt.IsZero() {
			e.Detail = "ended an earlier value before " + earlier.EndsAt.String()
		}
		e.Before = k.Hint
		previous := k.Digest
		k.Previous, k.PreviousSealed = &previous, k.Sealed
		k.PreviousExpiresAt = countersign.At(s.now().Add(overlap))
		token = rules.NewKeyValue(k.Class)
		rules.SetKeyValue(s.Instance.Gate.Box(), k, token)
		e.After = k.Hint
		if err := s.Instance.Gate.SameKeyFile(ctx, tx.Queries); err != nil {
			return err
		}
		return tx.UpdateKey(ctx, *k)
	})
	return k, token, err
}

// UndoRevoke is how long [Store.RestoreKey] brings a revoked key back.
const UndoRevoke = 10 * time.Minute

// RestoreKey brings a key back within [UndoRevoke] of its revocation, with the values that
// still had time. Later it is a conflict (key_revoked), and so is a key that is not revoked
// (key_active).
func (s *Store) RestoreKey(ctx context.Context, a people.Actor, id int64) (Key, error) {
	return s.changeKey(ctx, a, id, actionRestoreKey, func(tx *storedb.DB, k *Key, _ *people.Event) error {
		switch {
		case k.RevokedAt.IsZero():
			return fault.Conflict("key_active", "Nothing changed: this key is not revoked")
		case !s.now().Before(k.RevokedAt.Add(UndoRevoke)):
			return fault.Conflict("key_revoked", "Nothing changed: a key can be restored within ten minutes of its revocation. Create a new key")
		}
		k.RevokedAt = countersign.Timestamp{}
		return tx.UpdateKey(ctx, *k)
	})
}

// RevokeKey ends a key, its current and its earlier value. [Store.RestoreKey] undoes it for
// a short time. Revoking it again changes nothing.
func (s *Store) RevokeKey(ctx context.Context, a people.Actor, id int64) (Key, error) {
	k, err := s.changeKey(ctx, a, id, actionRevokeKey, func(tx *storedb.DB, k *Key, _ *people.Event) error {
		if !k.RevokedAt.IsZero() {
			return errSame
		}
		k.RevokedAt = s.timestamp()
		return tx.UpdateKey(ctx, *k)
	})
	return k, ifChanged(err)
}

// SetKeyExpiry sets the expiry of a key, or none for the zero time.
func (s *Store) SetKeyExpiry(ctx context.Context, a people.Actor, id int64, at countersign.Timestamp) (Key, error) {
	return s.changeKey(ctx, a, id, actionExpireKey, func(tx *storedb.DB, k *Key, _ *people.Event) error {
		k.ExpiresAt = at
		return tx.UpdateKey(ctx, *k)
	})
}

// changeKey runs an act of an owner on a key and its entry of the audit log, which the act may
// describe, in one transaction.
func (s *Store) changeKey(ctx context.Context, a people.Actor, id int64, did people.Action, act func(*storedb.DB, *Key, *people.Event) error) (Key, error) {
	return s.lockKey(ctx, a, id, access.Own, did, act)
}

// lockKey is changeKey for those with a permission in the key's workspace.
func (s *Store) lockKey(ctx context.Context, a people.Actor, id int64, what access.Permission, did people.Action, act func(*storedb.DB, *Key, *people.Event) error) (Key, error) {
	var k Key
	err := s.db.Tx(ctx, func(tx *storedb.DB) (err error) {
		k, err = tx.LockKey(ctx, id)
		if err == nil {
			err = access.In(ctx, tx, a, k.WorkspaceID, what, noKey(id))
		}
		if err != nil {
			return sqldb.IfNotFound(err, noKey(id))
		}
		event := people.Event{Action: did, Workspace: k.Workspace, Subject: k.Name}
		if err := act(tx, &k, &event); err != nil {
			return err
		}
		return people.Record(ctx, &tx.DB, s.now(), a, event)
	})
	return k, err
}
