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

// getenv is the value of a variable, "" for one that is not set.
func (a *app) getenv(name string) string {
	value, _ := a.lookupEnv(name)
	return value
}

// variable is getenv for a variable of ours. One that is set but empty is an error:
// somebody wanted to say something, and it got lost on the way.
func (a *app) variable(name string) (string, error) {
	value, set := a.lookupEnv(name)
	if set && value == "" {
		return "", fail(exitUsage, "usage", name+" is set but empty; give it a value, or take it out of the environment")
	}
	return value, nil
}

// setting is what a flag says, else its variable, else the flag's default. An empty
// flag or variable is an error.
func (a *app) setting(c *cobra.Command, flag, variable string) (string, error) {
	f := c.Flag(flag)
	if f.Changed {
		return givenFlag(c, flag)
	}
	if value, err := a.variable(variable); value != "" || err != nil {
		return value, err
	}
	return f.Value.String(), nil
}

// givenFlag is the value of a flag that was given, which may not be empty.
func givenFlag(c *cobra.Command, flag string) (string, error) {
	value := c.Flag(flag).Value.String()
	if value == "" {
		return "", usage(c, "--"+flag+" is empty; give it a value, or leave it out")
	}
	return value, nil
}

// secret reads a variable that may also be given by a file.
func (a *app) secret(variable string) (string, error) {
	value, err := a.variable(variable)
	if err != nil {
		return "", err
	}
	path, err := a.variable(variable + "_FILE")
	switch {
	case path == "" || err != nil:
		return value, err
	case value != "":
		return "", fail(exitUsage, "usage", fmt.Sprintf("%s and %s_FILE are both set; take one of them out of the environment", variable, variable))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fail(exitUsage, "usage", fmt.Sprintf("%s_FILE: %s can't be read (%v); name a file that this user can read", variable, path, reason(err)))
	}
	if value = strings.TrimRight(string(text), "\r\n"); strings.TrimSpace(value) == "" {
		return "", fail(exitUsage, "usage", fmt.Sprintf("%s_FILE: %s is empty; write the value into it, or take the variable out of the environment", variable, path))
	}
	return value, nil
}

// place is where a service lives.
type place struct{ dir, url, keyText string }

// whereabouts names the flags and variables that say where a service lives.
type whereabouts struct {
	data, db, envData, envDB, envKey string
	// lost is what else there is to do about a key file that can't be read.
	lost string
	// serve is the command that serves it.
	serve string
}

var (
	storeWhereabouts = whereabouts{"data", "db", envData, envDB, envKey, ", or make a new one with: countersign store rekey", "countersign store serve"}
	addonWhereabouts = whereabouts{"data", "db", envAddonData, envAddonDB, envAddonKey, "", "countersign addon serve"}
)

// resolve reads the place of a service from flags and environment.
func (a *app) resolve(c *cobra.Command, w whereabouts) (p place, err error) {
	if p.dir, err = a.setting(c, w.data, w.envData); err != nil {
		return place{}, err
	}
	if c.Flag(w.db).Changed {
		p.url, err = givenFlag(c, w.db)
	} else {
		p.url, err = a.secret(w.envDB)
	}
	if err != nil {
		return place{}, err
	}
	if p.keyText, err = a.secret(w.envKey); err != nil {
		return place{}, err
	}
	if p.url != "" && !strings.HasPrefix(p.url, "postgres://") && !strings.HasPrefix(p.url, "postgresql://") {
		return place{}, usage(c, "--"+w.db+" is not a URL of the form postgres://user:password@host:5432/name; leave it out for SQLite")
	}
	a.postgres, a.keyLost, a.serveCommand = p.url != "", w.lost, w.serve
	return p, nil
}

// plain reports whether colours and cursor movements are unwanted.
func (a *app) plain() bool {
	return a.noColor || a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb"
}
