package main

import (
	"slices"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
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

	envTLSCert      = "COUNTERSIGN_TLS_CERT"
	envTLSKey       = "COUNTERSIGN_TLS_KEY"
	envAddonTLSCert = "COUNTERSIGN_ADDON_TLS_CERT"
	envAddonTLSKey  = "COUNTERSIGN_ADDON_TLS_KEY"

	envRequestLog = "COUNTERSIGN_REQUEST_LOG"
	envMedia      = "COUNTERSIGN_STORE_MEDIA"

	envMoveTo      = "COUNTERSIGN_MOVE_TO"
	envAddonMoveTo = "COUNTERSIGN_ADDON_MOVE_TO"

	envAddonData   = "COUNTERSIGN_ADDON_DATA"
	envAddonDB     = "COUNTERSIGN_ADDON_DB"
	envAddonKey    = "COUNTERSIGN_ADDON_KEY"
	envAddonListen = "COUNTERSIGN_ADDON_LISTEN"
	envAddonURL    = "COUNTERSIGN_ADDON_BASE_URL"
	envPlayURL     = "COUNTERSIGN_PLAY_URL"

	envStoreAdminEmail    = "COUNTERSIGN_STORE_ADMIN_EMAIL"
	envStoreAdminPassword = "COUNTERSIGN_STORE_ADMIN_PASSWORD"
	envAdminEmail         = "COUNTERSIGN_ADMIN_EMAIL" // of the addon
	envAdminPassword      = "COUNTERSIGN_ADMIN_PASSWORD"

	envConfig      = "COUNTERSIGN_CONFIG"
	envAddonConfig = "COUNTERSIGN_ADDON_CONFIG"
)

const defaultData = "./countersign-data"

// location is where a service is.
type location struct {
	dir, url, keyText string
	keyVariable       string // what keyText comes from, "" without it
	media             string // URL of a store's uploaded files, "" for a folder in dir
	playURL           string // replaces the addresses of Google Play, "" for Google
}

// locationFlags names the flags and variables that say where a service is.
type locationFlags struct {
	product                          instance.Product
	command                          string // the service's commands begin with it
	data, db, envData, envDB, envKey string
	listen, baseURL                  string // variables of its server
	tlsCert, tlsKey                  string // further ones
	baseURLFlag                      string // of baseURL
	address                          string // where its server listens by default
	signIn                           string // the folder of the pages that links lead to
	adminEmail, adminPassword        string // variables of its first administrator
	media                            string // flag of a store's uploaded files
	playURL                          string // variable of the address of an addon's app store
	config, envConfig                string // flag and variable of its configuration file
}

var (
	storeLocation = locationFlags{
		product: store.Product,
		command: "countersign store", data: "data", db: "db", envData: envData, envDB: envDB, envKey: envKey,
		listen: envListen, tlsCert: envTLSCert, tlsKey: envTLSKey, baseURL: envURL, baseURLFlag: "base-url", address: defaultListen,
		adminEmail: envStoreAdminEmail, adminPassword: envStoreAdminPassword, media: "media",
		config: "config", envConfig: envConfig,
	}
	addonLocation = locationFlags{
		product: addon.Product,
		command: "countersign addon", data: "data", db: "db", envData: envAddonData, envDB: envAddonDB, envKey: envAddonKey,
		listen: envAddonListen, tlsCert: envAddonTLSCert, tlsKey: envAddonTLSKey, baseURL: envAddonURL, baseURLFlag: "base-url", address: defaultAddonListen,
		signIn: "/admincp", adminEmail: envAdminEmail, adminPassword: envAdminPassword, playURL: envPlayURL,
		config: "config", envConfig: envAddonConfig,
	}
	doctorAddonLocation = addonLocation.forDoctor()
)

// forDoctor is the location of the addon where --data is the store's.
func (l locationFlags) forDoctor() locationFlags {
	l.data, l.db, l.baseURLFlag, l.config = "addon-data", "addon-db", "addon-base-url", "addon-config"
	return l
}

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

// registerMedia adds the flag that says where a store's uploaded files are.
func (l locationFlags) registerMedia(flags *pflag.FlagSet) {
	flags.String(l.media, "", "`URL` of the folder or bucket of uploaded files, like file:///srv/media or s3://bucket?region=eu-central-1; default the folder media in the data folder ("+envMedia+")")
}

// named reports whether somebody has said for this command where the service is: by a flag, a
// variable, or a configuration file that one of them names.
func (l locationFlags) named(a *app, c *cobra.Command) bool {
	return slices.ContainsFunc([]string{l.data, l.db}, func(flag string) bool {
		from := config.OriginOf(c.Flag(flag))
		return from.Flag != "" || from.Variable != "" || from.File != "" && a.configs[l.service()].Explicit
	})
}

// served returns where the server of the located service is, "" where none runs.
func (a *app) served() string { return sqldb.ServedAt(a.Path(a.Service.Dir)) }

// locate reads where a service is, from the command's flags once [app.configure] has set them.
func (a *app) locate(c *cobra.Command, l locationFlags) (location, error) {
	var at location
	var err error
	dir := c.Flag(l.data).Value.String()
	at.dir, at.url = a.Path(dir), c.Flag(l.db).Value.String()
	if media := c.Flag(l.media); media != nil {
		at.media = media.Value.String()
	}
	if l.playURL != "" {
		if at.playURL, err = a.Variable(l.playURL); err != nil {
			return location{}, err
		}
		if at.playURL != "" && play.CheckURL(at.playURL) != nil {
			return location{}, cli.Usage(c, l.playURL+" is not an address of the form http://host or https://host")
		}
	}
	if at.keyText, err = a.Secret(l.envKey); err != nil {
		return location{}, err
	}
	if at.keyText != "" {
		if at.keyVariable = l.envKey; a.Getenv(l.envKey) == "" {
			at.keyVariable += "_FILE"
		}
	}
	if at.url != "" && !isPostgresURL(at.url) {
		return location{}, cli.Usage(c, config.Label(c.Flag(l.db))+" is not a URL of the form postgres://user:password@host:5432/name; leave it out for SQLite")
	}
	a.located = append(a.located, at.dir)
	a.Service = cli.Service{Dir: dir, Postgres: at.url != "", Command: l.command, KeyVariable: at.keyVariable}
	return at, nil
}
