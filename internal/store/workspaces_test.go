package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/expect"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storetest"
)

func TestFullName(t *testing.T) {
	cases := []struct{ name, first, last, want string }{
		{"both names are joined by a space", "Ada", "Byron", "Ada Byron"},
		{"a first name alone stands alone", "Ada", "", "Ada"},
		{"a last name alone stands alone", "", "Byron", "Byron"},
		{"no name is empty", "", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var w store.Workspace
			w.Account.Name.Firstname, w.Account.Name.Lastname = c.first, c.last
			expect.Equal(t, rules.WithFullName(w).Account.Name.FullName, c.want)
		})
	}
}

// full is a workspace with everything set.
func full(username string) store.Workspace {
	return store.Workspace{
		Account: countersign.Account{
			Name: countersign.Name{Firstname: "Ada", Lastname: "Byron"}, Username: username, Email: "ada@shop.example",
			Balance: -1205, Currency: "EUR", RegisteredAt: storetest.Timestamp("2024-04-27T12:00:00Z"),
			Profile: countersign.Profile{
				Heading: "Engines", Description: "Analytical <ones> & \"others\"", Contact: countersign.Contact{Email: "hello@shop.example"},
				SocialLinks: countersign.Links{"facebook": "https://facebook.example/ada", "x": "https://x.example/ada"},
				Media:       countersign.ProfileMedia{Avatar: "https://cdn.example/a.png", Cover: "https://cdn.example/c.png"},
			},
		},
		Switches: store.Switches{Always200: true, RefuseQueryKeys: true, Quota: 60},
	}
}

func TestAccountIsThatOfTheKeysWorkspace(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		made := must.Get(f.CreateWorkspace(t.Context(), storetest.Operator, full("ada")))(t)
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("bob")))
		_, token := f.MustCreate(t, store.NewKey{Workspace: "ada"})
		got := must.Get(f.Validation.Account(t.Context(), f.ActorOf(t, token)))(t)
		want := full("ada").Account
		want.Name.FullName = "Ada Byron"
		for _, account := range []countersign.Account{got, made.Account} {
			expect.Equalf(t, storetest.MustJSON(t, account), storetest.MustJSON(t, want), "account")
		}
	})
}

func TestCreateWorkspaceRefuses(t *testing.T) {
	long := strings.Repeat("é", 256)
	cases := []struct {
		name   string
		change func(*store.Workspace)
		want   string // code of the error
	}{
		{"everything set is fine", func(*store.Workspace) {}, ""},
		{"a username of 64 characters is fine", func(w *store.Workspace) { w.Account.Username = strings.Repeat("a", 64) }, ""},
		{"dots, dashes and underscores are fine", func(w *store.Workspace) { w.Account.Username = "a.b-c_D9" }, ""},
		{"255 characters of any alphabet are a name", func(w *store.Workspace) { w.Account.Name.Lastname = long[:2*255] }, ""},
		{"nothing but a username and a currency is fine", func(w *store.Workspace) {
			*w = store.Workspace{Account: countersign.Account{Username: "bare", Currency: "USD"}}
		}, ""},
		{"a username that is taken", func(w *store.Workspace) { w.Account.Username = "taken" }, "workspace_exists"},
		{"a username that differs in letter case", func(w *store.Workspace) { w.Account.Username = "TAKEN" }, "workspace_exists"},
		{"no username", func(w *store.Workspace) { w.Account.Username = "" }, "invalid"},
		{"a username of 65 characters", func(w *store.Workspace) { w.Account.Username = strings.Repeat("a", 65) }, "invalid"},
		{"a username that begins with a dash", func(w *store.Workspace) { w.Account.Username = "-ada" }, "invalid"},
		{"a username with a space", func(w *store.Workspace) { w.Account.Username = "a b" }, "invalid"},
		{"a username with a line end", func(w *store.Workspace) { w.Account.Username = "ada\n" }, "invalid"},
		{"a name that is too long", func(w *store.Workspace) { w.Account.Name.Firstname = long }, "invalid"},
		{"a name with NUL", func(w *store.Workspace) { w.Account.Name.Lastname = "a\x00b" }, "invalid"},
		{"an e-mail address without a host", func(w *store.Workspace) { w.Account.Email = "ada" }, "invalid"},
		{"a contact address with a space", func(w *store.Workspace) { w.Account.Profile.Contact.Email = "a b@c" }, "invalid"},
		{"a currency in lower case", func(w *store.Workspace) { w.Account.Currency = "usd" }, "invalid"},
		{"no currency", func(w *store.Workspace) { w.Account.Currency = "" }, "invalid"},
		{"a balance beyond all bounds", func(w *store.Workspace) { w.Account.Balance = 1_000_000_000_000_00 + 1 }, "invalid"},
		{"a debt beyond all bounds", func(w *store.Workspace) { w.Account.Balance = -1_000_000_000_000_00 - 1 }, "invalid"},
		{"a heading that is too long", func(w *store.Workspace) { w.Account.Profile.Heading = long }, "invalid"},
		{"a description that is too long", func(w *store.Workspace) { w.Account.Profile.Description = strings.Repeat("x", 100_001) }, "invalid"},
		{"a description in no UTF-8", func(w *store.Workspace) { w.Account.Profile.Description = "\xff" }, "invalid"},
		{"an avatar without a host", func(w *store.Workspace) { w.Account.Profile.Media.Avatar = "https:///a.png" }, "invalid"},
		{"a cover that is a script", func(w *store.Workspace) { w.Account.Profile.Media.Cover = "javascript:alert(1)" }, "invalid"},
		{"more than 50 links", func(w *store.Workspace) {
			w.Account.Profile.SocialLinks = countersign.Links{}
			for i := range 51 {
				w.Account.Profile.SocialLinks[fmt.Sprint("x", i)] = "https://x.example/ada"
			}
		}, "invalid"},
		{"a link that is relative", func(w *store.Workspace) { w.Account.Profile.SocialLinks = countersign.Links{"x": "/ada"} }, "invalid"},
		{"a link without a name", func(w *store.Workspace) { w.Account.Profile.SocialLinks = countersign.Links{"": "https://x.example"} }, "invalid"},
		{"a negative quota", func(w *store.Workspace) { w.Switches.Quota = -1 }, "invalid"},
	}
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("taken")))
		for i, c := range cases {
			w := full("ada" + storetest.Text(i))
			c.change(&w)
			before := f.Rows(t, "workspaces")
			made, err := f.CreateWorkspace(t.Context(), storetest.Operator, w)
			if storetest.CodeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			if after := f.Rows(t, "workspaces"); (after == before) != (err != nil) {
				t.Errorf("%s: %d workspaces, before %d", c.name, after, before)
			}
			if err == nil && w.Account.RegisteredAt.IsZero() && made.Account.RegisteredAt.String() != "2026-11-01T12:00:00Z" {
				t.Errorf("%s: registered at %s, want now", c.name, made.Account.RegisteredAt)
			}
		}
	})
}

func TestSetWorkspaceChangesAllButTheUsername(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("ada"), storetest.WorkspaceText("bob")))
		set := must.Get(f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) {
			*w = full("bob")
			w.ID = 77
		}))(t)
		want := full("ada")
		read := must.Get(f.Workspace(t.Context(), storetest.Operator, "ada"))(t)
		want.Account.Name.FullName = "Ada Byron"
		for _, got := range []store.Workspace{set, read} {
			if storetest.MustJSON(t, got.Account) != storetest.MustJSON(t, want.Account) || got.Switches != want.Switches {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		if bob, err := f.Workspace(t.Context(), storetest.Operator, "bob"); err != nil || bob.Account.Currency != "USD" {
			t.Errorf("bob is %+v, %v", bob, err)
		}
		_, err := f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) { w.Account.Currency = "" })
		storetest.WantError(t, err, "invalid")
		_, err = f.SetWorkspace(t.Context(), storetest.Operator, "eve", func(*store.Workspace) {})
		storetest.WantError(t, err, "workspace_not_found")
	})
}

func TestChangesOfAWorkspaceAtOnceAreBothKept(t *testing.T) {
	t.Parallel()
	place := storetest.EmptyStore.New(t, dbtest.Postgres)
	f := storetest.Prepared(t, place)
	f.MustImport(t, storetest.Lines(storetest.WorkspaceText("ada")))
	impatient := place
	impatient.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := storetest.Prepared(t, impatient)
	var second error
	must.Get(f.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) {
		_, second = other.SetWorkspace(t.Context(), storetest.Operator, "ada", func(w *store.Workspace) { w.Switches.RefuseQueryKeys = true })
		w.Switches.Quota = 5
	}))(t)
	got, err := f.Workspace(t.Context(), storetest.Operator, "ada")
	if err != nil || got.Switches.Quota != 5 || (second == nil && !got.Switches.RefuseQueryKeys) {
		t.Errorf("switches %+v, %v; the second change: %v", got.Switches, err, second)
	}
}

func TestListOfWorkspacesIsByUsername(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		f.MustImport(t, storetest.Lines(storetest.WorkspaceText("bob"), storetest.WorkspaceText("ada"), storetest.WorkspaceText("Zoe"), storetest.WorkspaceText("a.b"), storetest.WorkspaceText("a-b")))
		list := must.Get(f.Workspaces(t.Context(), storetest.Operator))(t)
		var names []string
		for _, w := range list {
			names = append(names, w.Account.Username)
			if w.Account.Name.FullName == "" {
				t.Errorf("%s has no full name", w.Account.Username)
			}
		}
		if got, want := strings.Join(names, " "), "Zoe a-b a.b ada bob"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestSetAccountReplacesAPartUnlessSomebodyElseDid(t *testing.T) {
	storetest.Engines(t, func(t *testing.T, f *storetest.Fixture) {
		w, err := f.CreateWorkspace(t.Context(), storetest.Operator, full("ada"))
		must.Do(t, err)
		seen := map[store.AccountPart]string{store.AccountGeneral: store.AccountGeneral.Revision(w), store.AccountProfile: store.AccountProfile.Revision(w)}
		typed := countersign.Account{
			Name: countersign.Name{Firstname: "Eve", Lastname: "Byron"}, Username: "eve", Email: "eve@shop.example", Currency: "USD", Balance: 1,
			Profile: countersign.Profile{Heading: "Rain", SocialLinks: countersign.Links{"x": "https://x.example/eve"}},
		}
		set := func(p store.AccountPart) (store.Workspace, error) {
			return f.SetAccount(t.Context(), storetest.Operator, "ada", store.AccountEdit{Part: p, Seen: seen[p], Account: typed})
		}

		w, err = set(store.AccountGeneral)
		if err != nil || w.Account.Username != "ada" || w.Account.Balance != -1205 || w.Account.Name.FullName != "Eve Byron" || w.Account.Profile.Heading != "Engines" {
			t.Fatalf("%+v, %v", w, err)
		}
		a := f.NewestAudit(t)
		if a.Before != "first name: Ada, e-mail: ada@shop.example, currency: EUR" || a.After != "first name: Eve, e-mail: eve@shop.example, currency: USD" {
			t.Errorf("%+v", a)
		}
		if w, err = set(store.AccountGeneral); !fault.HasKind(err, countersign.KindPrecondition) || w.Account.Name.Firstname != "Eve" {
			t.Errorf("%+v, %v", w, err)
		}
		w, err = set(store.AccountProfile) // its revision is its own
		if err != nil || w.Account.Profile.Heading != "Rain" || len(w.Account.Profile.SocialLinks) != 1 || w.Account.Profile.Media.Avatar != "" {
			t.Errorf("%+v, %v", w, err)
		}
		entries := f.Rows(t, "audit")
		seen[store.AccountProfile] = store.AccountProfile.Revision(w)
		if _, err := set(store.AccountProfile); err != nil || f.Rows(t, "audit") != entries {
			t.Errorf("%v, %d entries for no change", err, f.Rows(t, "audit")-entries)
		}
	})
}

func TestSetAccountNamesTheWrongField(t *testing.T) {
	f := storetest.Prepared(t, storetest.EmptyStore.New(t, dbtest.SQLite))
	must.Get(f.CreateWorkspace(t.Context(), storetest.Operator, full("ada")))(t)
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
		for _, part := range []store.AccountPart{store.AccountGeneral, store.AccountProfile} {
			_, err := f.SetAccount(t.Context(), storetest.Operator, "ada", store.AccountEdit{Part: part, Seen: part.Revision(full("ada")), Account: typed.Account})
			if part.Revision(typed) != part.Revision(full("ada")) && (fault.Of(err) == nil || fault.Of(err).Fields[field] == "") {
				t.Errorf("%s: %v", field, err)
			}
		}
	}
}

func TestSetAccountIsForOwners(t *testing.T) {
	f := storetest.Prepared(t, storetest.EmptyStore.New(t, dbtest.SQLite))
	must.Get(f.CreateWorkspace(t.Context(), storetest.Operator, full("ada")))(t)
	_, err := f.SetAccount(t.Context(), people.Actor{Kind: people.KindUser, User: 7}, "ada", store.AccountEdit{Part: store.AccountGeneral})
	storetest.WantError(t, err, "workspace_not_found")
}
