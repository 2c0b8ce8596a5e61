package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// licensingFlags are what can be said of the licenses of an item's purchases.
// Only flags that were given change it.
type licensingFlags struct {
	regular, extended, moves, wait int
	wildcard                       bool
	staging                        []string
}

func newItemSet(a *app) *cobra.Command {
	var flags licensingFlags
	c := &cobra.Command{
		Use: "set ID", Short: "Change what an item's purchases may be licensed for", Args: one("item's id"),
		Example: `  countersign store item set 1229 --extended-domains 5
  countersign store item set 1229 --wildcard --staging-host 'staging.*' --staging-host '*.preview.example'`,
		RunE: func(c *cobra.Command, args []string) error {
			id, err := parseID(c, "item", args[0])
			if err != nil {
				return err
			}
			if !anyChanged(c) {
				return usage(c, "nothing to set; give at least one flag")
			}
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				i, err := s.Licensing.SetRule(ctx, operator(), id, flags.change(c.Flags()))
				if err != nil {
					return err
				}
				names, err := usernames(ctx, s)
				if err != nil {
					return err
				}
				return a.printCard(jsonOfItem(i, names[i.WorkspaceID]), itemPairs(i, names[i.WorkspaceID])...)
			})
		},
	}
	flags.register(c.Flags())
	return c
}

func (f *licensingFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.regular, "regular-domains", 0, "how many domains a Regular purchase may have, beside test domains")
	flags.IntVar(&f.extended, "extended-domains", 0, "how many domains an Extended purchase may have, beside test domains")
	flags.IntVar(&f.moves, "moves", 0, "how many times a year a buyer may move or revoke a license")
	flags.IntVar(&f.wait, "move-wait", 0, "`hours` that a buyer has to wait after moving or revoking a license until the next time")
	flags.BoolVar(&f.wildcard, "wildcard", false, "let a license be for all hosts one level below its domain (*.shop.example)")
	flags.StringArrayVar(&f.staging, "staging-host", nil, "`host` that counts as a test domain, like staging.*, *.preview.example or dev.example; takes the place of those before (repeatable; empty for none)")
}

// change is what the given flags do to an item's licensing.
func (f *licensingFlags) change(flags *pflag.FlagSet) func(*licensing.Rule) {
	return func(l *licensing.Rule) {
		for name, act := range map[string]func(){
			"regular-domains":  func() { l.RegularDomains = f.regular },
			"extended-domains": func() { l.ExtendedDomains = f.extended },
			"moves":            func() { l.MovesAYear = f.moves },
			"move-wait":        func() { l.MoveWaitHours = f.wait },
			"wildcard":         func() { l.Wildcard = f.wildcard },
			"staging-host":     func() { l.StagingHosts = withoutEmpty(f.staging) },
		} {
			if flags.Changed(name) {
				act()
			}
		}
	}
}

func withoutEmpty(texts []string) []string {
	var kept []string
	for _, text := range texts {
		if text != "" {
			kept = append(kept, text)
		}
	}
	return kept
}

// licensingPairs are the lines of an item's card about licenses.
func licensingPairs(l licensing.Rule) []pair {
	return []pair{
		{"Domains", "Regular " + strconv.Itoa(l.RegularDomains) + ", Extended " + strconv.Itoa(l.ExtendedDomains)},
		{"Moves a year", strconv.Itoa(l.MovesAYear)}, {"Hours between moves", strconv.Itoa(l.MoveWaitHours)},
		{"Wildcard domains", yesNo(l.Wildcard)}, {"Staging hosts", strings.Join(l.StagingHosts, ", ")},
	}
}
