package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign"
	client "github.com/countersign/countersign/app"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
	"github.com/spf13/cobra"
)

func newApp(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "app", Short: "The mobile app: check its start, its signing key and its names",
	}, newAppStart(a), newAppKeystore(a), newAppCheck(a))
}

func newAppCheck(a *app) *cobra.Command {
	var packageName, bundleID, version string
	c := &cobra.Command{
		Use: "check", Short: "Check whether an app's package name, bundle id and version have the form that the app stores require (exit code 4 if not)", Args: cli.Args(),
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
				if !c.Flag(possible.flag).Changed {
					continue
				}
				err := possible.check(possible.value)
				check := appCheckView{Check: possible.what, Value: possible.value, OK: err == nil}
				if wrong := fault.Of(err); wrong != nil {
					check.Code, check.Message = wrong.Code, "a "+possible.what+" "+wrong.Message
				}
				checks = append(checks, check)
			}
			if len(checks) == 0 {
				return cli.Usage(c, "nothing to check; use --package, --bundle-id or --version")
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

func (a *app) printAppChecks(checks []appCheckView) error {
	var result error
	for _, check := range checks {
		verdict, why := a.Colour(a.Out, cli.Green, "ok  "), ""
		if !check.OK {
			verdict, why, result = a.Colour(a.Out, cli.Red, "FAIL"), ": "+check.Message, cli.Fail(cli.ExitNo, "app_check_failed", "")
		}
		if !a.JSON {
			a.Print("%s  %s %s%s\n", verdict, check.Check, cli.Safe(check.Value), why)
		} else if err := a.PrintJSON(check); err != nil {
			return err
		}
	}
	return result
}

const envKeySet = "COUNTERSIGN_JWKS"

func newAppStart(a *app) *cobra.Command {
	var file string
	o := client.Options{Now: a.Now}
	c := &cobra.Command{
		Use: "start --license FILE --site URL", Short: "Do what the app does when it starts: verify its license, read the site's settings", Args: cli.Args(),
		Long: `Do what the app does when it starts: verify its license for the domain of the site, read the
site's settings, and print them.

The license is verified with the public keys of the store that issued it. With --jwks FILE
this needs no network. An app contains these keys.

Exit codes: 0 the app starts, 4 the license is not valid or is for another domain,
7 the license is valid, but the settings can't be read.`,
		Example: `  countersign app start --license license.jwt --site https://shop.example --jwks https://store.example/.well-known/jwks.json
  countersign app start --license license.jwt --site http://127.0.0.1:8081 --domain shop.example --jwks jwks.json`,
		PreRunE: cli.Require("license", "site"),
		RunE:    func(c *cobra.Command, _ []string) error { return a.startApp(c, file, o) },
	}
	fs := c.Flags()
	fs.StringVar(&file, "license", "", "the license `file` (required)")
	fs.StringVar(&o.Site, "site", "", "`URL` of the site (required)")
	fs.StringVar(&o.Domain, "domain", "", "the `domain` that the license must be for (default that of the site)")
	fs.String("jwks", "", "key set of the store: a `file`, or the URL of its /.well-known/jwks.json (COUNTERSIGN_JWKS)")
	return c
}

func (a *app) startApp(c *cobra.Command, file string, o client.Options) error {
	text, err := a.ReadFile(file, "license")
	if err != nil {
		return err
	}
	o.License = string(text)
	if o.Keys, err = a.readKeySet(c); err != nil {
		return err
	}
	started, err := client.Start(c.Context(), o)
	if started.License.ID != "" {
		if err := a.printStart(started, err == nil); err != nil {
			return err
		}
	}
	if refused, ok := errors.AsType[*license.Refusal](err); ok {
		return cli.Fail(cli.ExitNo, refused.Code, "the app does not start: "+refused.Message)
	}
	apiErr := fault.Of(err)
	if apiErr == nil || apiErr.Kind != countersign.KindUnavailable || c.Context().Err() != nil {
		return err
	}
	return cli.Fail(cli.ExitUnreachable, apiErr.Code, fmt.Sprintf("%s (%v)", apiErr.Message, apiErr.Cause))
}

// licenseFileView is what a license file says, under the names of its claims.
type licenseFileView struct {
	ID             string                 `json:"id"`
	Issuer         string                 `json:"issuer"`
	IssuedAt       countersign.Timestamp  `json:"issued_at"`
	Expires        *countersign.Timestamp `json:"expires"`
	ItemID         int64                  `json:"item_id"`
	ItemName       string                 `json:"item_name"`
	LicenseType    string                 `json:"license_type"`
	Domain         string                 `json:"domain"`
	Domains        []string               `json:"domains"`
	SupportedUntil *countersign.Timestamp `json:"supported_until"`
}

func viewLicenseFile(l license.License) licenseFileView {
	return licenseFileView{
		ID: l.ID, Issuer: l.Issuer, IssuedAt: countersign.At(l.IssuedAt), ItemID: l.ItemID, ItemName: l.ItemName,
		LicenseType: l.LicenseType, Domain: l.Domain, Domains: l.Domains, SupportedUntil: cli.OrNull(l.SupportedUntil),
		Expires: cli.OrNull(countersign.At(l.Expires)),
	}
}

// printStart prints what the app would run with; complete says that the settings belong to it.
func (a *app) printStart(s client.Started, complete bool) error {
	if a.JSON {
		return a.PrintJSON(struct {
			Domain   string          `json:"domain"`
			License  licenseFileView `json:"license"`
			Settings client.Settings `json:"settings"` // null when they can't be read
		}{s.Domain, viewLicenseFile(s.License), s.Settings})
	}
	l := s.License
	a.Print("%s %s (#%d), %s, for %s; issued by %s on %s\n", a.Colour(a.Out, cli.Green, "The license is valid:"),
		cli.Safe(l.ItemName), l.ItemID, cli.Safe(l.LicenseType), cli.Safe(s.Domain), cli.Safe(l.Issuer), cli.Day(countersign.At(l.IssuedAt)))
	if !complete {
		return nil
	}
	view := func(key string) appSettingView {
		text, _ := countersign.EncodeJSON(s.Settings[key]) // read from JSON, and so fit for it
		return appSettingView{key, string(text)}
	}
	return cli.PrintList(a.Console, slices.Sorted(maps.Keys(s.Settings)), view, "The site has no settings.", nil)
}

// appSettingView is a setting that the app would run with, as JSON writes it, which tells "true" from true.
type appSettingView struct {
	Key   string `row:"1,SETTING"`
	Value string `row:"2,VALUE,text"`
}

// maxKeySet is the longest answer that is read as a key set, in bytes.
const maxKeySet = 64 << 10

// readKeySet reads the key set that --jwks names.
func (a *app) readKeySet(c *cobra.Command) (*license.KeySet, error) {
	from, err := a.Setting(c, "jwks", envKeySet)
	var text []byte
	switch {
	case err != nil:
		return nil, err
	case from == "":
		return nil, cli.Usage(c, "--jwks is missing: verifying a license needs the store's public keys; name a file, or https://STORE/.well-known/jwks.json")
	case strings.Contains(from, "://"):
		text, err = a.fetchKeySet(c.Context(), from)
	default:
		text, err = a.ReadFile(from, "key set")
	}
	if err != nil {
		return nil, err
	}
	return license.ReadKeySet(text)
}

func (a *app) fetchKeySet(ctx context.Context, address string) ([]byte, error) {
	where, err := url.Parse(address)
	if err != nil || where.Scheme != "https" && where.Scheme != "http" || where.Host == "" {
		return nil, cli.Fail(cli.ExitUsage, "usage", "invalid --jwks: expected a file, or an address that begins with https://")
	}
	if where.Scheme == "http" && !license.IsFree(where.Hostname()) {
		a.Warn("the key set is loaded over http, where anyone on the network can replace it; use https, or a trusted file")
	}
	text, err := download(ctx, address, maxKeySet)
	if err != nil && ctx.Err() == nil {
		return nil, cli.Fail(cli.ExitUnreachable, "key_set_unreadable", fmt.Sprintf("the key set can't be read from %s (%v); try again, or save it to a file and name that with --jwks", where.Redacted(), err))
	}
	return text, err
}

// download reads an answer that must be 200 and no longer than limit.
func download(ctx context.Context, address string, limit int64) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	r, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, err
	case r.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the response was %d", r.StatusCode)
	case int64(len(text)) > limit:
		return nil, fmt.Errorf("the response is longer than %d bytes", limit)
	}
	return text, nil
}
