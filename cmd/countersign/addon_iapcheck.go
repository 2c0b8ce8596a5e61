package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/countersign/countersign/internal/addon"
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

// checkConnection prints what the store says to the service account and to the product map.
func (a *app) checkConnection(ctx context.Context, s *addon.Addon, _ []string) error {
	checks, err := s.CheckStore(ctx, operator())
	if err != nil {
		return err
	}
	var findings []health.Finding
	catalogue := true
	for _, c := range checks {
		finding := health.Finding{Name: c.Name, Level: health.OK, What: "Accepted by the store"}
		if !c.OK {
			finding.Level, finding.What = health.Fail, c.Problem
			catalogue = catalogue && c.Name != play.CheckToken && c.Name != play.CheckProducts
		}
		findings = append(findings, finding)
	}
	if catalogue {
		if findings, err = addCatalogue(ctx, s, findings); err != nil {
			return err
		}
	}
	return a.printFindings([]report{{service: "addon", findings: findings}})
}

// addCatalogue adds what is wrong with the product map.
func addCatalogue(ctx context.Context, s *addon.Addon, findings []health.Finding) ([]health.Finding, error) {
	lines, err := s.Members.CheckCatalogue(ctx, operator())
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		finding := health.Finding{Name: "product map", Level: health.OK, What: "The product " + l.Product + " activates " + l.PackageName}
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
