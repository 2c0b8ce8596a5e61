package transfer

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/token"
)

// move writes what was staged, in one transaction. It returns errNotWritten or
// errReportFirst when the transaction must be rolled back although nothing failed.
func (imp *importer) move(ctx context.Context, tx *storedb.DB) error {
	if _, err := placeIn(ctx, tx, imp.actor, imp.options.Workspace); err != nil { // the reading took its time
		return err
	}
	imp.bad = map[int]string{}
	imp.report.Workspaces, imp.report.Keys, imp.report.LicenseKeys = Moved{}, Moved{}, Moved{}
	if err := tx.BeginImport(ctx); err != nil {
		return err
	}
	if err := imp.mayImport(ctx, tx); err != nil {
		return err
	}
	if err := imp.moveWorkspaces(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropStale(ctx, tx); err != nil {
		return err
	}
	if err := imp.checkSample(ctx, tx); err != nil {
		return err
	}
	now := imp.service.timestamp()
	id, err := imp.keepBefore(ctx, tx, now)
	if err != nil {
		return err
	}
	if err := imp.moveRows(ctx, tx, now); err != nil {
		return err
	}
	if imp.options.DryRun || (!imp.options.SkipBad && imp.report.Bad+len(imp.bad) > 0) {
		return errNotWritten
	}
	for line := range imp.bad {
		if !imp.told[line] {
			return errReportFirst
		}
	}
	if err := imp.service.gate.SameKeyFile(ctx, tx); err != nil {
		return err
	}
	if err := imp.keepAfter(ctx, tx, id); err != nil {
		return err
	}
	return imp.finish(ctx, tx)
}

// moveRows writes what belongs to workspaces.
func (imp *importer) moveRows(ctx context.Context, tx *storedb.DB, now countersign.Timestamp) (err error) {
	if imp.report.Items, err = tx.MoveItems(ctx); err != nil {
		return err
	}
	if imp.report.Items.New+imp.report.Items.Changed > 0 {
		if err = tx.KeepStagedVersions(ctx, storedb.ItemVersion{At: now, Actor: imp.actor.ID}); err != nil {
			return err
		}
	}
	if err := imp.moveKeys(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropLost(ctx, tx); err != nil {
		return err
	}
	if err := imp.dropConflicts(ctx, tx); err != nil {
		return err
	}
	if imp.report.Purchases, err = tx.MovePurchases(ctx, now, imp.keep); err != nil {
		return err
	}
	return imp.moveLicenses(ctx, tx)
}

// finish writes what is known of the import besides its rows: the columns, the entry of the
// audit log, and the end of its job.
func (imp *importer) finish(ctx context.Context, tx *storedb.DB) error {
	if err := imp.rememberColumns(ctx, tx); err != nil {
		return err
	}
	event := people.Event{Action: actionImport, Workspace: imp.options.Workspace, Detail: imp.options.File}
	if imp.report.ID > 0 {
		event.Subject = strconv.FormatInt(imp.report.ID, 10)
	}
	if err := people.Record(ctx, &tx.DB, imp.service.now(), imp.actor, event); err != nil || imp.options.job == nil {
		return err
	}
	return imp.options.job.finish(ctx, tx, imp.report)
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
func withoutEmptyLinks(w storedb.Workspace) storedb.Workspace {
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

// dropStale takes items out of the stage that somebody has changed since they were read: a
// row of CSV has only a part of an item.
func (imp *importer) dropStale(ctx context.Context, tx *storedb.DB) error {
	lines, err := tx.StaleItems(ctx)
	if err != nil {
		return err
	}
	for _, line := range lines {
		imp.bad[line] = "somebody has changed this item while the file was read; import the row again"
		if err := tx.UnstageItem(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// dropLost takes purchases out of the stage whose item their workspace has no more.
func (imp *importer) dropLost(ctx context.Context, tx *storedb.DB) error {
	lines, err := tx.StageLostItems(ctx)
	if err != nil {
		return err
	}
	for _, line := range lines {
		imp.bad[line] = "the item of this purchase was removed while the file was read"
		if err := tx.UnstagePurchase(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// dropConflicts takes purchases out of the stage whose code another workspace has.
func (imp *importer) dropConflicts(ctx context.Context, tx *storedb.DB) error {
	if err := imp.checkClashes(); err != nil {
		return err
	}
	lines, err := tx.StagePurchaseConflicts(ctx)
	if err != nil {
		return err
	}
	for _, line := range lines {
		if err := imp.takeClash(line); err != nil {
			return err
		}
		imp.bad[line] = "this purchase code already exists; codes are unique in the store and do not depend on upper and lower case"
		if err := tx.UnstagePurchase(ctx, line); err != nil {
			return err
		}
	}
	return nil
}
