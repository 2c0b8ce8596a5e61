package store

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// move writes what was staged, in one transaction. It returns errNotWritten
// when the transaction must be rolled back although nothing failed.
func (imp *importer) move(ctx context.Context, tx *storedb.DB) error {
	imp.bad = map[int]string{}
	if err := imp.moveWorkspaces(ctx, tx); err != nil {
		return err
	}
	var err error
	if imp.report.Items, err = tx.MoveItems(ctx); err != nil {
		return err
	}
	if err := imp.moveKeys(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropClashes(ctx, tx); err != nil {
		return err
	}
	if imp.report.Purchases, err = tx.MovePurchases(ctx, imp.store.timestamp()); err != nil {
		return err
	}
	if err := imp.moveLicenses(ctx, tx); err != nil {
		return err
	}
	if imp.options.DryRun || (!imp.options.SkipBad && imp.report.Bad+len(imp.bad) > 0) {
		return errNotWritten
	}
	if err := imp.store.sameKeyFile(ctx, tx); err != nil {
		return err
	}
	return imp.store.audit(ctx, tx, imp.actor, "store.import", "", "", "")
}

func (imp *importer) moveWorkspaces(ctx context.Context, tx *storedb.DB) error {
	for _, n := range imp.workspaces {
		counted := &imp.report.Workspaces
		w := n.value.workspace()
		old, err := tx.LockWorkspace(ctx, n.value.Username)
		if errors.Is(err, sqldb.ErrNotFound) {
			counted.New++
			if err := tx.AddWorkspace(ctx, w); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		w.ID, w.Switches = old.ID, old.Switches
		n.value.setSwitches(&w.Switches)
		if reflect.DeepEqual(withoutEmptyLinks(w), withoutEmptyLinks(old)) {
			counted.Same++
			continue
		}
		counted.Changed++
		if err := tx.UpdateWorkspace(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// withoutEmptyLinks makes an absent map of links and an empty one alike.
func withoutEmptyLinks(w Workspace) Workspace {
	if len(w.Account.Profile.SocialLinks) == 0 {
		w.Account.Profile.SocialLinks = nil
	}
	return w
}

func (imp *importer) moveKeys(ctx context.Context, tx *storedb.DB) error {
	for _, n := range imp.keys {
		err := imp.moveKey(ctx, tx, n.value)
		var bad *badLine
		if errors.As(err, &bad) {
			imp.bad[n.line] = bad.Error()
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (imp *importer) moveKey(ctx context.Context, tx *storedb.DB, l keyLine) error {
	old, found, err := imp.oldKey(ctx, tx, l)
	if err != nil {
		return err
	}
	k := imp.store.keyFromLine(old, l)
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
func (imp *importer) oldKey(ctx context.Context, tx *storedb.DB, l keyLine) (k Key, found bool, err error) {
	w, err := tx.Workspace(ctx, l.Workspace)
	if err != nil {
		return Key{}, false, err
	}
	k, err = tx.KeyNamed(ctx, w.ID, l.Name)
	if errors.Is(err, sqldb.ErrNotFound) {
		return Key{WorkspaceID: w.ID, Workspace: l.Workspace, Name: l.Name, Class: ClassSecret, CreatedAt: imp.store.timestamp()}, false, nil
	}
	if err != nil {
		return Key{}, false, err
	}
	k, err = tx.LockKey(ctx, k.ID)
	return k, err == nil, err
}

// keyFromLine is what a line makes of a key. What the line does not name stays,
// and an old file undoes nothing: a revoked key stays revoked, and a value that a
// rotation has replaced does not come back. A new key whose line has no value
// gets one.
func (s *Store) keyFromLine(k Key, l keyLine) Key {
	if l.Class != "" {
		k.Class, k.ItemID = l.Class, l.ItemID
	}
	box := s.box.Load()
	switch {
	case l.Key == "" && k.ID == 0:
		s.setValue(&k, newKeyValue(k.Class))
	case l.Key == "" || s.hasReplaced(k, l.Key):
	case keyDigest(box, l.Key) != k.Digest || k.Sealed == nil:
		s.setValue(&k, l.Key)
	}
	if l.PreviousKey != "" && !s.isDigestOf(k.Digest, l.PreviousKey) && !s.hasReplaced(k, l.PreviousKey) {
		digest := keyDigest(box, l.PreviousKey)
		k.Previous, k.PreviousSealed = &digest, box.Seal(sealPurpose(digest), []byte(l.PreviousKey))
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

// hasReplaced tells whether a value is the one that a key had before.
func (s *Store) hasReplaced(k Key, value string) bool {
	return k.Previous != nil && s.isDigestOf(*k.Previous, value)
}

// checkKey holds a key to an item of its workspace, and its values to itself.
func (imp *importer) checkKey(ctx context.Context, tx *storedb.DB, k Key, l keyLine) error {
	err := checkScope(ctx, tx, k)
	if ours := fault.Of(err); ours != nil && ours.Kind != countersign.KindUnavailable {
		return bad(ours)
	}
	if err != nil {
		return err
	}
	values := []storedb.KeyDigest{k.Digest}
	if k.Previous != nil {
		values = append(values, *k.Previous)
	}
	for _, value := range []string{l.Key, l.PreviousKey} {
		if value != "" && !isOurs(value) { // another key may have it from before digests were keyed
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
		return badf("this key's value is taken by another key")
	}
	return nil
}

func sameKey(a, b Key) bool {
	sameSealed := (a.Sealed == nil) == (b.Sealed == nil)
	samePrevious := (a.Previous == nil) == (b.Previous == nil) && (a.Previous == nil || *a.Previous == *b.Previous)
	return sameSealed && samePrevious && a.Class == b.Class && a.ItemID == b.ItemID && a.Digest == b.Digest &&
		a.PreviousExpiresAt.Equal(b.PreviousExpiresAt.Time) && a.ExpiresAt.Equal(b.ExpiresAt.Time) && a.RevokedAt.Equal(b.RevokedAt.Time)
}

// checkKeyLine says what is wrong with a line's own words.
func checkKeyLine(l keyLine) error {
	if err := checkName("name", l.Name); err != nil {
		return err
	}
	switch {
	case l.Class != "" && l.Class != ClassSecret && l.Class != ClassPublishable:
		return fault.Invalid(fault.CodeInvalid, `class: it is "secret" or "publishable"`)
	case l.Class != ClassPublishable && l.ItemID != 0:
		return fault.Invalid(fault.CodeInvalid, "item_id: only a publishable key is bound to an item")
	}
	return first(checkKeyValue("key", l.Key), checkKeyValue("previous_key", l.PreviousKey))
}

func checkKeyValue(member, value string) error {
	switch {
	case value == "":
		return nil
	case len(value) < 8 || len(value) > 256 || strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault.Invalid(fault.CodeInvalid, member+": a key is 8 to 256 visible ASCII characters")
	case mistyped(value):
		return fault.Invalid(fault.CodeInvalid, member+": a key that begins with csk_ or csp_ has a checksum, and this one's is wrong")
	}
	return nil
}

// dropClashes takes purchases out of the stage whose code another workspace has.
func (imp *importer) dropClashes(ctx context.Context, tx *storedb.DB) error {
	lines, err := tx.StageClashes(ctx)
	if err != nil {
		return err
	}
	for _, line := range lines {
		imp.bad[line] = "this purchase code is taken; codes are unique in the whole store, whatever their letters' case"
		if err := tx.Unstage(ctx, line); err != nil {
			return err
		}
	}
	return nil
}
