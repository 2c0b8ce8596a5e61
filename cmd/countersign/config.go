package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/health"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noConfig in place of the name of a configuration file stands for none.
const noConfig = "none"

// systemConfig returns the folder of the configuration files that are read when no flag and no variable
// names one. On Windows every user can create such a folder, so there it is "", which stands for none.
func systemConfig() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	return "/etc/countersign"
}

// service is the name of the service.
func (l locationFlags) service() string { return strings.TrimPrefix(l.command, "countersign ") }

// configName is the name of the service's file in the folder of configuration files.
func (l locationFlags) configName() string { return l.service() + ".toml" }

// registerConfig adds the flag that names the configuration file.
func (l locationFlags) registerConfig(flags *pflag.FlagSet) {
	of := ""
	if l.config != "config" {
		of = " of the " + l.service()
	}
	flags.String(l.config, "", "configuration `file`"+of+", or none (default /etc/countersign/"+l.configName()+" if it exists; "+l.envConfig+")")
}

// flagsAlone are the flags of serve that must be typed each time.
var flagsAlone = []string{"help", "accept-loss"}

// settings lists the settings of a service: the flags of its command serve, and those that say where
// the service is.
func (l locationFlags) settings(root *cobra.Command) []config.Setting {
	serve, _, err := root.Find([]string{l.service(), "serve"})
	if err != nil {
		return nil
	}
	flags := []*pflag.Flag{serve.Flag("data"), serve.Flag("db")}
	if media := serve.Flag("media"); media != nil {
		flags = append(flags, media)
	}
	serve.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	return l.settingsOf(flags)
}

// settingsOf lists those flags that are settings.
func (l locationFlags) settingsOf(flags []*pflag.Flag) (all []config.Setting) {
	for _, f := range flags {
		if !slices.Contains(flagsAlone, f.Name) {
			all = append(all, config.Setting{Key: f.Name, Flag: f, Variable: l.variable(f.Name), Secret: f.Name == "db"})
		}
	}
	return all
}

// variable is the variable of a setting.
func (l locationFlags) variable(key string) string {
	if key == "media" {
		return envMedia // it was there before settings had variables by their names
	}
	return strings.TrimSuffix(l.envData, "DATA") + strings.ToUpper(strings.ReplaceAll(key, "-", "_"))
}

// nameVariables adds to the help of each setting the variable that it does not name.
func nameVariables(all []config.Setting) {
	for _, s := range all {
		if !strings.Contains(s.Flag.Usage, s.Variable) {
			s.Flag.Usage += " (" + s.Variable + ")"
		}
	}
}

// settingsFor lists the settings of a service that a command has as flags: all of them for serve, else
// where the service is.
func (l locationFlags) settingsFor(c *cobra.Command) (all []config.Setting) {
	flags := map[string]string{"data": l.data, "db": l.db, "base-url": l.baseURLFlag, "media": "media"}
	for _, s := range l.settings(c.Root()) {
		name := flags[s.Key]
		if c.Name() == "serve" {
			name = s.Key
		}
		if f := c.Flag(name); f != nil {
			s.Flag = f
			all = append(all, s)
		}
	}
	return all
}

// configuredBy lists the services whose configuration a command reads.
func configuredBy(c *cobra.Command) []locationFlags {
	of := c
	for of.HasParent() && of.Parent().HasParent() {
		of = of.Parent()
	}
	switch {
	case c.Name() == "init": // writes the file
		return nil
	case of.Name() == "store":
		return []locationFlags{storeLocation}
	case of.Name() == "addon":
		return []locationFlags{addonLocation}
	case of.Name() == "doctor":
		return []locationFlags{storeLocation, doctorAddonLocation}
	}
	return nil
}

// configure sets the flags of a command that were not given: from their variables, else from the
// configuration files of its services.
func (a *app) configure(c *cobra.Command) error {
	a.configs = map[string]*config.File{}
	for _, l := range configuredBy(c) {
		file, err := a.readConfig(c, l)
		if err != nil {
			return err
		}
		a.configs[l.service()] = file
		if err := config.Apply(l.settingsFor(c), a.lookupSetting, file); err != nil {
			return cli.Usage(c, err.Error())
		}
	}
	return nil
}

// lookupSetting reads the variable of a setting, or the file that it names.
func (a *app) lookupSetting(s config.Setting) (value, variable string, err error) {
	if value, err = a.Variable(s.Variable); s.Secret && err == nil {
		value, err = a.Secret(s.Variable)
	}
	switch {
	case value == "" || err != nil:
		return "", "", err
	case a.Getenv(s.Variable) == "":
		return value, s.Variable + "_FILE", nil
	}
	return value, s.Variable, nil
}

// readConfig reads the configuration file of a service, and returns nil for none.
func (a *app) readConfig(c *cobra.Command, l locationFlags) (*config.File, error) {
	path, err := a.Setting(c, l.config, l.envConfig)
	switch {
	case err != nil || path == noConfig:
		return nil, err
	case path == "" && a.system == "":
		return nil, nil
	}
	explicit := path != ""
	path = cmp.Or(path, filepath.Join(a.system, l.configName()))
	file, err := config.Read(a.Path(path))
	if errors.Is(err, fs.ErrNotExist) && !explicit {
		return nil, nil
	}
	if err == nil {
		file.Explicit = explicit
		err = file.Check(l.settings(c.Root()))
	}
	if err != nil {
		return nil, cli.Fail(cli.ExitUsage, "configuration", err.Error()+a.withoutConfig(l, err))
	}
	return file, nil
}

// withoutConfig is what else to do about a configuration file that can't be used.
func (a *app) withoutConfig(l locationFlags, err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "; run this as a user who can read it, or leave it out with --" + l.config + " " + noConfig
	case errors.Is(err, fs.ErrNotExist):
		return "; correct --" + l.config + " or " + l.envConfig + ", or write the file with: " + l.command + " init"
	}
	return ""
}

// exposedConfig finds a password in the configuration file of a service that all users of the machine can read.
func (a *app) exposedConfig(c *cobra.Command, l locationFlags) []health.Finding {
	file := a.configs[l.service()]
	if !file.Exposed(l.settings(c.Root())) {
		return nil
	}
	return []health.Finding{{
		Name: "configuration", Level: health.Warn, What: fmt.Sprintf("All users of this machine can read %s, which contains a password", file.Path),
		Why: "With it they can read and change the database.", Fix: "chmod o-r " + file.Path,
	}}
}

// checkConfig is what doctor says of the configuration file of a service, if one is read.
func (a *app) checkConfig(c *cobra.Command, l locationFlags) []health.Finding {
	found, file := a.exposedConfig(c, l), a.configs[l.service()]
	if len(found) > 0 || file == nil {
		return found
	}
	return []health.Finding{{Name: "configuration", Level: health.OK, What: "Settings are read from " + file.Path}}
}
