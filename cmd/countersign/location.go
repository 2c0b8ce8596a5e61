package main

import (
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The variables of the environment. A flag wins over its variable. The secret
// ones can be given by a file instead, named in the variable with _FILE.
const (
	envData   = "COUNTERSIGN_DATA"
	envDB     = "COUNTERSIGN_DB"
	envKey    = "COUNTERSIGN_KEY" // the text of the key file
	envListen = "COUNTERSIGN_LISTEN"
	envURL    = "COUNTERSIGN_BASE_URL"

	envRequestLog = "COUNTERSIGN_REQUEST_LOG"

	envAddonData   = "COUNTERSIGN_ADDON_DATA"
	envAddonDB     = "COUNTERSIGN_ADDON_DB"
	envAddonKey    = "COUNTERSIGN_ADDON_KEY"
	envAddonListen = "COUNTERSIGN_ADDON_LISTEN"
	envAddonURL    = "COUNTERSIGN_ADDON_BASE_URL"

	envAdminEmail    = "COUNTERSIGN_ADMIN_EMAIL"
	envAdminPassword = "COUNTERSIGN_ADMIN_PASSWORD"
)

const defaultData = "./countersign-data"

// location is where a service is.
type location struct {
	dir, url, keyText string
	keyVariable       string // what keyText comes from, "" without it
}

// locationFlags names the flags and variables that say where a service is.
type locationFlags struct {
	data, db, envData, envDB, envKey string
	// rekey is the command that creates a new key file.
	rekey string
	// serve is the command that serves it, listen and baseURL are variables of that.
	serve, listen, baseURL string
	baseURLFlag            string // of baseURL
}

var (
	storeLocation = locationFlags{"data", "db", envData, envDB, envKey, "countersign store rekey", "countersign store serve", envListen, envURL, "base-url"}
	addonLocation = locationFlags{"data", "db", envAddonData, envAddonDB, envAddonKey, "countersign addon rekey", "countersign addon serve", envAddonListen, envAddonURL, "base-url"}
	// doctorAddonLocation is that of the addon where --data is the store's.
	doctorAddonLocation = locationFlags{"addon-data", "addon-db", envAddonData, envAddonDB, envAddonKey, "countersign addon rekey", "countersign addon serve", envAddonListen, envAddonURL, "addon-base-url"}
)

// register adds the flags. Those of a command take the place of those above it.
func (l locationFlags) register(flags *pflag.FlagSet) {
	dir, of, database := defaultData, "", "a PostgreSQL database in place of SQLite"
	if l.envData == envAddonData {
		dir, of = addon.DefaultDir, " of the addon"
	}
	flags.String(l.data, dir, "data `folder`"+of+" ("+l.envData+")")
	if l.db != "db" {
		database = "the addon's PostgreSQL database"
	}
	flags.String(l.db, "", "`URL` of "+database+" ("+l.envDB+", or "+l.envDB+"_FILE, which keeps a password off the process list)")
}

// named reports whether a flag or a variable says where the service is.
func (l locationFlags) named(a *app, c *cobra.Command) bool {
	return c.Flag(l.data).Changed || c.Flag(l.db).Changed || a.Getenv(l.envData) != "" || a.Getenv(l.envDB) != "" || a.Getenv(l.envDB+"_FILE") != ""
}

// locate reads from flags and environment where a service is.
func (a *app) locate(c *cobra.Command, l locationFlags) (location, error) {
	var at location
	var err error
	if at.dir, err = a.Setting(c, l.data, l.envData); err != nil {
		return location{}, err
	}
	if at.url, err = a.SecretSetting(c, l.db, l.envDB); err != nil {
		return location{}, err
	}
	if at.keyText, err = a.Secret(l.envKey); err != nil {
		return location{}, err
	}
	if at.keyText != "" {
		if at.keyVariable = l.envKey; a.Getenv(l.envKey) == "" {
			at.keyVariable += "_FILE"
		}
	}
	if at.url != "" && !strings.HasPrefix(at.url, "postgres://") && !strings.HasPrefix(at.url, "postgresql://") {
		return location{}, cli.Usage(c, "--"+l.db+" is not a URL of the form postgres://user:password@host:5432/name; leave it out for SQLite")
	}
	a.Service = cli.Service{Dir: at.dir, Postgres: at.url != "", Rekey: l.rekey, Serve: l.serve, KeyVariable: at.keyVariable}
	return at, nil
}
