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
	if _, err := s.Set(ctx, actor, revision, map[string]string{iap.KeyServiceAccount: string(file)}); err != nil {
		return iap.ServiceAccountFacts{}, err
	}
	facts, _, err := s.iap.ServiceAccount(ctx, actor)
	return facts, err
}

// RemoveServiceAccount takes it out of the draft.
func (s *Service) RemoveServiceAccount(ctx context.Context, actor people.Actor, revision int64) error {
	_, err := s.changeDraft(ctx, actor, revision, func(_ *addondb.DB, v values) error {
		v.put(iap.KeyServiceAccount, TypeServiceAccount, "")
		return nil
	})
	return err
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
