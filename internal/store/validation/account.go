package validation

import (
	"cmp"
	"context"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/prepared"
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
	cached, found, since := v.responses.others.Find(key)
	if found {
		return cached.(*cachedAccount).Account, nil
	}
	w, err := v.db.WorkspaceByID(ctx, a.Workspace)
	if err != nil {
		return countersign.Account{}, err
	}
	account := rules.WithFullName(w).Account
	v.responses.store(key, &cachedAccount{account}, since)
	return account, nil
}

// AccountBody is the body in which the API answers with an account (spec 4.1). The default pictures of a store at the
// URL base stand where the profile has none, and uploaded ones are at that URL.
func AccountBody(account countersign.Account, base string) ([]byte, error) {
	m := &account.Profile.Media
	m.Avatar = Whole(cmp.Or(m.Avatar, "/media/default/avatar.png"), base)
	m.Cover = Whole(cmp.Or(m.Cover, "/media/default/cover.png"), base)
	text, err := countersign.EncodeJSON(account)
	if err != nil {
		return nil, err
	}
	return prepared.Success("data", string(text)), nil
}

// Whole is an address with that of the store, if it lacks one.
func Whole(address, base string) string {
	if strings.HasPrefix(address, "/") {
		return base + address
	}
	return address
}
