package settings

import (
	"bytes"
	"context"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/people"
)

// SetServiceAccount puts a service-account file into the draft, encrypted. Any other
// file is invalid with a message that names what it is instead.
func (s *Service) SetServiceAccount(ctx context.Context, actor people.Actor, revision int64, file []byte) (iap.ServiceAccountFacts, error) {
	if len(bytes.TrimSpace(file)) == 0 {
		return iap.ServiceAccountFacts{}, input.Refused(map[string]string{iap.KeyServiceAccount: "The file is empty"})
	}
	var facts iap.ServiceAccountFacts
	_, err := s.changeDraft(ctx, actor, Edit{Revision: revision}, func(tx *addondb.DB, _ Draft, v values) error {
		if err := s.set(ctx, tx, Edit{}, v, map[string]string{iap.KeyServiceAccount: string(file)}, map[string]string{}); err != nil {
			return err
		}
		accounts, err := iap.ReadAccounts(ctx, tx)
		facts = accounts.Facts(v[iap.KeyServiceAccount].Value)
		return err
	})
	return facts, err
}

// RemoveServiceAccount takes it out of the draft.
func (s *Service) RemoveServiceAccount(ctx context.Context, actor people.Actor, revision int64) error {
	_, err := s.changeDraft(ctx, actor, Edit{Revision: revision}, func(_ *addondb.DB, _ Draft, v values) error {
		v.put(iap.KeyServiceAccount, TypeServiceAccount, "")
		return nil
	})
	return err
}
