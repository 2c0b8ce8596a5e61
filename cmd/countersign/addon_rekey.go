package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/addon/events"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/license"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/spf13/cobra"
)

func newAddonRekey(a *app) *cobra.Command {
	return on(a.lockAddon, &cobra.Command{
		Use: "rekey", Short: "Create a new key file, if the addon's is lost or was disclosed", Args: cli.Args(),
		Long: `Create a new key file, if the addon's is lost or was disclosed.

Settings, packages, licenses, passwords and sessions stay. What can't be decrypted with the
old key file is deleted, after a list of it: values of API credentials (rotate them), the
service account (set it again), stored purchase codes (enter them again), secrets of webhooks
(rotate them), tokens of purchases in the app (apps restore them), the simulated store of test mode, and
secrets of authenticator apps (their recovery codes still work). No server may run on the data folder.
An interrupted rekey can be repeated.`,
		Example: `  countersign addon rekey
  countersign addon rekey --yes --json`,
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		plan, err := s.PlanRekey(ctx)
		if err != nil {
			return err
		}
		a.sayAddonRekey(plan)
		if err := a.confirmRekey(ctx); err != nil {
			return err
		}
		done, err := s.Rekey(ctx, operator())
		if err != nil {
			return err
		}
		return a.printAddonRekey(done)
	})
}

func (a *app) sayAddonRekey(plan addon.RekeyPlan) {
	if plan.Nothing() {
		a.sayNothingLost()
	}
	sayLost(a, plan.Credentials, "API key with its secret stops", "API keys with their secrets stop", "working until rotated with countersign addon api rotate ID",
		func(c credential.Credential) string { return fmt.Sprintf("%d  %s  %s", c.ID, c.Label, c.Key) })
	sayLost(a, plan.Accounts, "service account", "service accounts", "must be set again with countersign addon iap service-account FILE",
		func(s iap.ServiceAccountFacts) string { return s.ClientEmail + "  key " + s.Fingerprint })
	sayLost(a, plan.Codes, "stored purchase code", "stored purchase codes", "must be entered again to verify or move its licenses; license files stay",
		func(c license.PurchaseCode) string { return c.Hint + "  " + c.Store })
	sayLost(a, plan.Webhooks, "webhook", "webhooks", "paused until rotated with countersign addon webhook rotate-secret ID, and resumed",
		func(w events.Webhook) string { return fmt.Sprintf("%d  %s", w.ID, w.URL) })
	sayLost(a, plan.Purchases, "purchase in the app", "purchases in the app", "can't be read from the store again until the app restores it; access stays until the paid time ends",
		func(id string) string { return id })
	if plan.Queued > 0 {
		a.Say(cli.Count(plan.Queued, "verification that waits for the store is", "verifications that wait for the store are") + " lost. The apps verify again.")
	}
	if plan.Simulator {
		a.Say("The simulated store forgets its purchases and begins anew.")
	}
	a.sayLost(plan.Lost)
}

func (a *app) printAddonRekey(done addon.RekeyPlan) error {
	type accountView struct {
		ClientEmail string `json:"client_email"`
		Fingerprint string `json:"fingerprint"`
	}
	type codeView struct {
		Hint  string `json:"hint"`
		Store string `json:"store"`
	}
	return a.rekeyed(struct {
		Credentials     []credentialView `json:"credentials"`
		ServiceAccounts []accountView    `json:"service_accounts"`
		PurchaseCodes   []codeView       `json:"purchase_codes"`
		Webhooks        []webhookView    `json:"webhooks"`
		Purchases       []string         `json:"purchases"`
		Queued          int              `json:"queued_verifications"`
		SimulatedStore  bool             `json:"simulated_store"`
		Administrators  []string         `json:"administrators"`
		BackupPlace     string           `json:"backup_place,omitempty"`
	}{
		sqldb.Convert(done.Credentials, viewCredential),
		sqldb.Convert(done.Accounts, func(s iap.ServiceAccountFacts) accountView { return accountView{s.ClientEmail, s.Fingerprint} }),
		sqldb.Convert(done.Codes, func(c license.PurchaseCode) codeView { return codeView{c.Hint, c.Store} }),
		sqldb.Convert(done.Webhooks, viewWebhook),
		append([]string{}, done.Purchases...), done.Queued, done.Simulator,
		append([]string{}, done.Users...), done.BackupPlace,
	})
}
