package validation

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
)

// Account is the account of a key's workspace (spec 4.1). Avatar and cover are
// empty where the API's default pictures are used.
func (v *Validator) Account(ctx context.Context, a people.Actor) (countersign.Account, error) {
	if err := access.May(a, access.ReadWorkspace); err != nil {
		return countersign.Account{}, err
	}
	key := accountKey(a.Workspace)
	kept, found, since := v.responses.others.Find(key)
	if found {
		return kept.(*cachedAccount).Account, nil
	}
	w, err := v.db.WorkspaceByID(ctx, a.Workspace)
	if err != nil {
		return countersign.Account{}, err
	}
	account := rules.WithFullName(w).Account
	v.responses.store(key, &cachedAccount{account}, since)
	return account, nil
}
