package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/instance"
	"github.com/countersign/countersign/internal/keyfile"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

func newDoctor(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Check the store and the addon on this machine (exit code 4 if a check fails)", Args: cli.Args(),
		Long: `Check the store and the addon on this machine. For each problem, print why it matters and
what to do. Nothing is changed. A service without a data folder is skipped, unless a flag or
a variable names the folder.

With the public address of a service, from its variable, a flag or the running server, it
also tries to download the service's key file from there, and fails if it can. With https,
it warns before the certificate expires.`,
		Example: `  countersign doctor
  countersign doctor --addon-data /var/lib/countersign-addon --json
  countersign doctor --addon-base-url https://site.example`,
		RunE: func(c *cobra.Command, _ []string) error {
			reports, err := a.examine(c)
			if err != nil {
				return err
			}
			return a.printFindings(reports)
		},
	}
	doctorAddonLocation.register(c.Flags())
	storeLocation.registerMedia(c.Flags())
	for _, l := range []locationFlags{storeLocation, doctorAddonLocation} {
		l.registerConfig(c.Flags())
		c.Flags().String(l.baseURLFlag, "", "public `URL` at which to look for the key file ("+l.baseURL+")")
	}
	return c
}

// report is what was found at one service.
type report struct {
	service  string
	dir      string // "" where it is known
	findings []health.Finding
}

// examine looks at the services that are here.
func (a *app) examine(c *cobra.Command) ([]report, error) {
	var reports []report
	var dirs []any
	for _, one := range []struct {
		service string
		locationFlags
		doctor func(context.Context, location) ([]health.Finding, error)
	}{
		{"store", storeLocation, func(ctx context.Context, at location) (found []health.Finding, _ error) {
			s, err := store.Open(ctx, a.storeOptions(at, nil, store.Options{Options: instance.Options{NoCreate: true}}))
			err = closing(s, err, func(s *store.Store) error { found = s.Doctor(ctx); return nil })
			return found, err
		}},
		{"addon", doctorAddonLocation, func(ctx context.Context, at location) (found []health.Finding, _ error) {
			s, err := addon.Open(ctx, a.addonOptions(at, nil, addon.Options{Options: instance.Options{NoCreate: true}}))
			err = closing(s, err, func(s *addon.Addon) error { found = s.Doctor(ctx); return nil })
			return found, err
		}},
	} {
		at, err := a.locate(c, one.locationFlags)
		if err != nil {
			return nil, err
		}
		site, err := baseURL(c, one.baseURLFlag)
		if err != nil {
			return nil, err
		}
		dir := a.Service.Dir
		dirs = append(dirs, dir)
		_, err = os.Stat(at.dir)
		missing := os.IsNotExist(err)
		if missing && !one.named(a, c) {
			continue
		}
		found := missingFolder(dir)
		if !missing { // opening it would make it
			found = append(a.checkConfig(c, one.locationFlags), a.examineService(c.Context(), one.service, at, site, one.doctor)...)
		}
		reports = append(reports, report{one.service, dir, found})
	}
	if len(reports) == 0 {
		return nil, cli.Fail(cli.ExitNotFound, "nothing_here", fmt.Sprintf("found no store in %s and no addon in %s; name their folders with --data and --addon-data", dirs...))
	}
	return reports, nil
}

func missingFolder(dir string) []health.Finding {
	return []health.Finding{{
		Name: "data folder", Level: health.Fail, What: fmt.Sprintf("No data folder %s", dir),
		Why: "It contains all data of the service.", Fix: "Name the correct folder with --data or --addon-data.",
	}}
}

// examineService looks at one service, whose public address is site, "" where that is not
// known.
func (a *app) examineService(ctx context.Context, name string, at location, site string, doctor func(context.Context, location) ([]health.Finding, error)) []health.Finding {
	found, err := doctor(ctx, at)
	if err != nil {
		found = append(health.Folder(health.LocationOf(&keyfile.Location{Service: keyfile.Service(name), Dir: at.dir, KeyText: at.keyText}, "", a.Now())), health.Of(name, err, "The service can't start.", "Correct this, and run doctor again."))
	}
	site = siteAddress(site, sqldb.ServedAt(at.dir))
	if site == "" && err == nil && name == "store" {
		found = append(found, health.Finding{
			Name: "base URL", Level: health.Warn, What: "No public address of the store is known", Why: "License files do not name the store, and its links have the address of each request.",
			Fix: "countersign store serve --base-url https://store.example, or base-url in its configuration file",
		})
	}
	if at.keyText == "" {
		found = append(found, checkWeb(ctx, at.dir, site)...)
	}
	return append(found, checkCertificate(ctx, webClient(), a.Now(), site)...)
}

// printFindings prints what was found. A failure is the exit code that says so.
func (a *app) printFindings(reports []report) error {
	counts := map[health.Level]int{}
	for i, r := range reports {
		if r.dir != "" && !a.JSON {
			gap := map[bool]string{true: "\n"}[i > 0]
			a.Print("%s%s (%s)\n", gap, r.service, cli.Safe(r.dir))
		}
		for _, f := range r.findings {
			counts[f.Level]++
			level, name := widths(r.findings)
			if err := a.printFinding(r.service, f, level, name); err != nil {
				return err
			}
		}
	}
	if !a.JSON {
		a.printTally(counts)
	}
	if counts[health.Fail] > 0 {
		return cli.Fail(cli.ExitNo, "doctor_failed", "")
	}
	return nil
}

// widths are how wide the words of the levels and the names of the checks are in a report.
func widths(findings []health.Finding) (level, name int) {
	level = 4
	for _, f := range findings {
		level, name = max(level, len(f.Level)), max(name, len(f.Name))
	}
	return level, name
}

func (a *app) printFinding(service string, f health.Finding, level, name int) error {
	if a.JSON {
		return a.PrintJSON(struct {
			Service string `json:"service"`
			health.Finding
		}{service, f})
	}
	word := fmt.Sprintf("%-*s", level, f.Level)
	switch f.Level {
	case health.OK:
		word = a.Colour(a.Out, cli.Green, word)
	case health.Warn:
		word = a.Colour(a.Out, cli.Yellow, word)
	case health.Fail:
		word = a.Colour(a.Out, cli.Red, strings.ToUpper(word))
	}
	a.Print("%s  %-*s  %s\n", word, name, f.Name, cli.Safe(f.What))
	for _, more := range cli.Lines("why", f.Why, "fix", f.Fix) {
		if more.Value != "" {
			a.Print("%*s  %-*s  %s: %s\n", level, "", name, "", more.Label, cli.Safe(more.Value))
		}
	}
	return nil
}

func (a *app) printTally(counts map[health.Level]int) {
	var parts []string
	if n := counts[health.Fail]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := counts[health.Warn]; n > 0 {
		parts = append(parts, cli.Count(n, "warning", "warnings"))
	}
	parts = append(parts, fmt.Sprintf("%d ok", counts[health.OK]))
	if n := counts[health.Skipped]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", n))
	}
	a.Print("%s\n", strings.Join(parts, ", "))
}
