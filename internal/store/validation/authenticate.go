package validation

import (
	"context"
	"net/netip"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Access is what a request may do once its key is known.
type Access struct {
	Actor    people.Actor
	Switches storedb.Switches
	// KeyID and Workspace are also set beside an error, when the key is known.
	KeyID, Workspace int64
}

// Authenticate returns the access of a key and records its use. The error is of kind
// Unauthorized, with the code key_unknown, key_revoked or key_expired, all with the
// same message. It uses the key cache while the cache is valid.
func (v *Validator) Authenticate(ctx context.Context, key string, from netip.Addr) (Access, error) {
	if err := v.gate.Ready(); err != nil {
		return Access{}, err
	}
	k, digest, err := v.keys.find(ctx, key)
	if err := v.gate.Ready(); err != nil { // the digest was made with a key file that was replaced
		return Access{}, err
	}
	if err != nil {
		return Access{}, err
	}
	now := v.now()
	if err := usable(k, digest, now); err != nil {
		return Access{KeyID: k.ID, Workspace: k.WorkspaceID}, err
	}
	v.uses.Note(k.ID, now, from)
	access := Access{Actor: k.actor, Switches: k.Switches, KeyID: k.ID, Workspace: k.WorkspaceID}
	access.Actor.Addr = from
	return access, nil
}

// NoteUse counts a call with a key at a time from an address, as [Validator.Authenticate] does.
func (v *Validator) NoteUse(key int64, at time.Time, from netip.Addr) { v.uses.Note(key, at, from) }

// usable reports whether a value of a key opens anything now: the key is neither
// revoked nor expired, and an earlier value is within its overlap.
func usable(k *cachedKey, digest storedb.KeyDigest, now time.Time) error {
	switch {
	case !k.RevokedAt.IsZero():
		return fault.Unauthorized("key_revoked", countersign.MsgInvalidRequest)
	case rules.Passed(k.ExpiresAt, now):
		return fault.Unauthorized("key_expired", countersign.MsgInvalidRequest)
	case digest != k.Digest && (k.PreviousExpiresAt.IsZero() || rules.Passed(k.PreviousExpiresAt, now)):
		return fault.Unauthorized("key_expired", countersign.MsgInvalidRequest)
	}
	return nil
}
