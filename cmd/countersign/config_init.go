package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveFlag is a flag that sets the flags of the same name of commands that are not run.
type serveFlag struct{ flags []*pflag.Flag }

// Set implements pflag.Value.
func (s *serveFlag) Set(text string) error {
	for _, f := range s.flags {
		if err := f.Value.Set(text); err != nil {
			return err
		}
		f.Changed = true
	}
	return nil
}

// String implements pflag.Value.
func (s *serveFlag) String() string { return s.flags[0].Value.String() }

// Type implements pflag.Value.
func (s *serveFlag) Type() string { return s.flags[0].Value.Type() }

// serveOf is the serve command of a service with all its flags, which is not run.
func (a *app) serveOf(l locationFlags) *cobra.Command {
	serve := map[string]func(*app) *cobra.Command{"store": newServe, "addon": newAddonServe}[l.service()](a)
	l.register(serve.Flags())
	if l.media != "" {
		l.registerMedia(serve.Flags())
	}
	return serve
}

// offerSettings adds the flags of a service's serve command to another one, which shows them in no
// help, and returns them as settings.
func offerSettings(c *cobra.Command, l locationFlags, serve *cobra.Command) []config.Setting {
	var flags []*pflag.Flag
	serve.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	settings := l.settingsOf(flags)
	nameVariables(settings)
	for _, s := range settings {
		if there := c.Flags().Lookup(s.Key); there != nil {
			both := there.Value.(*serveFlag)
			both.flags = append(both.flags, s.Flag)
			continue
		}
		offered := *s.Flag
		offered.Hidden, offered.Value = true, &serveFlag{[]*pflag.Flag{s.Flag}}
		c.Flags().AddFlag(&offered)
	}
	return settings
}

// newInit returns the command that writes a service's configuration file.
func newInit(a *app, of locationFlags) *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "init", Short: "Write a configuration file: every setting with its default, as comments", Args: cli.Args(),
		Long: `Write a configuration file: every setting with its default and a line that explains it. All of
them are comments, so the file changes nothing until you edit it.

It takes the flags of ` + of.command + ` serve. Those that you use are set in the file,
names of files and folders as absolute ones.
An existing file is never overwritten. A new one can be read by you alone, and if root writes it,
by the group of the data folder's owner.`,
		Example: "  " + of.command + " init\n  " + of.command + " init --listen :8443 --out /etc/countersign/" + of.configName(),
	}
	serve := a.serveOf(of)
	settings := offerSettings(c, of, serve)
	c.Flags().StringVar(&out, "out", "-", "the `file` to create, - for stdout")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := config.CheckFlags(settings); err != nil {
			return cli.Usage(c, err.Error())
		}
		if err := serve.PreRunE(c, nil); err != nil {
			return err
		}
		var text bytes.Buffer
		if err := config.Write(&text, configHead(of), settings, a.Path); err != nil {
			return err
		}
		if out == "-" {
			_, err := a.Out.Write(text.Bytes())
			return err
		}
		switch err := a.writeNew(out, text.Bytes(), 0o600); {
		case os.IsExist(err):
			return cli.Fail(cli.ExitConflict, "file_exists", out+" already exists and is not overwritten; edit it, or name another file with --out")
		case err != nil:
			return cli.Fail(cli.ExitFailed, "file_unwritable", fmt.Sprintf("%s can't be written (%v); name a file in a folder that this user can write to", out, fault.FileReason(err)))
		}
		dir := a.Path(c.Flag(of.data).Value.String())
		a.shareFile(a.Path(out), dir)
		a.located = append(a.located, dir)
		return a.Done(map[string]string{"file": out}, "Configuration written to %s.", cli.Safe(out))
	}
	return c
}

// configHead is the comment that a configuration file begins with.
func configHead(of locationFlags) string {
	return "Configuration of the " + of.service() + ". All commands that begin with " + of.command + ` read it from --config or
` + of.envConfig + `, else from /etc/countersign/` + of.configName() + `.

A flag has precedence over its variable, and the variable over this file.
To set something, remove the # before its name. What is in effect:
countersign config show --service ` + of.service() + `

The name of a file or folder that does not begin with / starts at the folder of this file.`
}
