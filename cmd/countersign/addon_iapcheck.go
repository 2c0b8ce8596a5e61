package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/membership"
	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/play"
)

func newIAPCheck(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "check", Short: "Contact the store: test each permission of the service account, and compare the products (exit code 4 if a permission is missing)", Args: cli.Args(),
		Long: `Contact the store with the published settings. Test the key, the access token and each
permission of the service account, and compare the product map with the store's catalogue.
Nothing is changed.`,
		Example: "  countersign addon iap check",
	}, a.checkConnection)
}

// checkCatalogue is the step that compares the product map with the store's catalogue.
const checkCatalogue = "catalogue"

// iapSteps are the steps of the set-up at the store that are checked alone.
func iapSteps() []string {
	return append(play.CheckNames(), checkCatalogue, membership.CheckNotifications, membership.CheckTesters)
}

// checkStep prints one step of the set-up at the store.
func (a *app) checkStep(ctx context.Context, s *addon.Addon, step string) (err error) {
	var findings []health.Finding
	switch step {
	case checkCatalogue:
		findings, err = readCatalogue(ctx, s)
	case membership.CheckNotifications, membership.CheckTesters:
		findings, err = s.Members.CheckArrivals(ctx, operator())
	default:
		findings, err = readConnection(ctx, s)
	}
	if err != nil {
		return err
	}
	findings = slices.DeleteFunc(findings, func(f health.Finding) bool { return f.Name != step })
	if err := a.printFindings([]report{{service: "addon", findings: findings}}); err != nil {
		return err
	}
	if slices.ContainsFunc(findings, func(f health.Finding) bool { return f.Level != health.OK }) {
		return cli.Fail(cli.ExitNo, "step_open", "")
	}
	return nil
}

// checkConnection prints what the store says to the service account and to the product map.
func (a *app) checkConnection(ctx context.Context, s *addon.Addon, _ []string) error {
	findings, err := readConnection(ctx, s)
	if err != nil {
		return err
	}
	failed := func(f health.Finding) bool {
		return f.Level != health.OK && (f.Name == play.CheckToken || f.Name == play.CheckProducts)
	}
	if !slices.ContainsFunc(findings, failed) {
		lines, err := readCatalogue(ctx, s)
		if err != nil {
			return err
		}
		findings = append(findings, lines...)
	}
	return a.printFindings([]report{{service: "addon", findings: findings}})
}

// readConnection asks the store with the service account.
func readConnection(ctx context.Context, s *addon.Addon) (findings []health.Finding, err error) {
	checks, err := s.Members.CheckStore(ctx, operator())
	for _, c := range checks {
		finding := health.Finding{Name: c.Name, Level: health.OK, What: "Accepted by the store"}
		if !c.OK {
			finding.Level, finding.What = health.Fail, c.Problem
		}
		findings = append(findings, finding)
	}
	return findings, err
}

// readCatalogue compares the product map with the store's catalogue.
func readCatalogue(ctx context.Context, s *addon.Addon) (findings []health.Finding, err error) {
	lines, err := s.Members.CheckCatalogue(ctx, operator())
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		finding := health.Finding{Name: checkCatalogue, Level: health.OK, What: "The product " + l.Product + " activates " + l.PackageName}
		if l.Problem != "" {
			finding.Level, finding.What = health.Warn, l.Problem
			if l.Product == "" {
				finding.What = l.PackageName + ": " + l.Problem
			}
		}
		findings = append(findings, finding)
	}
	return findings, nil
}
