package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// The variables of the environment. A flag wins over its variable. The secret
// ones can be given by a file instead, named in the variable with _FILE.
const (
	envData   = "COUNTERSIGN_DATA"
	envDB     = "COUNTERSIGN_DB"
	envKey    = "COUNTERSIGN_KEY" // the text of the key file
	envListen = "COUNTERSIGN_LISTEN"
	envURL    = "COUNTERSIGN_BASE_URL"

	envAddonData   = "COUNTERSIGN_ADDON_DATA"
	envAddonDB     = "COUNTERSIGN_ADDON_DB"
	envAddonKey    = "COUNTERSIGN_ADDON_KEY"
	envAddonListen = "COUNTERSIGN_ADDON_LISTEN"
	envAddonURL    = "COUNTERSIGN_ADDON_BASE_URL"

	envAdminEmail    = "COUNTERSIGN_ADMIN_EMAIL"
	envAdminPassword = "COUNTERSIGN_ADMIN_PASSWORD"
)

// setting is what a flag says, else its variable, else the flag's default.
func (a *app) setting(c *cobra.Command, flag, variable string) string {
	f := c.Flag(flag)
	if value := a.getenv(variable); value != "" && !f.Changed {
		return value
	}
	return f.Value.String()
}

// secret reads a variable that may also be given by a file.
func (a *app) secret(variable string) (string, error) {
	value, path := a.getenv(variable), a.getenv(variable+"_FILE")
	switch {
	case path == "":
		return value, nil
	case value != "":
		return "", fail(exitUsage, "usage", fmt.Sprintf("%s and %s_FILE are both set; take one of them out of the environment", variable, variable))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fail(exitUsage, "usage", fmt.Sprintf("%s_FILE: %s can't be read (%v); name a file that this user can read", variable, path, reason(err)))
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// place is where a service lives.
type place struct{ dir, url, keyText string }

// whereabouts names the flags and variables that say where a service lives.
type whereabouts struct {
	data, db, envData, envDB, envKey string
	// lost is what else there is to do about a key file that can't be read.
	lost string
}

var (
	storeWhereabouts = whereabouts{"data", "db", envData, envDB, envKey, ", or make a new one with: countersign store rekey"}
	addonWhereabouts = whereabouts{"data", "db", envAddonData, envAddonDB, envAddonKey, ""}
)

// resolve reads the place of a service from flags and environment.
func (a *app) resolve(c *cobra.Command, w whereabouts) (place, error) {
	p := place{dir: a.setting(c, w.data, w.envData), url: c.Flag(w.db).Value.String()}
	var err error
	if !c.Flag(w.db).Changed {
		if p.url, err = a.secret(w.envDB); err != nil {
			return place{}, err
		}
	}
	if p.keyText, err = a.secret(w.envKey); err != nil {
		return place{}, err
	}
	if p.dir == "" {
		return place{}, usage(c, "--"+w.data+" is empty; name a folder")
	}
	if p.url != "" && !strings.HasPrefix(p.url, "postgres://") && !strings.HasPrefix(p.url, "postgresql://") {
		return place{}, usage(c, "--"+w.db+" is no URL of the form postgres://user:password@host:5432/name; leave it out for SQLite")
	}
	a.postgres, a.keyLost = p.url != "", w.lost
	return p, nil
}

// plain tells whether colours and cursor movements are unwanted.
func (a *app) plain() bool {
	return a.noColor || a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb"
}
