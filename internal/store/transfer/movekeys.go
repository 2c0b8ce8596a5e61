package transfer

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

func (imp *importer) moveKeys(ctx context.Context, tx *storedb.DB) error {
	first := firsts[keyLine]{}
	for _, n := range imp.keys {
		name := n.value.Workspace + " " + n.value.Name
		repeated, err := first.repeats(n.line, name, n.value)
		if repeated {
			imp.report.Keys.Repeated++
			continue
		}
		if err == nil {
			err = imp.moveKey(ctx, tx, n.value)
		}
		var bad *badLine
		switch {
		case errors.As(err, &bad):
			imp.bad[n.line] = bad.Error()
		case err != nil:
			return err
		default:
			first[name] = n
		}
	}
	return nil
}

func (imp *importer) moveKey(ctx context.Context, tx *storedb.DB, l keyLine) error {
	old, found, err := imp.oldKey(ctx, tx, l)
	if err != nil {
		return err
	}
	k := imp.service.keyFromLine(old, l)
	if err := imp.checkKey(ctx, tx, k, l); err != nil {
		return err
	}
	switch {
	case !found:
		imp.report.Keys.New++
		_, err = tx.AddKey(ctx, k)
		return err
	case sameKey(k, old):
		imp.report.Keys.Same++
		return nil
	}
	imp.report.Keys.Changed++
	return tx.UpdateKey(ctx, k)
}

// oldKey is the key that a line names, or the beginning of a new one.
func (imp *importer) oldKey(ctx context.Context, tx *storedb.DB, l keyLine) (k storedb.Key, found bool, err error) {
	w, err := tx.Workspace(ctx, l.Workspace)
	if err != nil {
		return storedb.Key{}, false, err
	}
	k, err = tx.KeyNamed(ctx, w.ID, l.Name)
	if errors.Is(err, sqldb.ErrNotFound) {
		return storedb.Key{WorkspaceID: w.ID, Workspace: l.Workspace, Name: l.Name, Class: storedb.ClassSecret, CreatedAt: imp.service.timestamp()}, false, nil
	}
	if err != nil {
		return storedb.Key{}, false, err
	}
	k, err = tx.LockKey(ctx, k.ID)
	return k, err == nil, err
}

// keyFromLine is what a line makes of a key. What the line does not name stays,
// and an old file undoes nothing: a revoked key stays revoked, and a value that a
// rotation has replaced does not come back. A new key whose line has no value
// gets one.
func (s *Service) keyFromLine(k storedb.Key, l keyLine) storedb.Key {
	if l.Class != "" {
		k.Class, k.ItemID = l.Class, l.ItemID
	}
	box := s.gate.Box()
	switch {
	case l.Key == "" && k.ID == 0:
		rules.SetKeyValue(s.gate.Box(), &k, rules.NewKeyValue(k.Class))
	case l.Key == "" || s.hasReplaced(k, l.Key):
	case rules.KeyDigest(box, l.Key) != k.Digest || k.Sealed == nil:
		rules.SetKeyValue(s.gate.Box(), &k, l.Key)
	}
	if l.PreviousKey != "" && !rules.IsDigestOf(s.gate.Box(), k.Digest, l.PreviousKey) && !s.hasReplaced(k, l.PreviousKey) {
		digest := rules.KeyDigest(box, l.PreviousKey)
		k.Previous, k.PreviousSealed = &digest, rules.SealKeyValue(box, digest, l.PreviousKey)
	}
	set := func(to *countersign.Timestamp, from *countersign.Timestamp) {
		if from != nil {
			*to = *from
		}
	}
	set(&k.ExpiresAt, l.ExpiresAt)
	set(&k.PreviousExpiresAt, l.PreviousExpiresAt)
	if k.RevokedAt.IsZero() {
		set(&k.RevokedAt, l.RevokedAt)
	}
	return k
}

// hasReplaced reports whether a value is the one that a key had before.
func (s *Service) hasReplaced(k storedb.Key, value string) bool {
	return k.Previous != nil && rules.IsDigestOf(s.gate.Box(), *k.Previous, value)
}

// checkKey holds a key to an item of its workspace, and its values to itself.
func (imp *importer) checkKey(ctx context.Context, tx *storedb.DB, k storedb.Key, l keyLine) error {
	err := rules.CheckKeyScope(ctx, tx, k)
	if apiErr := fault.Of(err); apiErr != nil && apiErr.Kind != countersign.KindUnavailable {
		return bad(apiErr)
	}
	if err != nil {
		return err
	}
	values := []storedb.KeyDigest{k.Digest}
	if k.Previous != nil {
		values = append(values, *k.Previous)
	}
	for _, value := range []string{l.Key, l.PreviousKey} {
		if value != "" && !rules.IsOurs(value) { // another key may have it from before digests were keyed
			values = append(values, token.Digest(value))
		}
	}
	for _, digest := range values {
		other, err := tx.KeyWithDigest(ctx, digest)
		if errors.Is(err, sqldb.ErrNotFound) || (err == nil && other.ID == k.ID) {
			continue
		}
		if err != nil {
			return err
		}
		return badf("another key has this value")
	}
	return nil
}

func sameKey(a, b storedb.Key) bool {
	sameSealed := (a.Sealed == nil) == (b.Sealed == nil)
	samePrevious := (a.Previous == nil) == (b.Previous == nil) && (a.Previous == nil || *a.Previous == *b.Previous)
	return sameSealed && samePrevious && a.Class == b.Class && a.ItemID == b.ItemID && a.Digest == b.Digest &&
		a.PreviousExpiresAt.Equal(b.PreviousExpiresAt.Time) && a.ExpiresAt.Equal(b.ExpiresAt.Time) && a.RevokedAt.Equal(b.RevokedAt.Time)
}

// checkKeyLine returns what is wrong with a line's own words.
func checkKeyLine(l keyLine) error {
	if err := rules.CheckName("name", l.Name); err != nil {
		return err
	}
	switch {
	case l.Class != "" && l.Class != storedb.ClassSecret && l.Class != storedb.ClassPublishable:
		return fault.Invalid(fault.CodeInvalid, `class: it is "secret" or "publishable"`)
	case l.Class != storedb.ClassPublishable && l.ItemID != 0:
		return fault.Invalid(fault.CodeInvalid, "item_id: only a publishable key is bound to an item")
	}
	return cmp.Or(checkKeyValue("key", l.Key), checkKeyValue("previous_key", l.PreviousKey))
}

func checkKeyValue(member, value string) error {
	switch {
	case value == "":
		return nil
	case len(value) < 8 || len(value) > 256 || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault.Invalid(fault.CodeInvalid, member+": expected 8 to 256 visible ASCII characters")
	case rules.Mistyped(value):
		return fault.Invalid(fault.CodeInvalid, member+": wrong checksum of a key that begins with csk_ or csp_")
	}
	return nil
}
