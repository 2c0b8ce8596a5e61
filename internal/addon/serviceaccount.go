package addon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

// ServiceAccountFacts is what may be told of a service account. The file itself
// is never shown again.
type ServiceAccountFacts struct {
	// Set tells whether there is one.
	Set         bool
	Type        string // service_account
	ClientEmail string
	Project     string
	// Fingerprint is the beginning of the SHA-256 of its public key, in hex.
	Fingerprint string
	SetAt       time.Time
}

// ServiceAccount tells what is known of the draft's service account and of the
// published one.
func (a *Addon) ServiceAccount(ctx context.Context, actor people.Actor) (draft, published ServiceAccountFacts, err error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return draft, published, err
	}
	err = a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err1 := tx.Settings(ctx)
		last, err2 := tx.LastVersion(ctx)
		accounts, err3 := readAccounts(ctx, tx)
		draft = accounts.facts(valuesOf(rows)[KeyIAPStoreServiceAccount].Value)
		published = accounts.facts(valuesOf(last.Settings.V)[KeyIAPStoreServiceAccount].Value)
		return errors.Join(err1, err2, err3)
	})
	return draft, published, err
}

// SetServiceAccount puts a service-account file into the draft, encrypted. What
// is no such file is invalid with a message that names what it is instead.
func (a *Addon) SetServiceAccount(ctx context.Context, actor people.Actor, revision int64, file []byte) (ServiceAccountFacts, error) {
	if len(bytes.TrimSpace(file)) == 0 {
		return ServiceAccountFacts{}, refused(map[string]string{KeyIAPStoreServiceAccount: "The file is empty"})
	}
	if _, err := a.SetSettings(ctx, actor, revision, map[string]string{KeyIAPStoreServiceAccount: string(file)}); err != nil {
		return ServiceAccountFacts{}, err
	}
	facts, _, err := a.ServiceAccount(ctx, actor)
	return facts, err
}

// TestServiceAccount looks at the draft's service account again, as
// [CheckServiceAccount] does, without showing it or asking anybody. Its error is of
// kind NotFound when there is none.
func (a *Addon) TestServiceAccount(ctx context.Context, actor people.Actor) (checks []FileCheck, ok bool, err error) {
	if err := a.mayNow(actor, manageSettings); err != nil {
		return nil, false, err
	}
	var kept addondb.ServiceAccount
	err = a.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err1 := tx.Settings(ctx)
		all, err2 := readAccounts(ctx, tx)
		kept = all[valuesOf(rows)[KeyIAPStoreServiceAccount].Value]
		return errors.Join(err1, err2)
	})
	if err != nil {
		return nil, false, err
	}
	if kept.ID == 0 {
		return nil, false, fault.NotFound("service_account_not_found", "There is no service account yet; paste the file first")
	}
	file, opened := openAccount(a.box.Load(), kept)
	if !opened {
		return []FileCheck{{false, "It can't be read with this server's key file; set it again"}}, false, nil
	}
	checks, ok = CheckServiceAccount(file)
	return append([]FileCheck{{true, "It can be read with this server's key file"}}, checks...), ok, nil
}

// RemoveServiceAccount takes it out of the draft.
func (a *Addon) RemoveServiceAccount(ctx context.Context, actor people.Actor, revision int64) error {
	_, err := a.changeDraft(ctx, actor, revision, func(_ *addondb.DB, v values) error {
		v.put(KeyIAPStoreServiceAccount, TypeServiceAccount, "")
		return nil
	})
	return err
}

// putServiceAccount seals a file and puts it into a draft; nothing leaves it as it
// is, and so does the file that is there already.
func (a *Addon) putServiceAccount(ctx context.Context, tx *addondb.DB, v values, problems map[string]string, file []byte) error {
	if len(bytes.TrimSpace(file)) == 0 {
		return nil
	}
	checked := inspect(file)
	if !checked.ok() {
		problems[KeyIAPStoreServiceAccount] = checked.problem()
		return nil
	}
	accounts, err := readAccounts(ctx, tx)
	if err != nil {
		return err
	}
	box := a.box.Load()
	current, there := accounts[v[KeyIAPStoreServiceAccount].Value]
	if plain, ok := openAccount(box, current); there && ok && bytes.Equal(plain, file) {
		return nil
	}
	id, err := tx.AddServiceAccount(ctx, addondb.ServiceAccount{
		ClientEmail: checked.ClientEmail, Project: checked.ProjectID, Fingerprint: checked.fingerprint, SetAt: a.timestamp(),
		Sealed: box.Seal(accountPurpose(checked.fingerprint), file),
	})
	if err != nil {
		return err
	}
	v.put(KeyIAPStoreServiceAccount, TypeServiceAccount, strconv.FormatInt(id, 10))
	return a.sameKeyFile(ctx, tx)
}

// accountPurpose binds a sealed file to its row.
func accountPurpose(fingerprint string) string { return "service account " + fingerprint }

// openAccount gives back a file that was sealed.
func openAccount(box *keyfile.Box, s addondb.ServiceAccount) (file []byte, ok bool) {
	if box == nil || s.Sealed == nil {
		return nil, false
	}
	file, err := box.Open(accountPurpose(s.Fingerprint), s.Sealed)
	return file, err == nil
}

// accounts is all service accounts by the text of their ids, which is what the
// setting holds.
type accounts map[string]addondb.ServiceAccount

func readAccounts(ctx context.Context, tx *addondb.DB) (accounts, error) {
	list, err := tx.ServiceAccounts(ctx)
	all := make(accounts, len(list))
	for _, s := range list {
		all[strconv.FormatInt(s.ID, 10)] = s
	}
	return all, err
}

func (all accounts) facts(id string) ServiceAccountFacts {
	s, there := all[id]
	if !there {
		return ServiceAccountFacts{}
	}
	return ServiceAccountFacts{
		Set: true, Type: serviceAccountType, ClientEmail: s.ClientEmail, Project: s.Project,
		Fingerprint: s.Fingerprint, SetAt: s.SetAt.Time,
	}
}

// show gives the value of a setting as people may see it: of a secret, a sentence
// about it.
func (all accounts) show(d Definition, value string) string {
	if d.Type != TypeServiceAccount || value == "" {
		return value
	}
	f := all.facts(value)
	return fmt.Sprintf("%s, key %s, set %s", f.ClientEmail, f.Fingerprint, f.SetAt.UTC().Format("2006-01-02 15:04 UTC"))
}

// FileCheck is one line of what was found in a file that is offered as a service
// account.
type FileCheck struct {
	OK   bool
	Text string
}

// CheckServiceAccount says, line by line, what is right and wrong with a file. It
// writes nothing.
func CheckServiceAccount(file []byte) (checks []FileCheck, ok bool) {
	found := inspect(file)
	return slices.Clone(found.checks), found.ok()
}
