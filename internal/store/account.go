package store

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/rules"
)

// AccountPart is what the owners of a workspace edit of its account (spec 2.2) in one form.
type AccountPart string

// The parts.
const (
	// AccountGeneral is names, e-mail and currency.
	AccountGeneral AccountPart = "general"
	AccountProfile AccountPart = "profile"
)

// Edited returns a workspace with this part of another account.
func (p AccountPart) Edited(w Workspace, from countersign.Account) Workspace {
	if p == AccountProfile {
		w.Account.Profile = from.Profile
		return w
	}
	w.Account.Name, w.Account.Email, w.Account.Currency = from.Name, from.Email, from.Currency
	return rules.WithFullName(w)
}

// Revision identifies the content of this part. A change elsewhere in the workspace does not change it.
func (p AccountPart) Revision(w Workspace) string {
	return rules.Revision(p.Edited(Workspace{}, w.Account).Account)
}

// AccountEdit is a part of an account as somebody wrote it.
type AccountEdit struct {
	Part AccountPart
	// Seen is the revision of the part that was edited.
	Seen string
	// Account holds the part; its other fields count for nothing.
	Account countersign.Account
}

var errAccountChanged = fault.New(countersign.KindPrecondition, "account_changed", "The account changed after you opened it. Nothing was saved. Check it and try again")

// SetAccount replaces a part of a workspace's account, for its owners. The error is of kind Precondition
// (account_changed) when the part has another revision by now: the workspace is then as it is saved.
func (s *Store) SetAccount(ctx context.Context, a people.Actor, username string, e AccountEdit) (Workspace, error) {
	var saved Workspace
	after, err := s.setWorkspace(ctx, a, username, func(w *Workspace, event *people.Event) error {
		saved = rules.WithFullName(*w)
		if e.Part.Revision(saved) != e.Seen {
			return errAccountChanged
		}
		*w = e.Part.Edited(*w, e.Account)
		event.Before, event.After = accountDifferences(saved.Account, w.Account)
		if event.Before == "" && event.After == "" {
			return errSame
		}
		return nil
	})
	if err = ifChanged(err); err != nil {
		return saved, err
	}
	return after, nil
}

// accountDifferences describes the fields of two accounts that differ, of those that a form can change.
func accountDifferences(before, after countersign.Account) (beforeText, afterText string) {
	var d rules.Differences
	was, is := before.Profile, after.Profile
	d.Add("first name", before.Name.Firstname, after.Name.Firstname)
	d.Add("last name", before.Name.Lastname, after.Name.Lastname)
	d.Add("e-mail", before.Email, after.Email)
	d.Add("currency", before.Currency, after.Currency)
	d.Add("heading", was.Heading, is.Heading)
	d.Add("description", was.Description, is.Description)
	d.Add("contact", was.Contact.Email, is.Contact.Email)
	d.Add("avatar", was.Media.Avatar, is.Media.Avatar)
	d.Add("cover", was.Media.Cover, is.Media.Cover)
	names := map[string]string{}
	maps.Copy(names, was.SocialLinks)
	maps.Copy(names, is.SocialLinks)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.Add(name, was.SocialLinks[name], is.SocialLinks[name])
	}
	return d.Texts()
}
