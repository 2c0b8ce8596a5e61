package iap

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/people"
)

// ServiceAccountFacts is what may be told of a service account. The file itself
// is never shown again.
type ServiceAccountFacts struct {
	// Set reports whether there is one.
	Set         bool
	Type        string // service_account
	ClientEmail string
	Project     string
	// Fingerprint is the beginning of the SHA-256 of its public key, in hex.
	Fingerprint string
	SetAt       time.Time
}

// ServiceAccount returns what is known of the draft's service account and of the
// published one.
func (s *Service) ServiceAccount(ctx context.Context, actor people.Actor) (draft, published ServiceAccountFacts, err error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return draft, published, err
	}
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := tx.Settings(ctx)
		if err != nil {
			return err
		}
		last, err := tx.LastVersion(ctx)
		if err != nil {
			return err
		}
		accounts, err := ReadAccounts(ctx, tx)
		draft = accounts.Facts(ValuesOf(rows).Account)
		published = accounts.Facts(ValuesOf(last.Settings.V).Account)
		return err
	})
	return draft, published, err
}

// TestServiceAccount looks at the draft's service account again, as
// [CheckServiceAccount] does, without showing it or asking anybody. Its error is of
// kind NotFound when there is none.
func (s *Service) TestServiceAccount(ctx context.Context, actor people.Actor) (checks []FileCheck, ok bool, err error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return nil, false, err
	}
	var account addondb.ServiceAccount
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := tx.Settings(ctx)
		if err != nil {
			return err
		}
		all, err := ReadAccounts(ctx, tx)
		account = all[ValuesOf(rows).Account]
		return err
	})
	if err != nil {
		return nil, false, err
	}
	if account.ID == 0 {
		return nil, false, fault.NotFound("service_account_not_found", "No service account in the draft")
	}
	file, opened := openAccount(s.access.Box(), account)
	if !opened {
		return []FileCheck{{false, "It can't be read with this server's key file; set it again"}}, false, nil
	}
	checks, ok = CheckServiceAccount(file)
	return append([]FileCheck{{true, "It can be read with this server's key file"}}, checks...), ok, nil
}

// PutAccount writes a service-account file, encrypted, and returns the id of its row as
// text; current when that is the same file. What is wrong with a file is in problem.
func (s *Service) PutAccount(ctx context.Context, tx *addondb.DB, current string, file []byte) (id, problem string, err error) {
	checked := inspect(file)
	if !checked.ok() {
		return "", checked.problem(), nil
	}
	accounts, err := ReadAccounts(ctx, tx)
	if err != nil {
		return "", "", err
	}
	box := s.access.Box()
	if plain, ok := openAccount(box, accounts[current]); ok && bytes.Equal(plain, file) {
		return current, "", nil
	}
	row, err := tx.AddServiceAccount(ctx, addondb.ServiceAccount{
		ClientEmail: checked.ClientEmail, Project: checked.ProjectID, Fingerprint: checked.fingerprint, SetAt: s.access.Timestamp(),
		Sealed: box.Seal(accountPurpose(checked.fingerprint), file),
	})
	if err != nil {
		return "", "", err
	}
	return strconv.FormatInt(row, 10), "", s.access.SameKeyFile(ctx, tx.Queries)
}

// accountPurpose binds a sealed file to its row.
func accountPurpose(fingerprint string) string { return "service account " + fingerprint }

// openAccount decrypts a sealed file.
func openAccount(box *keyfile.Box, s addondb.ServiceAccount) (file []byte, ok bool) {
	if box == nil || s.Sealed == nil {
		return nil, false
	}
	file, err := box.Open(accountPurpose(s.Fingerprint), s.Sealed)
	return file, err == nil
}

// LostAccounts lists the service accounts whose file an old key file, nil when it is lost,
// can't open any more.
func LostAccounts(ctx context.Context, db *addondb.DB, old *keyfile.Box) ([]ServiceAccountFacts, error) {
	list, err := db.ServiceAccounts(ctx)
	var lost []ServiceAccountFacts
	for _, s := range list {
		if _, opens := openAccount(old, s); !opens && len(s.Sealed) > 0 {
			lost = append(lost, factsOf(s))
		}
	}
	return lost, err
}

// ResealAccounts brings the files of service accounts from an old key file, nil when it is
// lost, to a new one. A file that can't be opened is deleted; what may be told of it stays.
func ResealAccounts(ctx context.Context, tx *addondb.DB, old, fresh *keyfile.Box) error {
	list, err := tx.ServiceAccounts(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		sealed := keyfile.Reseal(old, fresh, accountPurpose(s.Fingerprint), s.Sealed)
		if sealed == nil {
			sealed = []byte{}
		}
		if err := tx.SetSealedAccount(ctx, s.ID, sealed); err != nil {
			return err
		}
	}
	return nil
}

// Accounts is all service accounts by the text of their ids, which is what the
// setting holds.
type Accounts map[string]addondb.ServiceAccount

// ReadAccounts reads all service accounts.
func ReadAccounts(ctx context.Context, tx *addondb.DB) (Accounts, error) {
	list, err := tx.ServiceAccounts(ctx)
	all := make(Accounts, len(list))
	for _, s := range list {
		all[strconv.FormatInt(s.ID, 10)] = s
	}
	return all, err
}

// Facts returns what may be told of the service account with an id.
func (all Accounts) Facts(id string) ServiceAccountFacts {
	s, there := all[id]
	if !there {
		return ServiceAccountFacts{}
	}
	return factsOf(s)
}

func factsOf(s addondb.ServiceAccount) ServiceAccountFacts {
	return ServiceAccountFacts{
		Set: true, Type: serviceAccountType, ClientEmail: s.ClientEmail, Project: s.Project,
		Fingerprint: s.Fingerprint, SetAt: s.SetAt.Time,
	}
}

// Describe returns a sentence about the service account with an id, "" for none.
func (all Accounts) Describe(id string) string {
	if id == "" {
		return ""
	}
	f := all.Facts(id)
	return fmt.Sprintf("%s, key %s, set %s", f.ClientEmail, f.Fingerprint, f.SetAt.UTC().Format("2006-01-02 15:04 UTC"))
}

// CheckServiceAccount says, line by line, what is right and wrong with a file. It
// writes nothing.
func CheckServiceAccount(file []byte) (checks []FileCheck, ok bool) {
	found := inspect(file)
	return slices.Clone(found.checks), found.ok()
}
