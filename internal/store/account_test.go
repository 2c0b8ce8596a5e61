package store

import (
	"errors"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

func TestSetAccountReplacesAPartUnlessSomebodyElseDid(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		w, err := f.CreateWorkspace(t.Context(), operator, full("ada"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[AccountPart]string{AccountGeneral: AccountGeneral.Revision(w), AccountProfile: AccountProfile.Revision(w)}
		typed := countersign.Account{
			Name: countersign.Name{Firstname: "Eve", Lastname: "Byron"}, Username: "eve", Email: "eve@shop.example", Currency: "USD", Balance: 1,
			Profile: countersign.Profile{Heading: "Rain", SocialLinks: countersign.Links{"x": "https://x.example/eve"}},
		}
		set := func(p AccountPart) (Workspace, error) {
			return f.SetAccount(t.Context(), operator, "ada", AccountEdit{Part: p, Seen: seen[p], Account: typed})
		}

		w, err = set(AccountGeneral)
		if err != nil || w.Account.Username != "ada" || w.Account.Balance != -1205 || w.Account.Name.FullName != "Eve Byron" || w.Account.Profile.Heading != "Engines" {
			t.Fatalf("%+v, %v", w, err)
		}
		a := f.newestAudit(t)
		if a.Before != "first name: Ada, e-mail: ada@shop.example, currency: EUR" || a.After != "first name: Eve, e-mail: eve@shop.example, currency: USD" {
			t.Errorf("%+v", a)
		}
		if w, err = set(AccountGeneral); !fault.HasKind(err, countersign.KindPrecondition) || w.Account.Name.Firstname != "Eve" {
			t.Errorf("%+v, %v", w, err)
		}
		w, err = set(AccountProfile) // its revision is its own
		if err != nil || w.Account.Profile.Heading != "Rain" || len(w.Account.Profile.SocialLinks) != 1 || w.Account.Profile.Media.Avatar != "" {
			t.Errorf("%+v, %v", w, err)
		}
		entries := f.rows(t, "audit")
		seen[AccountProfile] = AccountProfile.Revision(w)
		if _, err := set(AccountProfile); err != nil || f.rows(t, "audit") != entries {
			t.Errorf("%v, %d entries for no change", err, f.rows(t, "audit")-entries)
		}
	})
}

func TestSetAccountNamesTheWrongField(t *testing.T) {
	f := prepared(t, emptyStore.New(t, dbtest.SQLite))
	if _, err := f.CreateWorkspace(t.Context(), operator, full("ada")); err != nil {
		t.Fatal(err)
	}
	for field, change := range map[string]func(*countersign.Account){
		"name.firstname":        func(a *countersign.Account) { a.Name.Firstname = "a\x00" },
		"email":                 func(a *countersign.Account) { a.Email = "ada" },
		"currency":              func(a *countersign.Account) { a.Currency = "usd" },
		"profile.contact.email": func(a *countersign.Account) { a.Profile.Contact.Email = "ada" },
		"profile.media.avatar":  func(a *countersign.Account) { a.Profile.Media.Avatar = "javascript:alert(1)" },
		"social_links.x":        func(a *countersign.Account) { a.Profile.SocialLinks = countersign.Links{"x": "x.example"} },
		"social_links. x":       func(a *countersign.Account) { a.Profile.SocialLinks = countersign.Links{" x": "https://x.example"} },
	} {
		typed := full("ada")
		change(&typed.Account)
		for _, part := range []AccountPart{AccountGeneral, AccountProfile} {
			_, err := f.SetAccount(t.Context(), operator, "ada", AccountEdit{Part: part, Seen: part.Revision(full("ada")), Account: typed.Account})
			if part.Revision(typed) != part.Revision(full("ada")) && (fault.Of(err) == nil || fault.Of(err).Fields[field] == "") {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

func TestSetAccountIsForOwners(t *testing.T) {
	f := prepared(t, emptyStore.New(t, dbtest.SQLite))
	if _, err := f.CreateWorkspace(t.Context(), operator, full("ada")); err != nil {
		t.Fatal(err)
	}
	_, err := f.SetAccount(t.Context(), people.Actor{Kind: people.KindUser, User: 7}, "ada", AccountEdit{Part: AccountGeneral})
	var ours *countersign.Error
	if !errors.As(err, &ours) || ours.Code != "workspace_not_found" {
		t.Error(err)
	}
}
