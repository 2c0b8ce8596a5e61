package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/store"
	"github.com/spf13/cobra"
)

// doctorAddonWhereabouts are those of the addon where --data is the store's.
var doctorAddonWhereabouts = whereabouts{"addon-data", "addon-db", envAddonData, envAddonDB, envAddonKey, "", "countersign addon serve"}

func newDoctor(a *app) *cobra.Command {
	c := &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong with the store and the addon of this machine (exit code 4)", Args: none,
		Long: `Look for what is wrong with the store and the addon of this machine, and say why it matters
and what to do. It changes nothing. A service whose data folder is not there is left out,
unless it was named by a flag or a variable.`,
		Example: `  countersign doctor
  countersign doctor --addon-data /var/lib/countersign-addon --json`,
		RunE: func(c *cobra.Command, _ []string) error {
			reports, err := a.examine(c)
			if err != nil {
				return err
			}
			return a.printFindings(reports)
		},
	}
	c.Flags().String("addon-data", addon.DefaultDir, "data `folder` of the addon ("+envAddonData+")")
	c.Flags().String("addon-db", "", "`URL` of the addon's PostgreSQL database ("+envAddonDB+" or "+envAddonDB+"_FILE)")
	return c
}

// report is what was found at one service.
type report struct {
	service  string
	dir      string // "" where it is known
	findings []health.Finding
}

// patient is a service that doctor looks at.
type patient struct {
	service string
	whereabouts
	examine func(context.Context, place) ([]health.Finding, error)
}

// examine looks at the services that are here.
func (a *app) examine(c *cobra.Command) ([]report, error) {
	var reports []report
	for _, one := range []patient{
		{"store", storeWhereabouts, a.examineStore}, {"addon", doctorAddonWhereabouts, a.examineAddon},
	} {
		p, err := a.resolve(c, one.whereabouts)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(p.dir); os.IsNotExist(err) && !a.named(c, one.whereabouts) {
			continue
		}
		found, err := one.examine(c.Context(), p)
		if err != nil {
			found = append(found, health.Of(one.service, err, "It can't be used like this.", "Repair that, and run doctor again."))
		}
		reports = append(reports, report{one.service, p.dir, found})
	}
	if len(reports) == 0 {
		return nil, fail(exitNotFound, "nothing_here", fmt.Sprintf("there is neither a store in %s nor an addon in %s; name their folders with --data and --addon-data", defaultData, addon.DefaultDir))
	}
	return reports, nil
}

// named reports whether a flag or a variable says where a service lives.
func (a *app) named(c *cobra.Command, w whereabouts) bool {
	return c.Flag(w.data).Changed || c.Flag(w.db).Changed || a.getenv(w.envData) != "" || a.getenv(w.envDB) != "" || a.getenv(w.envDB+"_FILE") != ""
}

// missingFolder is the finding about a data folder that is not there, which
// opening it would make; nil when it is there.
func missingFolder(dir string) []health.Finding {
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		return nil
	}
	return []health.Finding{{
		Name: "data folder", Level: health.Fail, What: fmt.Sprintf("No data folder %s", dir),
		Why: "Everything the service keeps is in it.", Fix: "Name the right folder with --data or --addon-data.",
	}}
}

func (a *app) examineStore(ctx context.Context, p place) ([]health.Finding, error) {
	if missing := missingFolder(p.dir); missing != nil {
		return missing, nil
	}
	o := a.storeOptions(p, a.errorLog())
	o.Look = true
	s, err := store.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.Doctor(ctx), s.Close()
}

func (a *app) examineAddon(ctx context.Context, p place) ([]health.Finding, error) {
	if missing := missingFolder(p.dir); missing != nil {
		return missing, nil
	}
	o := a.addonOptions(p, a.errorLog())
	o.Look = true
	s, err := addon.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	return s.Doctor(ctx), s.Close()
}

// findingJSON is a finding as --json prints it, one a line.
type findingJSON struct {
	Service string `json:"service"`
	health.Finding
}

// printFindings prints what was found. A failure is the exit code that says so.
func (a *app) printFindings(reports []report) error {
	counts := map[health.Level]int{}
	for i, r := range reports {
		if r.dir != "" && !a.json {
			gap := map[bool]string{true: "\n"}[i > 0]
			if _, err := fmt.Fprintf(a.term.out, "%s%s (%s)\n", gap, r.service, safe(r.dir)); err != nil {
				return err
			}
		}
		for _, f := range r.findings {
			counts[f.Level]++
			if err := a.printFinding(r.service, f); err != nil {
				return err
			}
		}
	}
	if !a.json {
		if err := a.printTally(counts); err != nil {
			return err
		}
	}
	if counts[health.Fail] > 0 {
		return fail(exitNo, "doctor_failed", "")
	}
	return nil
}

func (a *app) printFinding(service string, f health.Finding) error {
	if a.json {
		return a.printJSON(findingJSON{service, f})
	}
	word := map[health.Level]string{
		health.OK: a.colour(a.term.out, green, "ok  "), health.Warn: a.colour(a.term.out, yellow, "warn"), health.Fail: a.colour(a.term.out, red, "FAIL"),
	}[f.Level]
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %-16s  %s\n", word, f.Name, safe(f.What))
	for _, more := range []pair{{"why", f.Why}, {"fix", f.Fix}} {
		if more.value != "" {
			fmt.Fprintf(&b, "      %-16s  %s: %s\n", "", more.label, safe(more.value))
		}
	}
	_, err := fmt.Fprint(a.term.out, b.String())
	return err
}

func (a *app) printTally(counts map[health.Level]int) error {
	var parts []string
	if n := counts[health.Fail]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := counts[health.Warn]; n > 0 {
		parts = append(parts, count(n, "warning", "warnings"))
	}
	_, err := fmt.Fprintln(a.term.out, strings.Join(append(parts, fmt.Sprintf("%d ok", counts[health.OK])), ", "))
	return err
}
