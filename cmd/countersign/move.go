package main

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// toSQLite is what --to says in place of a URL.
const toSQLite = "sqlite"

// moveCommand is the command that moves a service.
type moveCommand struct {
	*app
	flags    locationFlags
	service  string // as in a sentence
	variable string // of --to
	opened   opener[*instance.Instance]
}

func newStoreMove(a *app) *cobra.Command {
	return moveCommand{
		app: a, flags: storeLocation, service: "store", variable: envMoveTo,
		opened: func(c *cobra.Command, do func(context.Context, *instance.Instance) error) error {
			if err := a.findStore(c); err != nil {
				return err
			}
			return a.lockStore(c, store.Options{Options: instance.Options{NoCreate: true}}, store.Product.CheckAll, func(ctx context.Context, s *store.Store) error {
				return do(ctx, s.Instance)
			})
		},
	}.command()
}

func newAddonMove(a *app) *cobra.Command {
	return moveCommand{
		app: a, flags: addonLocation, service: "addon", variable: envAddonMoveTo,
		opened: func(c *cobra.Command, do func(context.Context, *instance.Instance) error) error {
			return a.lockAddon(c, func(ctx context.Context, s *addon.Addon) error {
				if err := s.Prepare(ctx); s.State() == access.StateNew {
					return a.noAddon()
				} else if err != nil {
					return err
				}
				return do(ctx, s.Instance)
			})
		},
	}.command()
}

func (m moveCommand) command() *cobra.Command {
	c := &cobra.Command{
		Use: "move", Short: "Copy all rows into an empty database on the other engine", Args: cli.Args(),
		Long: fmt.Sprintf(`Copy all rows of the %[1]s, as they are, into an empty database, and compare both: to PostgreSQL,
or with --to sqlite back into the data folder. No server may run on the data folder.

An interrupted move changes nothing, and can be repeated. The database that was read is never
changed. Key file, uploaded files, backups and the log of API requests are not copied: they stay in
the data folder, which the %[1]s goes on using.`, m.service),
		Example: fmt.Sprintf(`  countersign %[1]s move --to postgres://countersign@db.example/%[1]s
  countersign %[1]s move --db postgres://countersign@db.example/%[1]s --to sqlite`, m.service),
	}
	c.Flags().String("to", "", "`URL` of the empty PostgreSQL database, or sqlite ("+m.variable+", or "+m.variable+"_FILE, which keeps a password off the process list)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		to, err := m.target(c)
		if err != nil {
			return err
		}
		progress := m.progress()
		return m.opened(c, func(ctx context.Context, i *instance.Instance) error {
			done, err := i.Move(ctx, operator(), backup.MoveOptions{URL: to, Progress: progress})
			if err != nil {
				return err
			}
			return m.print(done)
		})
	}
	return c
}

// target is the URL of the database to move to, "" for SQLite.
func (m moveCommand) target(c *cobra.Command) (string, error) {
	to, err := m.SecretSetting(c, "to", m.variable)
	switch {
	case err != nil:
		return "", err
	case to == toSQLite:
		return "", nil
	case !isPostgresURL(to):
		return "", cli.Usage(c, "--to is the URL of an empty database, of the form postgres://user:password@host:5432/name, or sqlite")
	}
	return to, nil
}

func isPostgresURL(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// progress shows how far both steps of a move are.
func (m moveCommand) progress() func(step string, done, total int64) {
	show := map[string]*progress{}
	for step, words := range map[string][2]string{backup.StepCopy: {"copying", "copied"}, backup.StepVerify: {"comparing", "compared"}} {
		show[step] = m.newProgress(words[0], func(percent, total int64) { m.Say("%s %d %% of %s rows", words[1], percent, cli.Thousands(total)) })
	}
	return func(step string, done, total int64) { show[step].tell(done, total) }
}

// movedView is what a move copied.
type movedView struct {
	From   sqldb.Engine     `json:"from"`
	To     sqldb.Engine     `json:"to"`
	Rows   int64            `json:"rows"`
	Tables []movedTableView `json:"tables"`
}

// movedTableView is a table that both databases have with the same rows.
type movedTableView struct {
	Name string `json:"name" row:"1,TABLE"`
	Rows int64  `json:"rows" row:"2,ROWS,thousands"`
	Sum  string `json:"sum" row:"3,CHECK SUM"`
}

func viewMovedTable(t backup.MovedTable) movedTableView {
	return movedTableView{Name: t.Name, Rows: t.Count, Sum: hex.EncodeToString(t.Sum.Sum[:])}
}

func (m moveCommand) print(done backup.Moved) error {
	if m.JSON {
		return m.PrintJSON(movedView{From: done.From, To: done.To, Rows: done.Rows(), Tables: sqldb.Convert(done.Tables, viewMovedTable)})
	}
	if err := cli.PrintList(m.Console, done.Tables, viewMovedTable, "", nil); err != nil {
		return err
	}
	m.Say("Copied %s rows to %s and read them back: counts and check sums of all tables are the same.", cli.Thousands(done.Rows()), engineTitle(done.To))
	if done.To == sqldb.Postgres {
		m.Say("Now name that database where you start the %s: with --%s, %s or the configuration file. Keep the data folder.", m.service, m.flags.db, m.flags.envDB)
	} else {
		m.Say("Now start the %s without --%s and %s, with the same data folder.", m.service, m.flags.db, m.flags.envDB)
	}
	m.Say("The database before was not changed. Once the %s works, move it away, so that nothing starts on it by mistake.", m.service)
	return nil
}

func engineTitle(e sqldb.Engine) string {
	if e == sqldb.Postgres {
		return "PostgreSQL"
	}
	return "SQLite"
}
