// Command countersign keeps purchase codes of digital items and verifies them over HTTP.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/thirdparty"
	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // for containers, which have no certificates of authorities
)

// version and revision are set by the linker for a release. Without them, they are those that Go recorded.
var version, revision string

func main() {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup starts it
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	a := &app{Console: cli.New(os.LookupEnv, os.Stdin, os.Stdout, os.Stderr), system: systemConfig()}
	os.Exit(a.execute(ctx, os.Args[1:]))
}

// app is one run of the program.
type app struct {
	*cli.Console
	// system is the folder of the configuration files that are read by default, "" for none.
	system string
	// configs are the configuration files that the command has read, by service.
	configs map[string]*config.File
	// located are the data folders that the command has used.
	located []string
}

func (a *app) execute(ctx context.Context, args []string) int {
	began := time.Now() // as the times of files
	code := a.Run(ctx, newRoot(a), args)
	for _, dir := range a.located {
		a.handOver(dir, began)
	}
	return code
}

func newRoot(a *app) *cobra.Command {
	root := cli.Group(&cobra.Command{
		Use:   "countersign",
		Short: "Store, addon and license files for sellers of digital items",
		Long: `Countersign stores workspaces, items and purchases, and verifies purchase codes
over HTTP for the programs of their authors.

  countersign demo           try it: a store and an addon with sample data
  countersign store serve    serve your own store
  countersign addon update   set up the addon of your own site

Exit codes: 0 ok, 1 failed, 2 wrong usage, 3 not found, 4 check says no,
5 not allowed, 6 conflict, 7 database or disk not usable, 8 partly done,
9 may have been written: check before you repeat it, 130 interrupted.`,
		SilenceErrors: true, SilenceUsage: true,
	}, withoutStore(newDemo(a)), newStore(a), newAddon(a), withoutStore(newApp(a)), newDoctor(a), withoutStore(newConfig(a)), withoutStore(newVersion(a)))
	root.SetHelpCommand(cli.Help())
	root.Version = readBuildInfo().String()
	root.SetVersionTemplate("countersign {{.Version}}\n")
	storeLocation.register(root.PersistentFlags())
	a.Register(root)
	nameVariables(slices.Concat(storeLocation.settings(root), addonLocation.settings(root)))
	check := root.PersistentPreRunE
	root.PersistentPreRunE = func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return err
		}
		return a.configure(c)
	}
	return root
}

// withoutStore keeps the flags that name a store out of the help of a command, and of
// those below it, that have nothing to do with one.
func withoutStore(c *cobra.Command) *cobra.Command {
	c.SetHelpFunc(func(c *cobra.Command, args []string) {
		root := c.Root()
		for _, name := range []string{storeLocation.data, storeLocation.db} {
			root.PersistentFlags().Lookup(name).Hidden = true
		}
		root.HelpFunc()(c, args)
	})
	return c
}

func newStore(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "store", Short: "The store: workspaces, users, keys, items, purchases, licenses, and the server",
	}
	storeLocation.registerMedia(c.PersistentFlags())
	storeLocation.registerConfig(c.PersistentFlags())
	return cli.Group(c,
		newServe(a), newInit(a, storeLocation), newStoreSetupLink(a), newImport(a), newImports(a), newExport(a), newSampleData(a), newRekey(a), newStoreBackup(a), newMigrate(a), newStoreMove(a),
		newWorkspace(a), newMember(a), newStoreUsers(a), newKey(a), newItem(a), newPurchase(a), newLicense(a), newLicenseKey(a), newRequestLog(a), newStoreAudit(a))
}

// buildInfo describes what this program was made of.
type buildInfo struct {
	Version      string `json:"version"`
	Revision     string `json:"revision,omitempty"`
	Modified     bool   `json:"modified,omitempty"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
	SQLiteDriver string `json:"sqlite_driver"`
}

func readBuildInfo() buildInfo {
	b := buildInfo{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	b.Version, b.Revision = cmp.Or(version, b.Version), cmp.Or(revision, b.Revision)
	for _, m := range info.Deps {
		if m.Path == "modernc.org/sqlite" {
			b.SQLiteDriver = m.Path + " " + m.Version
		}
	}
	return b
}

// String is the version for people.
func (b buildInfo) String() string {
	return fmt.Sprintf("%s (%s, %s, %s)", b.Version, b.Go, b.Platform, b.SQLiteDriver)
}

func newVersion(a *app) *cobra.Command {
	var licenses bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version, or the licenses of the parts of this program", Args: cli.Args(),
		RunE: func(*cobra.Command, []string) error {
			switch b := readBuildInfo(); {
			case licenses:
				a.Print("%s", thirdparty.Licenses())
			case a.JSON:
				return a.PrintJSON(b)
			default:
				a.Print("countersign %s\n", b)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&licenses, "licenses", false, "print the licenses of the software that this program contains")
	return c
}
