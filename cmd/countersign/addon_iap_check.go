package main

import (
	"context"
	"slices"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/health"
	"github.com/spf13/cobra"
)

func newIAPTest(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "test", Short: "Tell whether in-app purchases are set up (exit code 4), without asking the store", Args: none,
		Long: `Tell whether in-app purchases are set up: what apps receive, the service account, and the draft.
The store itself is not asked; it may take a day or more until it accepts a new service account.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				findings, err := testIAP(ctx, s)
				if err != nil {
					return err
				}
				return a.printFindings([]report{{service: "addon", findings: findings}})
			})
		},
	}
}

// testIAP collects what doctor and the draft have to say about in-app purchases.
func testIAP(ctx context.Context, s *addon.Addon) ([]health.Finding, error) {
	i, err := readIAP(ctx, s)
	if err != nil {
		return nil, err
	}
	store, err := testStore(ctx, s, i)
	if err != nil {
		return nil, err
	}
	findings := []health.Finding{store}
	for _, f := range s.Doctor(ctx) {
		if f.Name == "in-app purchases" {
			findings = append(findings, f)
		}
	}
	account, err := testServiceAccount(ctx, s)
	if err != nil {
		return nil, err
	}
	findings = append(findings, account...)
	for _, p := range i.settings.Problems {
		if p.Key == iap.KeyServiceAccount || slices.Contains(iapKeys(), p.Key) {
			findings = append(findings, health.Finding{Name: "draft", Level: health.Warn, What: p.Text, Fix: "countersign addon iap show"})
		}
	}
	return findings, nil
}

// testStore reports whether apps see the store as on, and what would make them.
func testStore(ctx context.Context, s *addon.Addon, i iapState) (health.Finding, error) {
	if i.published.Config.Platforms.Store.Enabled {
		return health.Finding{Name: "store", Level: health.OK, What: "Apps see the store as on"}, nil
	}
	store := health.Finding{
		Name: "store", Level: health.Fail, What: "Apps see the store as off", Fix: "countersign addon iap show",
		Why: "It is on when iapEnabled is 1, package name and service account are set, a product is mapped, and all of it is published.",
	}
	draft, err := s.IAP.Preview(ctx, operator())
	if err != nil {
		return store, err
	}
	if draft.Config.Platforms.Store.Enabled {
		store.What, store.Why = "Apps see the store as off until the draft is published", "The draft has all that it takes."
		store.Fix = "countersign addon settings publish -m NOTE"
	}
	return store, nil
}

// testServiceAccount looks at the service account of the draft, without asking
// anybody. Where there is none, it has nothing to say.
func testServiceAccount(ctx context.Context, s *addon.Addon) ([]health.Finding, error) {
	checks, _, err := s.IAP.TestServiceAccount(ctx, operator())
	if fault.HasCode(err, "service_account_not_found") {
		return nil, nil
	}
	findings := make([]health.Finding, len(checks))
	for i, c := range checks {
		findings[i] = health.Finding{Name: "service account", Level: health.OK, What: c.Text}
		if !c.OK {
			findings[i].Level, findings[i].Fix = health.Fail, "countersign addon iap service-account FILE"
		}
	}
	return findings, err
}
