package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// globalFlags are the flags of every command.
type globalFlags struct {
	json    bool
	noColor bool
	noInput bool
	yes     bool
	quiet   bool
}

const defaultData = "./countersign-data"

func newRoot(a *app) *cobra.Command {
	root := newGroup(&cobra.Command{
		Use:   "countersign",
		Short: "Keep purchase codes of digital items and answer whether they are good",
		Long: `Countersign keeps workspaces, items and purchase codes, and answers the programs
of their authors over HTTP: is this purchase code good?

  countersign demo           try it: a shop and an addon with sample data
  countersign store serve    serve your own store
  countersign addon update   set up the addon of your own site

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 not found, 4 check says no,
5 not allowed, 6 conflict, 7 database not reachable, 8 partly done,
9 may have been written: check before you repeat it, 130 interrupted.`,
		SilenceErrors: true, SilenceUsage: true, SuggestionsMinimumDistance: 2,
	}, withoutStore(newDemo(a)), newStore(a), newAddon(a), withoutStore(newApp(a)), newDoctor(a), withoutStore(newVersion(a)))
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	flags := root.PersistentFlags()
	flags.String("data", defaultData, "data `folder` (COUNTERSIGN_DATA)")
	flags.String("db", "", "`URL` of a PostgreSQL database in place of SQLite (COUNTERSIGN_DB, or COUNTERSIGN_DB_FILE, which keeps a password off the process list)")
	flags.BoolVar(&a.json, "json", false, "print JSON: one object, or one a line for lists")
	flags.BoolVar(&a.noColor, "no-color", false, "print no colours (also NO_COLOR, TERM=dumb)")
	flags.BoolVar(&a.noInput, "no-input", false, "never ask: a question is an error")
	flags.BoolVar(&a.yes, "yes", false, "answer yes to questions")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "say nothing on stderr but errors and warnings")
	return root
}

// withoutStore keeps the flags that name a store out of the help of a command, and of
// those below it, that have nothing to do with one.
func withoutStore(c *cobra.Command) *cobra.Command {
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		root := c.Root()
		for _, name := range []string{"data", "db"} {
			root.PersistentFlags().Lookup(name).Hidden = true
		}
		root.HelpFunc()(c, args)
	})
	return c
}

// newGroup makes a command that only has commands below it. Without one of them
// it shows its help.
func newGroup(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return c.Help()
		}
		return unknownCommand(c, args[0])
	}
	c.AddCommand(below...)
	return c
}

func newHelp() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", Short: "Show the help of a command",
		RunE: func(c *cobra.Command, args []string) error {
			found, rest, err := c.Root().Find(args)
			if err != nil || found == nil {
				return unknownCommand(c.Root(), strings.Join(args, " "))
			}
			if len(rest) > 0 {
				return unknownCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

func newStore(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "store", Short: "The store: workspaces, keys, items and purchases, and their server", SuggestionsMinimumDistance: 2,
	},
		newServe(a), newImport(a), newExport(a), newRekey(a), newMigrate(a),
		newWorkspace(a), newKey(a), newItem(a), newPurchase(a), newLicense(a), newLicenseKey(a), newStoreAudit(a))
}

// one wants exactly one argument, whose name is for the message.
func one(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 1 {
			return nil
		}
		return usage(c, fmt.Sprintf("give one %s, not %d", name, len(args)))
	}
}

// none wants no argument.
func none(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(c, fmt.Sprintf("%q is one argument too many", safe(args[0])))
}
