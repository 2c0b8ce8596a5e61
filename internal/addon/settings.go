package addon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/sqldb"
)

// Settings is the draft beside what is published.
type Settings struct {
	// Revision counts the changes of the draft. Give it back to
	// [Addon.SetSettings] so that nobody's change is overwritten unseen.
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
func (s Settings) Get(key string) (Setting, bool) {
	for _, one := range s.List {
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

// Settings reads the draft and what is published.
func (a *Addon) Settings(ctx context.Context, actor people.Actor) (Settings, error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return Settings{}, err
	}
	var s Settings
	err := a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		var err error
		s, err = readSettings(ctx, tx)
		return err
	})
	return s, err
}

func readSettings(ctx context.Context, tx *addondb.DB) (Settings, error) {
	revision, err1 := tx.Revision(ctx)
	rows, err2 := tx.Settings(ctx)
	last, err3 := tx.LastVersion(ctx)
	accounts, err4 := readAccounts(ctx, tx)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return Settings{}, err
	}
	draft, published := valuesOf(rows), valuesOf(last.Settings.V)
	return Settings{
		Revision: revision, Published: versionOf(last), List: settingsOf(draft, published, accounts),
		Changed: len(changes(published, draft, accounts)),
	}, nil
}

// settingsOf describes every setting of a draft.
func settingsOf(draft, published values, accounts accounts) []Setting {
	list := make([]Setting, 0, len(draft))
	for _, d := range described(draft) {
		value, served := draft[d.Key], published[d.Key]
		_, defined := definition(d.Key)
		list = append(list, Setting{
			Definition: d, Own: !defined, Value: accounts.show(d, value.Value), Published: accounts.show(d, served.Value),
			Changed: value != served, AtDefault: defined && value.Value == d.Default,
		})
	}
	return list
}

// SetSettings changes values of the draft, all or none. Values are text, as forms
// and commands give them; switches accept 1, 0, true and false. revision is the
// one that the caller has seen, 0 for "whatever it is". Errors:
//
//   - kind Invalid, code settings_invalid: Fields says what is wrong with which key;
//   - kind Precondition, code settings_changed: somebody changed the draft; the
//     Settings returned beside the error are what it is now.
//
// A secret that is "" is left as it is; [Addon.RemoveServiceAccount] removes it.
func (a *Addon) SetSettings(ctx context.Context, actor people.Actor, revision int64, changes map[string]string) (Settings, error) {
	return a.changeDraft(ctx, actor, revision, func(tx *addondb.DB, v values) error {
		return a.set(ctx, tx, v, changes, map[string]string{})
	})
}

// set puts checked values into a draft. problems holds what is wrong already.
func (a *Addon) set(ctx context.Context, tx *addondb.DB, v values, changes, problems map[string]string) error {
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
			err = a.putServiceAccount(ctx, tx, v, problems, []byte(changes[key]))
		} else {
			putChecked(v, d, changes[key], packages, problems)
		}
		if err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		return refused(problems)
	}
	return nil
}

// putChecked puts one value that is no secret into a draft.
func putChecked(v values, d Definition, text string, packages []Package, problems map[string]string) {
	value, problem := d.check(text)
	if problem == "" && d.Type == TypeProducts {
		problem = missingPackages(value, packages)
	}
	if problem != "" {
		problems[d.Key] = problem
		return
	}
	row := v[d.Key]
	row.Value = value
	v[d.Key] = row
}

// refused is the error of values that are wrong, by their names.
func refused(fields map[string]string) error {
	const told = 5 // in the message; Fields has all
	var text []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if len(text) == told {
			text = append(text, fmt.Sprintf("And %d more", len(fields)-told))
			break
		}
		text = append(text, shorten(name)+": "+fields[name])
	}
	return fault.WithFields(fault.Invalid("settings_invalid", "Nothing was changed. "+strings.Join(text, ". ")), fields)
}

var errSettingsChanged = fault.New(countersign.KindPrecondition, "settings_changed", "Somebody changed the settings since you read them. Nothing was changed; look at what they are now and try again")

// changeDraft runs a change of the draft in one transaction, with a line of audit
// for every key that it changes.
func (a *Addon) changeDraft(ctx context.Context, actor people.Actor, revision int64, change func(*addondb.DB, values) error) (Settings, error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return Settings{}, err
	}
	var now Settings
	err := a.db.Tx(ctx, func(tx *addondb.DB) error {
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
		if err := a.writeDraft(ctx, tx, actor, before, after); err != nil {
			return err
		}
		now, err = readSettings(ctx, tx)
		return err
	})
	if errors.Is(err, errSettingsChanged) {
		if current, readErr := a.Settings(ctx, actor); readErr == nil {
			now = current
		}
	}
	return now, err
}

// writeDraft writes what differs, and writes it down.
func (a *Addon) writeDraft(ctx context.Context, tx *addondb.DB, actor people.Actor, before, after values) error {
	accounts, err := readAccounts(ctx, tx)
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
		if err := a.audit(ctx, tx, actor, event); err != nil {
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

func (a *Addon) timestamp() sqldb.Time { return sqldb.Time{Time: a.now()} }
