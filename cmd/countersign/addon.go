package main

import (
	"context"
	"time"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/setup"
	"github.com/countersign/countersign/internal/backup"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/group"
	"github.com/countersign/countersign/internal/instance"
	"github.com/spf13/cobra"
)

func newAddon(a *app) *cobra.Command {
	c := cli.Group(&cobra.Command{
		Use: "addon", Short: "The addon of a site: update, server, settings, packages and API credentials",
		Long: `The addon runs on the server of a site. It serves the mobile app its public settings and
the products it sells. It has admin pages for both.

  countersign addon update    set it up, once after every new version
  countersign addon serve     serve it`,
	},
		newAddonUpdate(a), newAddonServe(a), newInit(a, addonLocation), newAddonSetupLink(a), newAddonSettings(a),
		newAddonIAP(a), newAddonPackage(a), newAddonCustomer(a), newAddonAPI(a),
		newAddonEvent(a), newAddonWebhook(a), newAddonUsers(a), newAddonAudit(a), newAddonBackup(a), newAddonMove(a), newAddonRekey(a))
	addonLocation.register(c.PersistentFlags())
	addonLocation.registerConfig(c.PersistentFlags())
	return c
}

// newAddonUsers returns the commands for the people of an addon.
func newAddonUsers(a *app) *cobra.Command {
	users := newUserCommands(a, addonLocation, a.onAddon, a.fromAddon(addonEmails))
	return users.group(listAll(a, users.open, "List the users", users.noUsers(), viewUser, allUsers))
}

func newAddonSetupLink(a *app) *cobra.Command {
	return newSetupLink(a, addonLocation, a.withNewAddon, ` Its token is also in the file `+setup.LinkFile+` of the data
folder, until it was used or has expired. Only the file's owner can read it.`,
		func(ctx context.Context, s *addon.Addon) (string, time.Time, error) {
			token, expires, err := s.Setup.NewLink(ctx, operator())
			if err == nil && fault.HasCode(s.Prepare(ctx), fault.CodeUpdateNeeded) {
				a.Say("The addon has to be set up for this version first; run: countersign addon update")
			}
			return token, expires, err
		})
}

func newAddonUpdate(a *app) *cobra.Command {
	var plan, webToken bool
	c := &cobra.Command{
		Use: "update", Short: "Set the addon up, or bring it to this version, after a backup", Args: cli.Args(),
		Long: `Create or migrate the tables, register the settings, publish the defaults and create the first
API credentials, each only if missing. Run it once after every new version. It is safe to
repeat, also after an interruption.

If ` + envAdminEmail + ` and ` + envAdminPassword + `_FILE are set, it also creates
the first administrator.`,
		Example: `  countersign addon update --plan
  countersign addon update`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case plan && webToken:
				return cli.Usage(c, "--plan and --web-token can't be combined")
			case plan:
				return a.openAddon(c, addon.Options{Options: instance.Options{NoCreate: true}}, a.printUpdatePlan)
			case webToken:
				return a.withNewAddon(c, a.printWebToken)
			}
			return a.withNewAddon(c, a.updateAddon)
		},
	}
	c.Flags().BoolVar(&plan, "plan", false, "print what the update would do, without doing it")
	c.Flags().BoolVar(&webToken, "web-token", false, "print a token for one update over the web; it expires after an hour")
	return c
}

func (a *app) printWebToken(ctx context.Context, s *addon.Addon) error {
	token, expires, err := s.Setup.NewWebToken(ctx, operator())
	err = a.Show(struct {
		Token     string                `json:"token" card:"1,Token"`
		ExpiresAt countersign.Timestamp `json:"expires_at" card:"2,Valid until"`
	}{token, countersign.At(expires)}, err)
	if err == nil && !a.JSON {
		a.Say("\nIt runs the update once: curl -X POST -H 'X-Update-Token: TOKEN' SITE/api-addons/update.php")
	}
	return err
}

func (a *app) printUpdatePlan(ctx context.Context, s *addon.Addon) error {
	if err := outsideWeb(a.Path(a.Service.Dir)); err != nil {
		return err
	}
	plan, err := s.Setup.Plan(ctx, operator())
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(plan)
	}
	a.printPlan(plan)
	return nil
}

func (a *app) printPlan(plan setup.Plan) {
	if plan.Nothing {
		a.Print("Nothing to do (version %s).\n", cli.Safe(plan.Version))
		return
	}
	label := "Plan"
	for _, step := range plan.Steps {
		a.Print("%-7s %s\n", label, cli.Safe(step.Text))
		label = ""
	}
}

type updateView struct {
	setup.Plan
	Backup *string `json:"backup"`
	// Credential is the first pair, masked, when this update made it.
	Credential    *credentialView `json:"credential"`
	Administrator *string         `json:"administrator"`
}

func (a *app) updateAddon(ctx context.Context, s *addon.Addon) error {
	begun := a.Now()
	if !a.JSON {
		plan, err := s.Setup.Plan(ctx, operator())
		if err != nil {
			return err
		}
		if !plan.Nothing { // that is true once the key file has been found to be right
			a.printPlan(plan)
		}
	}
	report, err := a.updateAfterBackup(ctx, s, func(step setup.Step) {
		if !a.JSON {
			a.Print("  %s %s\n", a.Colour(a.Out, cli.Green, "✓"), cli.Safe(step.Text))
		}
	})
	if err != nil {
		return err
	}
	admin, err := a.firstAdministrator(ctx, addonLocation, s.Instance.People)
	if err != nil {
		return err
	}
	return a.printUpdated(report, admin, a.Now().Sub(begun), a.afterUpdate(ctx, s))
}

// backupTime is how long an update waits for a backup that another process writes.
const backupTime = 10 * time.Minute

// updateAfterBackup updates the addon, and waits for a running backup first: a package may be
// upgraded beside a scheduled one.
func (a *app) updateAfterBackup(ctx context.Context, s *addon.Addon, progress func(setup.Step)) (setup.Report, error) {
	begun := a.Now()
	for waits := false; ; waits = true {
		report, err := s.Setup.Update(ctx, operator(), progress)
		if !fault.HasCode(err, backup.CodeRunning) || a.Now().Sub(begun) >= backupTime {
			return report, err
		}
		if !waits {
			a.Note("Another backup is being written. The update waits for it, at most %d minutes.", backupTime/time.Minute)
		}
		if !group.Sleep(ctx, time.Second, nil) {
			return report, err
		}
	}
}

func (a *app) printUpdated(report setup.Report, admin string, took time.Duration, next string) error {
	if a.JSON {
		out := updateView{Plan: report.Plan, Backup: cli.NonZero(report.Backup), Administrator: cli.NonZero(admin)}
		if report.Created != nil {
			created := viewCredential(*report.Created)
			out.Credential = &created
		}
		return a.PrintJSON(out)
	}
	if report.Nothing {
		a.printPlan(report.Plan)
	}
	if report.Backup != "" {
		a.Say("Backup of the database before the change: %s (without the key file).", cli.Safe(report.Backup))
	}
	if report.Created != nil {
		a.Say("The first API credentials exist and are active. To reveal them: countersign addon api reveal %d", report.Created.ID)
	}
	if admin != "" {
		a.Say("The administrator %s can sign in.", cli.Safe(admin))
	}
	if report.Nothing {
		return nil
	}
	a.Say("Done in %s. Next: %s", took.Round(10*time.Millisecond), next)
	return nil
}

// afterUpdate returns what to do next.
func (a *app) afterUpdate(ctx context.Context, s *addon.Addon) string {
	running := a.served()
	there, err := s.Instance.People.HasAdministrator(ctx)
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
