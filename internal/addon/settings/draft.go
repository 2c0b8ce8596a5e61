package settings

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// Draft is the draft beside what is published.
type Draft struct {
	// Revision counts the changes of the draft. Give it back to
	// [Service.Set] so that nobody's change is overwritten unseen.
	Revision int64
	// Published is the version that is served.
	Published Version
	// List holds every setting: the definitions in their order, then the owner's
	// own keys by name. A key that the next publish takes away is not in it.
	List []Setting
	// Changed is how many settings differ between draft and published version,
	// also those that the next publish takes away.
	Changed int
}

// Get finds a setting by its key.
func (d Draft) Get(key string) (Setting, bool) {
	for _, one := range d.List {
		if one.Key == key {
			return one, true
		}
	}
	return Setting{}, false
}

// Setting is one setting with its two values. Of a secret one, both values are a
// sentence about it, "" when it is not set.
type Setting struct {
	Definition
	// Own tells a key that the owner added.
	Own bool
	// Value is the draft's.
	Value string
	// Published is the value that is served, "" when it is not published yet.
	Published string
	// Changed tells that the next publish changes it.
	Changed bool
	// AtDefault tells that the draft has the value that the update registered.
	AtDefault bool
}

// JSON is the draft's value as JSON prints it; null for a secret.
func (s Setting) JSON() json.RawMessage { return appendValue(nil, s.Type, s.Value) }

// appendValue prints the value of a setting.
func appendValue(b []byte, kind Type, value string) []byte {
	switch kind {
	case TypeBool:
		on, _ := checkSwitch(value)
		return fmt.Appendf(b, "%t", on)
	case TypeNumber:
		return append(b, value...)
	case TypeProducts:
		return append(b, value...)
	case TypeServiceAccount:
		return append(b, "null"...)
	}
	b, _ = countersign.AppendJSON(b, value) // a string always can be
	return b
}

// Draft reads the draft and what is published.
func (s *Service) Draft(ctx context.Context, actor people.Actor) (Draft, error) {
	if err := s.guard.May(actor, access.ManageSettings); err != nil {
		return Draft{}, err
	}
	var d Draft
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		var err error
		d, err = readDraft(ctx, tx)
		return err
	})
	return d, err
}

func readDraft(ctx context.Context, tx *addondb.DB) (Draft, error) {
	revision, err1 := tx.Revision(ctx)
	rows, err2 := tx.Settings(ctx)
	last, err3 := tx.LastVersion(ctx)
	accounts, err4 := iap.ReadAccounts(ctx, tx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return Draft{}, err
	}
	draft, published := valuesOf(rows), valuesOf(last.Settings.V)
	return Draft{
		Revision: revision, Published: versionOf(last), List: settingsOf(draft, published, accounts),
		Changed: len(changes(published, draft, accounts)),
	}, nil
}

// settingsOf describes every setting of a draft.
func settingsOf(draft, published values, accounts iap.Accounts) []Setting {
	list := make([]Setting, 0, len(draft))
	for _, d := range described(draft) {
		value, served := draft[d.Key], published[d.Key]
		_, defined := definition(d.Key)
		list = append(list, Setting{
			Definition: d, Own: !defined, Value: show(accounts, d, value.Value), Published: show(accounts, d, served.Value),
			Changed: value != served, AtDefault: defined && value.Value == d.Default,
		})
	}
	return list
}

// Set changes values of the draft, all or none. Values are text, as forms
// and commands give them; switches accept 1, 0, true and false. revision is the
// one that the caller has seen, 0 for "whatever it is". Errors:
//
//   - kind Invalid, code settings_invalid: Fields says what is wrong with which key;
//   - kind Precondition, code settings_changed: somebody changed the draft; the
//     Draft returned beside the error are what it is now.
//
// A secret that is "" is left as it is; [Service.RemoveServiceAccount] removes it.
func (s *Service) Set(ctx context.Context, actor people.Actor, revision int64, changes map[string]string) (Draft, error) {
	return s.changeDraft(ctx, actor, revision, func(tx *addondb.DB, v values) error {
		return s.set(ctx, tx, v, changes, map[string]string{})
	})
}

// set puts checked values into a draft. problems holds what is wrong already.
func (s *Service) set(ctx context.Context, tx *addondb.DB, v values, changes, problems map[string]string) error {
	packages, err := tx.Packages(ctx)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		d, known := v.describe(key)
		if !known {
			problems[key] = "There is no setting with this key; add it as a key of your own first"
			continue
		}
		if d.Type == TypeServiceAccount {
			err = s.putServiceAccount(ctx, tx, v, problems, []byte(changes[key]))
		} else {
			putChecked(v, d, changes[key], packages, problems)
		}
		if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return input.Refused(problems)
	}
	return nil
}

// putChecked puts one value that is no secret into a draft.
func putChecked(v values, d Definition, text string, packages []iap.Package, problems map[string]string) {
	value, problem := d.check(text)
	if problem == "" && d.Type == TypeProducts {
		products, _ := iap.ParseProducts(value) // it was just checked
		problem = iap.MissingPackage(products, packages)
	}
	if problem != "" {
		problems[d.Key] = problem
		return
	}
	row := v[d.Key]
	row.Value = value
	v[d.Key] = row
}

var errSettingsChanged = fault.New(countersign.KindPrecondition, "settings_changed", "Somebody changed the settings since you read them. Nothing was changed; look at what they are now and try again")

// changeDraft runs a change of the draft in one transaction, with a line of audit
// for every key that it changes.
func (s *Service) changeDraft(ctx context.Context, actor people.Actor, revision int64, change func(*addondb.DB, values) error) (Draft, error) {
	if err := s.guard.May(actor, access.ManageSettings); err != nil {
		return Draft{}, err
	}
	var now Draft
	err := s.db.Tx(ctx, func(tx *addondb.DB) error {
		current, err := tx.LockDraft(ctx)
		if err != nil {
			return err
		}
		if revision != 0 && revision != current {
			return errSettingsChanged
		}
		rows, err := tx.Settings(ctx)
		if err != nil {
			return err
		}
		before := valuesOf(rows)
		after := maps.Clone(before)
		if err := change(tx, after); err != nil {
			return err
		}
		if err := s.writeDraft(ctx, tx, actor, before, after); err != nil {
			return err
		}
		now, err = readDraft(ctx, tx)
		return err
	})
	if errors.Is(err, errSettingsChanged) {
		if current, readErr := s.Draft(ctx, actor); readErr == nil {
			now = current
		}
	}
	return now, err
}

// writeDraft writes what differs, and writes it down.
func (s *Service) writeDraft(ctx context.Context, tx *addondb.DB, actor people.Actor, before, after values) error {
	accounts, err := iap.ReadAccounts(ctx, tx)
	if err != nil {
		return err
	}
	list := changes(before, after, accounts)
	if len(list) == 0 {
		return nil
	}
	for _, c := range list {
		verb := "set"
		switch {
		case c.Removed:
			verb, err = "remove", tx.DeleteSetting(ctx, c.Key)
		case c.Added:
			verb, err = "add", tx.PutSetting(ctx, after[c.Key])
		default:
			err = tx.PutSetting(ctx, after[c.Key])
		}
		if err != nil {
			return err
		}
		event := people.Event{Action: "settings." + verb, Subject: c.Key, Before: shortened(c.Before), After: shortened(c.After)}
		if err := s.guard.Audit(ctx, tx, actor, event); err != nil {
			return err
		}
	}
	return tx.RaiseRevision(ctx)
}

// shortened keeps a long value readable in the audit log.
func shortened(text string) string {
	const limit = 2000
	characters := []rune(text)
	if len(characters) <= limit {
		return text
	}
	return fmt.Sprintf("%s… (%d characters)", string(characters[:limit]), len(characters))
}
