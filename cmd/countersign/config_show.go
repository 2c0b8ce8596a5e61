package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/config"
	"github.com/spf13/cobra"
)

func newConfig(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "config", Short: "The settings of both services, and where their values come from",
	}, newConfigShow(a))
}

func newConfigShow(a *app) *cobra.Command {
	var service string
	c := &cobra.Command{
		Use: "show", Short: "Show each setting, its value, and where the value comes from", Args: cli.Args(),
		Long: `Show each setting, its value, and where the value comes from: a flag, a variable, a line of
the configuration file, or the default. Nothing is opened or created. Passwords in URLs
are not shown.

With --service it takes the flags of that service's serve, to try what they change.`,
		Example: `  countersign config show
  countersign config show --service store --listen :8080`,
	}
	settings := map[string][]config.Setting{}
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		settings[l.service()] = offerSettings(c, l, a.serveOf(l))
	}
	cli.ChoiceVar(c, &service, "service", "", "only this service: store or addon", "store", "addon")
	c.Flags().String("config", "", "configuration `file` of the service, or none (default that of serve)")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := checkService(c, service, settings); err != nil {
			return err
		}
		var views []configView
		for _, l := range []locationFlags{storeLocation, addonLocation} {
			if service != "" && service != l.service() {
				continue
			}
			file, err := a.readConfig(c, l)
			if err != nil {
				return err
			}
			if err := config.Apply(settings[l.service()], a.lookupSetting, file); err != nil {
				return cli.Usage(c, err.Error())
			}
			for _, s := range settings[l.service()] {
				views = append(views, viewConfig(l.service(), s))
			}
		}
		return cli.PrintList(a.Console, views, func(v configView) configView { return v }, "No settings.", nil)
	}
	return a.Listing(c)
}

// checkService refuses flags of one service without its name, and flags that only the other one has.
func checkService(c *cobra.Command, service string, settings map[string][]config.Setting) error {
	if service == "" && c.Flag("config").Changed {
		return cli.Usage(c, "--config"+needsService)
	}
	for _, l := range []locationFlags{storeLocation, addonLocation} {
		for _, s := range settings[l.service()] {
			shared := slices.ContainsFunc(settings[service], func(its config.Setting) bool { return its.Key == s.Key })
			switch {
			case !s.Flag.Changed || shared:
			case service == "":
				return cli.Usage(c, "--"+s.Flag.Name+needsService)
			default:
				return cli.Usage(c, fmt.Sprintf("--%s is not a setting of the %s; omit it, or use --service %s", s.Flag.Name, service, l.service()))
			}
		}
	}
	return nil
}

const needsService = " needs --service: store or addon"

// configView is a setting with its value.
type configView struct {
	Service string `json:"service" row:"1,SERVICE"`
	Setting string `json:"setting" row:"2,SETTING"`
	// Value is a string, a number, true or false, or a list of strings.
	Value any `json:"value"`
	// Origin is flag, variable, file or default.
	Origin string `json:"origin"`
	// Flag is the flag that sets it, Variable the variable, also with _FILE where that is set.
	Flag     string `json:"flag"`
	Variable string `json:"variable"`
	// File and Line are where the file sets it.
	File  *string `json:"file"`
	Line  *int    `json:"line"`
	Shown string  `json:"-" row:"3,VALUE,text"`
	From  string  `json:"-" row:"4,FROM"`
}

func viewConfig(service string, s config.Setting) configView {
	from := config.OriginOf(s.Flag)
	v := configView{
		Service: service, Setting: s.Key, Value: s.Redacted(), Origin: from.Kind(), From: from.String(),
		Flag: "--" + s.Flag.Name, Variable: cmp.Or(from.Variable, s.Variable),
	}
	if from.File != "" {
		v.File, v.Line = &from.File, &from.Line
	}
	v.Shown = fmt.Sprint(v.Value)
	if list, is := v.Value.([]string); is {
		v.Shown = strings.Join(list, ", ")
	}
	return v
}
