package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/store/rules"
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
			var w Workspace
			w.Account.Name.Firstname, w.Account.Name.Lastname = c.first, c.last
			if got := rules.WithFullName(w).Account.Name.FullName; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// full is a workspace with everything set.
func full(username string) Workspace {
	return Workspace{
		Account: countersign.Account{
			Name: countersign.Name{Firstname: "Ada", Lastname: "Byron"}, Username: username, Email: "ada@shop.example",
			Balance: -1205, Currency: "EUR", RegisteredAt: at("2024-04-27T12:00:00Z"),
			Profile: countersign.Profile{
				Heading: "Engines", Description: "Analytical <ones> & \"others\"", Contact: countersign.Contact{Email: "hello@shop.example"},
				SocialLinks: countersign.Links{"facebook": "https://facebook.example/ada", "x": "https://x.example/ada"},
				Media:       countersign.ProfileMedia{Avatar: "https://cdn.example/a.png", Cover: "https://cdn.example/c.png"},
			},
		},
		Switches: Switches{Always200: true, RefuseQueryKeys: true, Quota: 60},
	}
}

func TestAccountIsThatOfTheKeysWorkspace(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		made, err := f.CreateWorkspace(t.Context(), operator, full("ada"))
		if err != nil {
			t.Fatal(err)
		}
		f.mustImport(t, lines(workspaceText("bob")))
		_, token := f.mustCreate(t, NewKey{Workspace: "ada"})
		got, err := f.Validation.Account(t.Context(), f.actorOf(t, token))
		if err != nil {
			t.Fatal(err)
		}
		want := full("ada").Account
		want.Name.FullName = "Ada Byron"
		for _, account := range []countersign.Account{got, made.Account} {
			if mustJSON(t, account) != mustJSON(t, want) {
				t.Errorf("account %s, want %s", mustJSON(t, account), mustJSON(t, want))
			}
		}
	})
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := countersign.EncodeJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCreateWorkspaceRefuses(t *testing.T) {
	long := strings.Repeat("é", 256)
	cases := []struct {
		name   string
		change func(*Workspace)
		want   string // code of the error
	}{
		{"everything set is fine", func(*Workspace) {}, ""},
		{"a username of 64 characters is fine", func(w *Workspace) { w.Account.Username = strings.Repeat("a", 64) }, ""},
		{"dots, dashes and underscores are fine", func(w *Workspace) { w.Account.Username = "a.b-c_D9" }, ""},
		{"255 characters of any alphabet are a name", func(w *Workspace) { w.Account.Name.Lastname = long[:2*255] }, ""},
		{"nothing but a username and a currency is fine", func(w *Workspace) {
			*w = Workspace{Account: countersign.Account{Username: "bare", Currency: "USD"}}
		}, ""},
		{"a username that is taken", func(w *Workspace) { w.Account.Username = "taken" }, "workspace_exists"},
		{"no username", func(w *Workspace) { w.Account.Username = "" }, "invalid"},
		{"a username of 65 characters", func(w *Workspace) { w.Account.Username = strings.Repeat("a", 65) }, "invalid"},
		{"a username that begins with a dash", func(w *Workspace) { w.Account.Username = "-ada" }, "invalid"},
		{"a username with a space", func(w *Workspace) { w.Account.Username = "a b" }, "invalid"},
		{"a username with a line end", func(w *Workspace) { w.Account.Username = "ada\n" }, "invalid"},
		{"a name that is too long", func(w *Workspace) { w.Account.Name.Firstname = long }, "invalid"},
		{"a name with NUL", func(w *Workspace) { w.Account.Name.Lastname = "a\x00b" }, "invalid"},
		{"an e-mail address without a host", func(w *Workspace) { w.Account.Email = "ada" }, "invalid"},
		{"a contact address with a space", func(w *Workspace) { w.Account.Profile.Contact.Email = "a b@c" }, "invalid"},
		{"a currency in lower case", func(w *Workspace) { w.Account.Currency = "usd" }, "invalid"},
		{"no currency", func(w *Workspace) { w.Account.Currency = "" }, "invalid"},
		{"a balance beyond all bounds", func(w *Workspace) { w.Account.Balance = 1_000_000_000_000_00 + 1 }, "invalid"},
		{"a debt beyond all bounds", func(w *Workspace) { w.Account.Balance = -1_000_000_000_000_00 - 1 }, "invalid"},
		{"a heading that is too long", func(w *Workspace) { w.Account.Profile.Heading = long }, "invalid"},
		{"a description that is too long", func(w *Workspace) { w.Account.Profile.Description = strings.Repeat("x", 100_001) }, "invalid"},
		{"a description in no UTF-8", func(w *Workspace) { w.Account.Profile.Description = "\xff" }, "invalid"},
		{"an avatar without a host", func(w *Workspace) { w.Account.Profile.Media.Avatar = "https:///a.png" }, "invalid"},
		{"a cover that is a script", func(w *Workspace) { w.Account.Profile.Media.Cover = "javascript:alert(1)" }, "invalid"},
		{"more than 50 links", func(w *Workspace) {
			w.Account.Profile.SocialLinks = countersign.Links{}
			for i := range 51 {
				w.Account.Profile.SocialLinks[fmt.Sprint("x", i)] = "https://x.example/ada"
			}
		}, "invalid"},
		{"a link that is relative", func(w *Workspace) { w.Account.Profile.SocialLinks = countersign.Links{"x": "/ada"} }, "invalid"},
		{"a link without a name", func(w *Workspace) { w.Account.Profile.SocialLinks = countersign.Links{"": "https://x.example"} }, "invalid"},
		{"a negative quota", func(w *Workspace) { w.Switches.Quota = -1 }, "invalid"},
	}
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("taken")))
		for i, c := range cases {
			w := full("ada" + text(i))
			c.change(&w)
			before := f.rows(t, "workspaces")
			made, err := f.CreateWorkspace(t.Context(), operator, w)
			if codeOf(err) != c.want {
				t.Errorf("%s: %v, want the code %q", c.name, err, c.want)
			}
			if after := f.rows(t, "workspaces"); (after == before) != (err != nil) {
				t.Errorf("%s: %d workspaces, before %d", c.name, after, before)
			}
			if err == nil && w.Account.RegisteredAt.IsZero() && made.Account.RegisteredAt.String() != "2026-11-01T12:00:00Z" {
				t.Errorf("%s: registered at %s, want now", c.name, made.Account.RegisteredAt)
			}
		}
	})
}

func TestSetWorkspaceChangesAllButTheUsername(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("ada"), workspaceText("bob")))
		set, err := f.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) {
			*w = full("bob")
			w.ID = 77
		})
		if err != nil {
			t.Fatal(err)
		}
		want := full("ada")
		read, err := f.Workspace(t.Context(), operator, "ada")
		if err != nil {
			t.Fatal(err)
		}
		want.Account.Name.FullName = "Ada Byron"
		for _, got := range []Workspace{set, read} {
			if mustJSON(t, got.Account) != mustJSON(t, want.Account) || got.Switches != want.Switches {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
		if bob, err := f.Workspace(t.Context(), operator, "bob"); err != nil || bob.Account.Currency != "USD" {
			t.Errorf("bob is %+v, %v", bob, err)
		}
		_, err = f.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) { w.Account.Currency = "" })
		wantError(t, err, "invalid")
		_, err = f.SetWorkspace(t.Context(), operator, "eve", func(*Workspace) {})
		wantError(t, err, "workspace_not_found")
	})
}

func TestChangesOfAWorkspaceAtOnceAreBothKept(t *testing.T) {
	t.Parallel()
	place := emptyStore.New(t, dbtest.Postgres)
	f := prepared(t, place)
	f.mustImport(t, lines(workspaceText("ada")))
	impatient := place
	impatient.URL += "&lock_timeout=50" // milliseconds; after that it says "busy"
	other := prepared(t, impatient)
	var second error
	_, err := f.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) {
		_, second = other.SetWorkspace(t.Context(), operator, "ada", func(w *Workspace) { w.Switches.RefuseQueryKeys = true })
		w.Switches.Quota = 5
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.Workspace(t.Context(), operator, "ada")
	if err != nil || got.Switches.Quota != 5 || (second == nil && !got.Switches.RefuseQueryKeys) {
		t.Errorf("switches %+v, %v; the second change: %v", got.Switches, err, second)
	}
}

func TestListOfWorkspacesIsByUsername(t *testing.T) {
	engines(t, func(t *testing.T, f *fixture) {
		f.mustImport(t, lines(workspaceText("bob"), workspaceText("ada"), workspaceText("Zoe"), workspaceText("a.b"), workspaceText("a-b")))
		list, err := f.Workspaces(t.Context(), operator)
		if err != nil {
			t.Fatal(err)
		}
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
