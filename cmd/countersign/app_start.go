package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign/countersign"
	client "github.com/countersign/countersign/app"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/license"
	"github.com/spf13/cobra"
)

const envKeySet = "COUNTERSIGN_JWKS"

// appStartFlags are what a client carries inside.
type appStartFlags struct{ license, site, domain string }

func newAppStart(a *app) *cobra.Command {
	var flags appStartFlags
	c := &cobra.Command{
		Use: "start --license FILE --site URL", Short: "Do what the client does when it starts: open its license, read the site's settings", Args: none,
		Long: `Do what the client does when it starts: open its license for the domain of the site, read
the site's settings, and print what the app would run with.

The license is judged by the public keys of the store that issued it, and with --jwks FILE
without any network. An app carries these keys inside.

Exit codes: 0 the app starts, 4 the license is not good or is for another domain, 7 the license
is good, but the settings can't be read.`,
		Example: `  countersign app start --license license.jwt --site https://shop.example --jwks https://store.example/.well-known/jwks.json
  countersign app start --license license.jwt --site http://127.0.0.1:8081 --domain shop.example --jwks jwks.json`,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := require(c, "license", "site"); err != nil {
				return err
			}
			return a.startApp(c, flags)
		},
	}
	fs := c.Flags()
	fs.StringVar(&flags.license, "license", "", "the license `file` (required)")
	fs.StringVar(&flags.site, "site", "", "`URL` of the site (required)")
	fs.StringVar(&flags.domain, "domain", "", "the `domain` that the license must be for (default that of the site)")
	fs.String("jwks", "", "key set of the store: a `file`, or the URL of its /.well-known/jwks.json (COUNTERSIGN_JWKS)")
	return c
}

func (a *app) startApp(c *cobra.Command, flags appStartFlags) error {
	text, err := readFile(flags.license, "license")
	if err != nil {
		return err
	}
	keys, err := a.readKeySet(c)
	if err != nil {
		return err
	}
	started, err := client.Start(c.Context(), client.Options{
		License: string(text), Keys: keys, Site: flags.site, Domain: flags.domain, Now: a.now,
	})
	if started.License.ID != "" {
		if err := a.printStart(started, err == nil); err != nil {
			return err
		}
	}
	return startError(c.Context(), err)
}

// startError gives the errors of a start their exit codes.
func startError(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*license.Refusal](err); ok {
		return fail(exitNo, refused.Code, "the app does not start: "+refused.Message)
	}
	ours := fault.Of(err)
	if ours == nil || ours.Kind != countersign.KindUnavailable || ctx.Err() != nil {
		return err
	}
	return fail(exitUnreachable, ours.Code, fmt.Sprintf("%s (%v)", ours.Message, ours.Cause))
}

// startJSON is a start as --json prints it.
type startJSON struct {
	Domain   string          `json:"domain"`
	License  licenseFileJSON `json:"license"`
	Settings client.Settings `json:"settings"` // null when they can't be read
}

// licenseFileJSON is what a license file says, under the names of its claims.
type licenseFileJSON struct {
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

func jsonOfLicenseFile(l license.License) licenseFileJSON {
	out := licenseFileJSON{
		ID: l.ID, Issuer: l.Issuer, IssuedAt: countersign.At(l.IssuedAt), ItemID: l.ItemID, ItemName: l.ItemName,
		LicenseType: l.LicenseType, Domain: l.Domain, Domains: l.Domains, SupportedUntil: orNull(l.SupportedUntil),
	}
	if !l.Expires.IsZero() {
		expires := countersign.At(l.Expires)
		out.Expires = &expires
	}
	return out
}

// printStart prints what the app would run with; complete says that the settings belong to it.
func (a *app) printStart(s client.Started, complete bool) error {
	if a.json {
		return a.printJSON(startJSON{s.Domain, jsonOfLicenseFile(s.License), s.Settings})
	}
	l := s.License
	fmt.Fprintf(a.term.out, "%s %s (#%d), %s, for %s; issued by %s on %s\n", a.colour(a.term.out, green, "The license is good:"),
		safe(l.ItemName), l.ItemID, safe(l.LicenseType), safe(s.Domain), safe(l.Issuer), day(countersign.At(l.IssuedAt)))
	if !complete {
		return nil
	}
	out := a.newList("SETTING", "VALUE")
	for _, key := range slices.Sorted(maps.Keys(s.Settings)) {
		value, err := settingText(s.Settings[key])
		if err != nil {
			return err
		}
		if err := out.add(nil, key, value); err != nil {
			return err
		}
	}
	return out.end("The site has no settings.")
}

// settingText is a setting as JSON writes it, which tells "true" from true.
func settingText(value any) (string, error) {
	if number, ok := value.(json.Number); ok {
		return number.String(), nil
	}
	text, err := countersign.EncodeJSON(value)
	return string(text), err
}
