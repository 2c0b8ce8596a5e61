package main

import (
	"fmt"

	client "github.com/countersign/countersign/app"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
)

func newApp(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "app", Short: "The mobile client: its start, its signing key and its names",
	}, newAppStart(a), newAppKeystore(a), newAppCheck(a))
}

func newAppCheck(a *app) *cobra.Command {
	var packageName, bundleID, version string
	c := &cobra.Command{
		Use: "check", Short: "Tell whether an app's package name, bundle id and version have the form that the app stores want (exit code 4)", Args: cli.Args(),
		Example: `  countersign app check --package com.yourname.app --bundle-id com.yourname.app --version 1.2.3+45`,
		RunE: func(c *cobra.Command, _ []string) error {
			var checks []appCheckView
			for _, possible := range []struct {
				flag, what, value string
				check             func(string) error
			}{
				{"package", "package name", packageName, client.CheckPackageName},
				{"bundle-id", "bundle id", bundleID, client.CheckBundleID},
				{"version", "version", version, client.CheckVersion},
			} {
				if c.Flag(possible.flag).Changed {
					checks = append(checks, viewAppCheck(possible.what, possible.value, possible.check(possible.value)))
				}
			}
			if len(checks) == 0 {
				return cli.Usage(c, "nothing to check; give --package, --bundle-id or --version")
			}
			return a.printAppChecks(checks)
		},
	}
	fs := c.Flags()
	fs.StringVar(&packageName, "package", "", "the Android package `name` (application id)")
	fs.StringVar(&bundleID, "bundle-id", "", "the iOS bundle `id`")
	fs.StringVar(&version, "version", "", "the app's `version`, <version>+<build_number>")
	return c
}

// appCheckView is one name and what is wrong with it.
type appCheckView struct {
	Check   string `json:"check"`
	Value   string `json:"value"`
	OK      bool   `json:"ok"`
	Code    string `json:"code"`    // "" when ok
	Message string `json:"message"` // "" when ok
}

func viewAppCheck(what, value string, err error) appCheckView {
	v := appCheckView{Check: what, Value: value, OK: err == nil}
	if wrong := fault.Of(err); wrong != nil {
		v.Code, v.Message = wrong.Code, "a "+what+" "+wrong.Message
	}
	return v
}

func (a *app) printAppChecks(checks []appCheckView) error {
	var result error
	for _, check := range checks {
		if !check.OK {
			result = cli.Fail(cli.ExitNo, "app_check_failed", "")
		}
		if err := a.printAppCheck(check); err != nil {
			return err
		}
	}
	return result
}

func (a *app) printAppCheck(check appCheckView) error {
	if a.JSON {
		return a.PrintJSON(check)
	}
	verdict, why := a.Colour(a.Out, cli.Green, "ok  "), ""
	if !check.OK {
		verdict, why = a.Colour(a.Out, cli.Red, "FAIL"), ": "+check.Message
	}
	_, err := fmt.Fprintf(a.Out, "%s  %s %s%s\n", verdict, check.Check, cli.Safe(check.Value), why)
	return err
}
