package main

import (
	"fmt"

	client "github.com/countersign/countersign/app"
	"github.com/countersign/countersign/internal/fault"
	"github.com/spf13/cobra"
)

// appCheckFlags are the names of an app.
type appCheckFlags struct{ packageName, bundleID, version string }

func newAppCheck(a *app) *cobra.Command {
	var flags appCheckFlags
	c := &cobra.Command{
		Use: "check", Short: "Tell whether an app's package name, bundle id and version have the form that the app stores want (exit code 4)", Args: none,
		Example: `  countersign app check --package com.yourname.app --bundle-id com.yourname.app --version 1.2.3+45`,
		RunE: func(c *cobra.Command, _ []string) error {
			checks := flags.checks(c)
			if len(checks) == 0 {
				return usage(c, "nothing to check; give --package, --bundle-id or --version")
			}
			return a.printAppCheck(checks)
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.packageName, "package", "", "the Android package `name` (application id)")
	fs.StringVar(&flags.bundleID, "bundle-id", "", "the iOS bundle `id`")
	fs.StringVar(&flags.version, "version", "", "the app's `version`, <version>+<build_number>")
	return c
}

// appCheck is one name and what is wrong with it.
type appCheck struct {
	what, value string
	err         error
}

func (f appCheckFlags) checks(c *cobra.Command) []appCheck {
	var checks []appCheck
	for _, possible := range []struct {
		flag, what, value string
		check             func(string) error
	}{
		{"package", "package name", f.packageName, client.CheckPackageName},
		{"bundle-id", "bundle id", f.bundleID, client.CheckBundleID},
		{"version", "version", f.version, client.CheckVersion},
	} {
		if c.Flag(possible.flag).Changed {
			checks = append(checks, appCheck{possible.what, possible.value, possible.check(possible.value)})
		}
	}
	return checks
}

// appCheckJSON is a check as --json prints it.
type appCheckJSON struct {
	Check   string `json:"check"`
	Value   string `json:"value"`
	OK      bool   `json:"ok"`
	Code    string `json:"code"`    // "" when ok
	Message string `json:"message"` // "" when ok
}

func (a *app) printAppCheck(checks []appCheck) error {
	bad := 0
	for _, check := range checks {
		out := appCheckJSON{Check: check.what, Value: check.value, OK: check.err == nil}
		if wrong := fault.Of(check.err); wrong != nil {
			out.Code, out.Message = wrong.Code, "a "+check.what+" "+wrong.Message
			bad++
		}
		if err := a.printOneAppCheck(out); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fail(exitNo, "app_check_failed", "")
	}
	return nil
}

func (a *app) printOneAppCheck(check appCheckJSON) error {
	if a.json {
		return a.printJSON(check)
	}
	verdict := a.colour(a.term.out, green, "ok  ")
	if !check.OK {
		verdict = a.colour(a.term.out, red, "FAIL")
	}
	_, err := fmt.Fprintf(a.term.out, "%s  %s %s", verdict, check.Check, safe(check.Value))
	if err == nil && !check.OK {
		_, err = fmt.Fprintf(a.term.out, ": %s", check.Message)
	}
	if err == nil {
		_, err = fmt.Fprintln(a.term.out)
	}
	return err
}
