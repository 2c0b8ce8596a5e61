package main

import (
	"context"
	"fmt"
	"io"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/spf13/cobra"
)

func newIAPServiceAccount(a *app) *cobra.Command {
	var remove bool
	c := &cobra.Command{
		Use: "service-account FILE", Short: "Put the store's service account into the draft, encrypted; FILE is - for stdin",
		Long: `Put the store's service account into the draft, encrypted. FILE is the JSON file from the
store's cloud console, or - for stdin. It is never printed again.`,
		RunE: func(c *cobra.Command, args []string) error {
			if remove {
				if err := none(c, args); err != nil {
					return err
				}
				return a.withAddon(c, a.removeServiceAccount)
			}
			if err := one("file")(c, args); err != nil {
				return err
			}
			file, err := a.readSecretFile(args[0], "service account")
			if err != nil {
				return err
			}
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return a.setServiceAccount(ctx, s, file) })
		},
	}
	c.Flags().BoolVar(&remove, "remove", false, "take the service account out of the draft")
	return c
}

// readSecretFile reads a small file, or stdin for "-".
func (a *app) readSecretFile(path, what string) ([]byte, error) {
	if path != "-" {
		return readFile(path, what)
	}
	text, err := io.ReadAll(io.LimitReader(a.term.in, maxFile))
	if err != nil {
		return nil, fail(exitFailed, "input_failed", fmt.Sprintf("the %s can't be read from stdin (%v); put it into a file", what, reason(err)))
	}
	return text, nil
}

// serviceAccountJSON is what may be told of a service account.
type serviceAccountJSON struct {
	Type        string                `json:"type"`
	ClientEmail string                `json:"client_email"`
	Project     string                `json:"project"`
	Fingerprint string                `json:"fingerprint"`
	SetAt       countersign.Timestamp `json:"set_at"`
}

// jsonOfServiceAccount is nil where there is none.
func jsonOfServiceAccount(f iap.ServiceAccountFacts) *serviceAccountJSON {
	if !f.Set {
		return nil
	}
	return &serviceAccountJSON{f.Type, f.ClientEmail, f.Project, f.Fingerprint, countersign.At(f.SetAt)}
}

func (a *app) setServiceAccount(ctx context.Context, s *addon.Addon, file []byte) error {
	facts, err := s.Settings.SetServiceAccount(ctx, operator(), 0, file)
	if err != nil {
		return err
	}
	now, err := s.Settings.Draft(ctx, operator())
	if err != nil {
		return err
	}
	err = a.printCard(jsonOfServiceAccount(facts), pair{"Account", facts.ClientEmail}, pair{"Project", facts.Project},
		pair{"Key", facts.Fingerprint}, pair{"Set", second(countersign.At(facts.SetAt))})
	if err == nil {
		a.sayWaiting(now)
	}
	return err
}

func (a *app) removeServiceAccount(ctx context.Context, s *addon.Addon) error {
	if err := s.Settings.RemoveServiceAccount(ctx, operator(), 0); err != nil {
		return err
	}
	now, err := s.Settings.Draft(ctx, operator())
	if err != nil {
		return err
	}
	return a.printRemoved(iap.KeyServiceAccount, "No service account in the draft.", now)
}
