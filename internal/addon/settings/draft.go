package settings

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/wording"
)

// maxAudited is how many characters of a value the audit log has.
const maxAudited = 2000

// Draft is the draft beside what is published.
type Draft struct {
	// Revision counts the changes of the draft. Pass it in an [Edit], so that a
	// concurrent change is not overwritten.
	Revision int64
	// Published is the version that is served.
	Published Version
	// List holds every setting: the definitions in their order, then the owner's
	// own keys by name. A key that the next publish takes away is not in it.
	List []Setting
	// Changes is what the next publish would change, also what it takes away.
	Changes []Change
	// Problems is what is wrong with the draft as a whole, errors first.
	Problems []Problem
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
	Own       bool   `json:"own"`     // the owner added the key
	Value     string `json:"-"`       // the draft's
	Published string `json:"-"`       // the value that is served, "" when it is not published yet
	Changed   bool   `json:"changed"` // by the next publish
	// AtDefault reports whether the draft has the value that the update registered.
	AtDefault bool `json:"at_default"`
}

// JSON is the draft's value as JSON prints it; null for a secret.
func (s Setting) JSON() json.RawMessage { return appendValue(nil, s.Type, s.Value) }

// Draft reads the draft and what is published.
func (s *Service) Draft(ctx context.Context, actor people.Actor) (Draft, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return Draft{}, err
	}
	var d Draft
	err := s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		revision, err := tx.Revision(ctx)
		if err != nil {
			return err
		}
		state, err := readState(ctx, tx)
		if err != nil {
			return err
		}
		d, err = state.draft(ctx, tx, revision, state.values)
		return err
	})
	return d, err
}

// state is what a draft is described by.
type state struct {
	values   values
	last     addondb.Version
	packages []iap.Package
	accounts iap.Accounts
}

func readState(ctx context.Context, tx *addondb.DB) (state, error) {
	rows, err := tx.Settings(ctx)
	if err != nil {
		return state{}, err
	}
	last, err := tx.LastVersion(ctx)
	if err != nil {
		return state{}, err
	}
	packages, err := tx.Packages(ctx)
	if err != nil {
		return state{}, err
	}
	accounts, err := iap.ReadAccounts(ctx, tx)
	return state{valuesOf(rows), last, packages, accounts}, err
}

// draft describes a draft with some values.
func (s state) draft(ctx context.Context, tx *addondb.DB, revision int64, v values) (Draft, error) {
	published := valuesOf(s.last.Settings.V)
	concerns, err := memberProblems(ctx, tx, published, v)
	return Draft{
		Revision: revision, Published: versionOf(s.last), List: settingsOf(v, published, s.accounts),
		Changes: changes(published, v, s.accounts), Problems: append(problemsOf(v, s.packages), concerns...),
	}, err
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

// CodeSecretLooking is the code of errors about values that look like secrets. The caller
// may overrule them with [Edit.AllowSecretLooking].
const CodeSecretLooking = input.CodeSecretLooking

// Edit is how a change of the draft is made.
type Edit struct {
	// Revision is the state of the draft that the caller has seen, 0 for "whatever it is".
	Revision int64
	// AllowSecretLooking accepts values that look like secrets but are not.
	AllowSecretLooking bool
	// action is what the audit log calls the changes, "" for what happened to each key.
	action people.Action
}

// Set changes values of the draft, all or none. Values are text, as forms
// and commands give them; switches accept 1, 0, true and false. Errors:
//
//   - kind Invalid, code settings_invalid: Fields says what is wrong with which key;
//   - kind Invalid, code secret_looking: the values are right, but Fields says which look
//     like secrets;
//   - kind Precondition, code settings_changed: somebody changed the draft.
//
// The Draft beside both is what it is now. A secret that is "" is left as it is;
// [Service.RemoveServiceAccount] removes it.
func (s *Service) Set(ctx context.Context, actor people.Actor, edit Edit, changes map[string]string) (Draft, error) {
	return s.changeDraft(ctx, actor, edit, func(tx *addondb.DB, _ Draft, v values) error {
		return s.set(ctx, tx, edit, v, changes, map[string]string{})
	})
}

// set puts checked values into a draft. problems holds what is wrong already.
func (s *Service) set(ctx context.Context, tx *addondb.DB, edit Edit, v values, changes, problems map[string]string) error {
	packages, err := tx.Packages(ctx)
	if err != nil {
		return err
	}
	before := maps.Clone(v)
	for _, key := range slices.Sorted(maps.Keys(changes)) {
		d, known := v.describe(key)
		if !known {
			problems[key] = "No setting with this key. Add it as your own key first"
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
	secrets := edit.secretLooking(before, v)
	switch {
	case len(problems) > 0:
		maps.Copy(secrets, problems)
		return input.Refused(secrets)
	case len(secrets) > 0:
		return input.RefusedSecrets(secrets)
	}
	return nil
}

// secretLooking returns the problems of changed values that anyone could read and that look like secrets.
func (e Edit) secretLooking(before, after values) map[string]string {
	problems := map[string]string{}
	if e.AllowSecretLooking {
		return problems
	}
	for key, row := range after {
		if d, _ := after.describe(key); d.Secret || row.Value == before[key].Value {
			continue
		}
		if problem := input.NoSecret(key, row.Value); problem != "" {
			problems[key] = problem
		}
	}
	return problems
}

// putChecked puts one value that is not a secret into a draft.
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

var errSettingsChanged = fault.New(countersign.KindPrecondition, "settings_changed", "The settings changed after you read them. Nothing was saved. Check them and try again")

// changeDraft runs a change of the draft in one transaction, with an entry of audit
// for every key that it changes. The change receives the current draft, and changes the
// values. Beside its error is the draft as it is, as far as it could be read.
func (s *Service) changeDraft(ctx context.Context, actor people.Actor, edit Edit, change func(*addondb.DB, Draft, values) error) (Draft, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return Draft{}, err
	}
	var before, now Draft
	err := s.db.Tx(ctx, func(tx *addondb.DB) error {
		current, err := tx.LockDraft(ctx)
		if err != nil {
			return err
		}
		state, err := readState(ctx, tx)
		if err != nil {
			return err
		}
		if before, err = state.draft(ctx, tx, current, state.values); err != nil {
			return err
		}
		if edit.Revision != 0 && edit.Revision != current {
			return errSettingsChanged
		}
		after := maps.Clone(state.values)
		if err := change(tx, before, after); err != nil {
			return err
		}
		if state.accounts, err = iap.ReadAccounts(ctx, tx); err != nil {
			return err
		}
		changed, err := s.writeDraft(ctx, tx, actor, edit.action, changes(state.values, after, state.accounts), after)
		if changed {
			current++
		}
		if err != nil {
			return err
		}
		now, err = state.draft(ctx, tx, current, after)
		return err
	})
	if err != nil {
		return before, err
	}
	return now, nil
}

// writeDraft writes the changes of a draft, and an entry of audit for each. name is the
// action of all of them, "" for what happened to each key. It reports whether there were any.
func (s *Service) writeDraft(ctx context.Context, tx *addondb.DB, actor people.Actor, name people.Action, list []Change, after values) (changed bool, err error) {
	if len(list) == 0 {
		return false, nil
	}
	for _, c := range list {
		action := access.ActionSettingsSet
		switch {
		case c.Removed:
			action, err = access.ActionSettingsRemove, tx.DeleteSetting(ctx, c.Key)
		case c.Added:
			action, err = access.ActionSettingsAdd, tx.PutSetting(ctx, after[c.Key])
		default:
			err = tx.PutSetting(ctx, after[c.Key])
		}
		if err != nil {
			return false, err
		}
		event := people.Event{Action: cmp.Or(name, action), Subject: c.Key, Before: wording.Shortened(c.Before, maxAudited), After: wording.Shortened(c.After, maxAudited)}
		if err := s.access.Audit(ctx, tx, actor, event); err != nil {
			return false, err
		}
	}
	return true, tx.RaiseRevision(ctx)
}

// putServiceAccount puts a service-account file into a draft. An empty file leaves it as
// it is.
func (s *Service) putServiceAccount(ctx context.Context, tx *addondb.DB, v values, problems map[string]string, file []byte) error {
	if len(bytes.TrimSpace(file)) == 0 {
		return nil
	}
	id, problem, err := s.iap.PutAccount(ctx, tx, v[iap.KeyServiceAccount].Value, file)
	if problem != "" {
		problems[iap.KeyServiceAccount] = problem
		return nil
	}
	if err != nil {
		return err
	}
	v.put(iap.KeyServiceAccount, TypeServiceAccount, id)
	return nil
}
