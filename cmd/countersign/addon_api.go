package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/credential"
	"github.com/countersign/countersign/internal/cli"
	"github.com/spf13/cobra"
)

func newAddonAPI(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{
		Use: "api", Short: "API credentials of the site: list, create, reveal, rename, rotate, activate, deactivate, delete",
	},
		listAll(a, a.withAddon, "List the API credentials, without their values", "No API credentials. Create them with: countersign addon api create LABEL", viewCredential, allPairs),
		on(a.withAddon, &cobra.Command{Use: "create LABEL", Short: "Create API credentials, both active, and print them", Args: cli.Args("label")}, func(ctx context.Context, s *addon.Addon, args []string) error {
			made, values, err := s.Credentials.Create(ctx, operator(), args[0])
			return a.showPair(made, values, err)
		}),
		onID(a.withAddon, "API credential", a.fromAddon(pairIDs), &cobra.Command{Use: "reveal ID", Short: "Reveal API credentials; the audit log records it"}, func(ctx context.Context, s *addon.Addon, id int64) error {
			shown, values, err := s.Credentials.Reveal(ctx, operator(), id)
			return a.showPair(shown, values, err)
		}),
		onID(a.withAddon, "API credential", a.fromAddon(pairIDs), &cobra.Command{Use: "rotate ID", Short: "Rotate API credentials and print the new values; the old values expire at once"}, a.rotatePair),
		newAPISwitch(a, "activate", "Activate API credentials", true), newAPISwitch(a, "deactivate", "Deactivate API credentials; calls signed with them are refused", false),
		newAPIRename(a), newAPIDelete(a), newAPIDismiss(a))
}

// credentialView is a pair of API key and secret, without its values.
type credentialView struct {
	ID           int64                  `json:"id" row:"1,ID" card:"1,Id"`
	Label        string                 `json:"label" row:"2,LABEL,text" card:"2,Label"`
	KeyHint      string                 `json:"key_hint" row:"3,KEY"`
	SecretHint   string                 `json:"secret_hint" row:"5,SECRET"`
	KeyActive    bool                   `json:"key_active"`
	SecretActive bool                   `json:"secret_active"`
	CreatedAt    countersign.Timestamp  `json:"created_at" row:"7,CREATED"`
	RotatedAt    *countersign.Timestamp `json:"rotated_at"`
	LastUsedAt   *countersign.Timestamp `json:"last_used_at" row:"8,LAST USED (UTC),minute"`
	LastUsedFrom string                 `json:"last_used_from" row:"9,FROM"`
	UsedCount    int64                  `json:"used_count" row:"10,USES,thousands"`
	KeyIs        string                 `json:"-" row:"4,IS"`
	SecretIs     string                 `json:"-" row:"6,IS"`
	Key          string                 `json:"-" card:"3,Key"`
	Secret       string                 `json:"-" card:"4,Secret"`
}

func viewCredential(c credential.Credential) credentialView {
	v := credentialView{
		ID: c.ID, Label: c.Label, KeyHint: c.Key, SecretHint: c.Secret, KeyActive: c.KeyActive, SecretActive: c.SecretActive,
		CreatedAt: countersign.At(c.CreatedAt), RotatedAt: cli.OrNull(countersign.At(c.RotatedAt)),
		LastUsedAt: cli.OrNull(countersign.At(c.LastUsedAt)), LastUsedFrom: c.LastUsedFrom, UsedCount: c.UsedCount,
		KeyIs: active(c.KeyActive), SecretIs: active(c.SecretActive),
	}
	v.Key, v.Secret = v.KeyHint+"  "+v.KeyIs, v.SecretHint+"  "+v.SecretIs
	return v
}

func active(is bool) string {
	if is {
		return "active"
	}
	return "inactive"
}

// pairView is a pair with its values, for the commands whose purpose it is.
type pairView struct {
	ID        int64  `json:"id" card:"1,Id"`
	Label     string `json:"label" card:"2,Label"`
	APIKey    string `json:"api_key" card:"3,Key"`
	APISecret string `json:"api_secret" card:"4,Secret"`
}

func (a *app) showPair(c credential.Credential, values credential.Values, err error) error {
	if err = a.Show(pairView{c.ID, c.Label, values.Key, values.Secret}, err); err == nil && !c.Active() {
		a.Warn("the API credentials are not active: key %s, secret %s; activate them with: countersign addon api activate %d", active(c.KeyActive), active(c.SecretActive), c.ID)
	}
	return err
}

func allPairs(ctx context.Context, s *addon.Addon) ([]credential.Credential, error) {
	return s.Credentials.List(ctx, operator())
}

func (a *app) rotatePair(ctx context.Context, s *addon.Addon, id int64) error {
	if err := a.Confirm(ctx, fmt.Sprintf("The current values of API credentials %d expire at once, even where they are in use. Continue?", id)); err != nil {
		return err
	}
	made, values, err := s.Credentials.Rotate(ctx, operator(), id)
	return a.showPair(made, values, err)
}

func newAPISwitch(a *app, verb, short string, on bool) *cobra.Command {
	var key, secret bool
	c := onID(a.withAddon, "API credential", a.fromAddon(pairIDs), &cobra.Command{
		Use: verb + " ID", Short: short,
		Long: short + ". Without --key or --secret, both are changed. Calls need both to be active.",
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		half := credential.HalfBoth
		switch {
		case key && !secret:
			half = credential.HalfKey
		case secret && !key:
			half = credential.HalfSecret
		}
		changed, err := s.Credentials.SetActive(ctx, operator(), id, half, on)
		return a.Show(viewCredential(changed), err)
	})
	c.Flags().BoolVar(&key, "key", false, "only the key")
	c.Flags().BoolVar(&secret, "secret", false, "only the secret")
	return c
}

func newAPIRename(a *app) *cobra.Command {
	var id int64
	return on(a.withAddon, &cobra.Command{
		Use: "rename ID LABEL", Short: "Change the label of API credentials; key and secret stay", Args: cli.Args("API credential's id", "label"),
		PreRunE: parseID("API credential", 0, &id), ValidArgsFunction: first(a.fromAddon(pairIDs)),
		Example: `  countersign addon api rename 2 "Shop server"`,
	}, func(ctx context.Context, s *addon.Addon, args []string) error {
		renamed, err := s.Credentials.Rename(ctx, operator(), id, args[1])
		return a.Show(viewCredential(renamed), err)
	})
}

func newAPIDelete(a *app) *cobra.Command {
	return onID(a.withAddon, "API credential", a.fromAddon(pairIDs), &cobra.Command{
		Use: "delete ID", Short: "Delete deactivated API credentials",
		Long: `Delete deactivated API credentials. It can't be undone. Credentials whose key or secret is
active are not deleted (exit code 6). Deactivate them first:

  countersign addon api deactivate ID`,
		Example: "  countersign addon api delete 2",
	}, func(ctx context.Context, s *addon.Addon, id int64) error {
		if err := a.Confirm(ctx, fmt.Sprintf("The API credentials %d are deleted and can't be activated again. Continue?", id)); err != nil {
			return err
		}
		gone, err := s.Credentials.Delete(ctx, operator(), id)
		if err != nil {
			return err
		}
		return a.Done(struct {
			Deleted int64  `json:"deleted"`
			Label   string `json:"label"`
		}{id, gone.Label}, "Deleted the API credentials %d (%s).", id, cli.Safe(gone.Label))
	})
}

func newAPIDismiss(a *app) *cobra.Command {
	return on(a.withAddon, &cobra.Command{
		Use: "dismiss-warning", Short: "Dismiss the warning of the pages about API credentials", Args: cli.Args(),
		Long: `Dismiss the warning at the top of the pages that API credentials are inactive or missing. It
comes back when API credentials change their state. The checklist and doctor still report it.`,
		Example: "  countersign addon api dismiss-warning",
	}, func(ctx context.Context, s *addon.Addon, _ []string) error {
		warning, err := s.Credentials.DismissWarning(ctx, operator())
		if err != nil {
			return err
		}
		return a.Done(struct {
			Dismissed string `json:"dismissed"`
		}{warning.Text()}, "Dismissed the warning: %s.", cli.Safe(warning.Text()))
	})
}
