package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newWorkspace(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "workspace", Short: "The authors' accounts: list, show, create, change", SuggestionsMinimumDistance: 2,
	}, newWorkspaceList(a), newWorkspaceShow(a), newWorkspaceCreate(a), newWorkspaceSet(a))
}

// workspaceJSON is a workspace as --json prints it: the account as the API
// prints it, and the switches.
type workspaceJSON struct {
	countersign.Account
	store.Switches
}

func (a *app) printWorkspace(w store.Workspace) error {
	account, profile := w.Account, w.Account.Profile
	quota := "none"
	if w.Switches.Quota > 0 {
		quota = thousands(w.Switches.Quota) + " a minute"
	}
	return a.printCard(workspaceJSON{account, w.Switches},
		pair{"Username", account.Username},
		pair{"Name", account.Name.FullName},
		pair{"E-mail", account.Email},
		pair{"Balance", money(account.Balance, account.Currency)},
		pair{"Registered", second(account.RegisteredAt)},
		pair{"Heading", profile.Heading},
		pair{"Description", profile.Description},
		pair{"Contact", profile.Contact.Email},
		pair{"Links", linksText(profile.SocialLinks)},
		pair{"Avatar", profile.Media.Avatar},
		pair{"Cover", profile.Media.Cover},
		pair{"Always 200", yesNo(w.Switches.Always200)},
		pair{"Refuses keys in the query", yesNo(w.Switches.RefuseQueryKeys)},
		pair{"Quota", quota},
	)
}

func linksText(links countersign.Links) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(links)) {
		all = append(all, fmt.Sprintf("%s=%s", name, links[name]))
	}
	return strings.Join(all, " ")
}
