package main

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

// addonUpdateFlags are the flags of addon update.
type addonUpdateFlags struct{ plan, webToken bool }

func newAddonUpdate(a *app) *cobra.Command {
	var flags addonUpdateFlags
	c := &cobra.Command{
		Use: "update", Short: "Set the addon up, or bring it to this version, after a backup", Args: none,
		Long: `Make or migrate the tables, register the settings, publish the defaults and make the first
API key and secret, each where it is missing. Run it once after every new version; it can be
run again at any time, also after it was interrupted.

The first administrator is made as well where ` + envAdminEmail + ` and
` + envAdminPassword + `_FILE are set.`,
		Example: `  countersign addon update --plan
  countersign addon update`,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags.plan && flags.webToken {
				return usage(c, "--plan and --web-token do different things; give one of them")
			}
			switch {
			case flags.plan:
				return a.lookAtAddon(c, a.printUpdatePlan)
			case flags.webToken:
				return a.withNewAddon(c, a.printWebToken)
			}
			return a.withNewAddon(c, func(ctx context.Context, s *addon.Addon) error {
				running, err := a.runningAddon(c)
				if err != nil {
					return err
				}
				return a.updateAddon(ctx, s, running)
			})
		},
	}
	c.Flags().BoolVar(&flags.plan, "plan", false, "print what the update would do, and do nothing")
	c.Flags().BoolVar(&flags.webToken, "web-token", false, "print a token for one update over the web, good for an hour")
	return c
}

// webTokenJSON is a token for update.php as --json prints it.
type webTokenJSON struct {
	Token     string                `json:"token"`
	ExpiresAt countersign.Timestamp `json:"expires_at"`
}

func (a *app) printWebToken(ctx context.Context, s *addon.Addon) error {
	token, expires, err := s.NewWebToken(ctx, operator())
	if err != nil {
		return err
	}
	out := webTokenJSON{token, countersign.At(expires)}
	if err := a.printCard(out, pair{"Token", token}, pair{"Good until", second(out.ExpiresAt)}); err != nil || a.json {
		return err
	}
	a.say("\nIt runs the update once: curl -X POST -H 'X-Update-Token: TOKEN' SITE/api-addons/update.php")
	return nil
}

func (a *app) printUpdatePlan(ctx context.Context, s *addon.Addon) error {
	plan, err := s.Plan(ctx, operator())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(plan)
	}
	return a.printPlan(plan)
}

// printPlan prints the steps of an update for people.
func (a *app) printPlan(plan addon.Plan) error {
	if plan.Nothing {
		_, err := fmt.Fprintf(a.term.out, "Nothing to do (version %s).\n", safe(plan.Version))
		return err
	}
	label := "Plan"
	for _, step := range plan.Steps {
		if _, err := fmt.Fprintf(a.term.out, "%-7s %s\n", label, safe(step.Text)); err != nil {
			return err
		}
		label = ""
	}
	return nil
}

// updateJSON is what an update did, as --json prints it.
type updateJSON struct {
	addon.Plan
	Backup *string `json:"backup"`
	// Credential is the first pair, masked, when this update made it.
	Credential    *credentialJSON `json:"credential"`
	Administrator *string         `json:"administrator"`
}

// updateAddon runs the update; running is where the addon is served, or empty.
func (a *app) updateAddon(ctx context.Context, s *addon.Addon, running string) error {
	begun := a.now()
	if !a.json {
		plan, err := s.Plan(ctx, operator())
		if err != nil {
			return err
		}
		if !plan.Nothing { // that is true once the key file has been found to be right
			err = a.printPlan(plan)
		}
		if err != nil {
			return err
		}
	}
	report, err := s.Update(ctx, operator(), func(step addon.Step) {
		if !a.json {
			fmt.Fprintf(a.term.out, "  %s %s\n", a.colour(a.term.out, green, "✓"), safe(step.Text))
		}
	})
	if err != nil {
		return err
	}
	admin, err := a.firstAdministrator(ctx, s)
	if err != nil {
		return err
	}
	return a.printUpdated(report, admin, a.now().Sub(begun), a.afterUpdate(ctx, s, running))
}

func (a *app) printUpdated(report addon.UpdateReport, admin string, took time.Duration, next string) error {
	if a.json {
		out := updateJSON{Plan: report.Plan}
		if report.Backup != "" {
			out.Backup = &report.Backup
		}
		if report.Created != nil {
			created := jsonOfCredential(*report.Created)
			out.Credential = &created
		}
		if admin != "" {
			out.Administrator = &admin
		}
		return a.printJSON(out)
	}
	if report.Nothing {
		if err := a.printPlan(report.Plan); err != nil {
			return err
		}
	}
	if report.Backup != "" {
		a.say("The database as it was is in %s (without the key file).", safe(report.Backup))
	}
	if report.Created != nil {
		a.say("The first API key and secret are there and active; they are shown by: countersign addon api reveal %d", report.Created.ID)
	}
	if admin != "" {
		a.say("The administrator %s may sign in.", safe(admin))
	}
	if report.Nothing {
		return nil
	}
	a.say("Done in %s. Next: %s", took.Round(10*time.Millisecond), next)
	return nil
}

// afterUpdate says what to do next.
func (a *app) afterUpdate(ctx context.Context, s *addon.Addon, running string) string {
	there, err := s.People().HasAdministrator(ctx)
	first := err == nil && !there
	switch {
	case running != "" && first:
		return "open the set-up link that the server has printed, or a new one of: countersign addon setup-link"
	case running != "":
		return "open " + running + "/api-addons/admin"
	case first:
		return "countersign addon serve, and open the set-up link that it prints"
	}
	return "countersign addon serve, and open /api-addons/admin"
}
