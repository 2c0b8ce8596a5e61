package main

import (
	"maps"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// workspaceFlags are what can be said of a workspace. Only flags that were given
// change it.
type workspaceFlags struct {
	email, firstname, lastname, currency         string
	heading, description, contact, avatar, cover string
	balance                                      moneyValue
	links                                        []string
	always200, refuseQueryKeys                   bool
	quota                                        int64
}

func (f *workspaceFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.email, "email", "", "the author's e-mail `address`")
	flags.StringVar(&f.firstname, "firstname", "", "the author's first `name`")
	flags.StringVar(&f.lastname, "lastname", "", "the author's last `name`")
	flags.Var(&f.balance, "balance", "the account's balance, like 120.50")
	flags.Lookup("balance").DefValue = ""
	flags.StringVar(&f.currency, "currency", "", "three capital letters, like USD")
	flags.StringVar(&f.heading, "heading", "", "the profile's heading")
	flags.StringVar(&f.description, "description", "", "the profile's text")
	flags.StringVar(&f.contact, "contact-email", "", "the profile's public e-mail `address`")
	flags.StringVar(&f.avatar, "avatar", "", "`URL` of the profile's picture; empty for the store's own")
	flags.StringVar(&f.cover, "cover", "", "`URL` of the profile's cover; empty for the store's own")
	flags.StringArrayVar(&f.links, "social-link", nil, "`name=URL` of a profile elsewhere; name= takes it away (repeatable)")
	flags.BoolVar(&f.always200, "always-200", false, "answer errors of 4xx with status 200, for clients that can't read them")
	flags.BoolVar(&f.refuseQueryKeys, "refuse-query-keys", false, "refuse API keys in the query string")
	flags.Int64Var(&f.quota, "quota", 0, "successful calls a minute that are served; 0 for all")
}

// parseLinks reads the values of --social-link.
func (f *workspaceFlags) parseLinks(c *cobra.Command) (countersign.Links, error) {
	links := countersign.Links{}
	for _, text := range f.links {
		name, url, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, usage(c, "--social-link is written name=URL")
		}
		links[name] = url
	}
	return links, nil
}

// change is what the given flags do to a workspace.
func (f *workspaceFlags) change(flags *pflag.FlagSet, links countersign.Links) func(*store.Workspace) {
	return func(w *store.Workspace) {
		account, profile := &w.Account, &w.Account.Profile
		for name, act := range map[string]func(){
			"email":             func() { account.Email = f.email },
			"firstname":         func() { account.Name.Firstname = f.firstname },
			"lastname":          func() { account.Name.Lastname = f.lastname },
			"balance":           func() { account.Balance = f.balance.Money },
			"currency":          func() { account.Currency = f.currency },
			"heading":           func() { profile.Heading = f.heading },
			"description":       func() { profile.Description = f.description },
			"contact-email":     func() { profile.Contact.Email = f.contact },
			"avatar":            func() { profile.Media.Avatar = f.avatar },
			"cover":             func() { profile.Media.Cover = f.cover },
			"social-link":       func() { profile.SocialLinks = mergeLinks(profile.SocialLinks, links) },
			"always-200":        func() { w.Switches.Always200 = f.always200 },
			"refuse-query-keys": func() { w.Switches.RefuseQueryKeys = f.refuseQueryKeys },
			"quota":             func() { w.Switches.Quota = f.quota },
		} {
			if flags.Changed(name) {
				act()
			}
		}
	}
}

// mergeLinks adds links to others; an empty one takes its name away.
func mergeLinks(old, added countersign.Links) countersign.Links {
	merged := countersign.Links{}
	maps.Copy(merged, old)
	maps.Copy(merged, added)
	maps.DeleteFunc(merged, func(_, url string) bool { return url == "" })
	return merged
}
