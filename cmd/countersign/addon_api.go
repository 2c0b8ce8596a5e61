package main

import (
	"context"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newAddonAPI(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "api", Short: "API keys and secrets of the site: list, create, reveal, rotate, activate, deactivate", SuggestionsMinimumDistance: 2,
	}, newAPIList(a), newAPICreate(a), newAPIReveal(a), newAPIRotate(a),
		newAPISwitch(a, "activate", "Switch a pair on", true), newAPISwitch(a, "deactivate", "Switch a pair off; calls that are signed with it are refused", false))
}

// credentialJSON is a pair of API key and secret as --json prints it in lists,
// without its values.
type credentialJSON struct {
	ID           int64                  `json:"id"`
	Label        string                 `json:"label"`
	KeyHint      string                 `json:"key_hint"`
	SecretHint   string                 `json:"secret_hint"`
	KeyActive    bool                   `json:"key_active"`
	SecretActive bool                   `json:"secret_active"`
	CreatedAt    countersign.Timestamp  `json:"created_at"`
	RotatedAt    *countersign.Timestamp `json:"rotated_at"`
	LastUsedAt   *countersign.Timestamp `json:"last_used_at"`
	LastUsedFrom string                 `json:"last_used_from"`
	UsedCount    int64                  `json:"used_count"`
}

func jsonOfCredential(c addon.Credential) credentialJSON {
	return credentialJSON{
		ID: c.ID, Label: c.Label, KeyHint: c.Key, SecretHint: c.Secret, KeyActive: c.KeyActive, SecretActive: c.SecretActive,
		CreatedAt: countersign.At(c.CreatedAt), RotatedAt: orNull(countersign.At(c.RotatedAt)),
		LastUsedAt: orNull(countersign.At(c.LastUsedAt)), LastUsedFrom: c.LastUsedFrom, UsedCount: c.UsedCount,
	}
}

func active(is bool) string {
	if is {
		return "active"
	}
	return "inactive"
}

// printCredential prints a pair without its values.
func (a *app) printCredential(c addon.Credential) error {
	return a.printCard(jsonOfCredential(c), pair{"Id", idText(c.ID)}, pair{"Label", c.Label}, pair{"Key", c.Key + "  " + active(c.KeyActive)},
		pair{"Secret", c.Secret + "  " + active(c.SecretActive)})
}

// pairJSON is a pair with its values.
type pairJSON struct {
	ID        int64  `json:"id"`
	Label     string `json:"label"`
	APIKey    string `json:"api_key"`
	APISecret string `json:"api_secret"`
}

// printPair prints a pair with its values, for the commands whose purpose it is.
func (a *app) printPair(c addon.Credential, values addon.Pair) error {
	err := a.printCard(pairJSON{c.ID, c.Label, values.Key, values.Secret}, pair{"Id", idText(c.ID)}, pair{"Label", c.Label},
		pair{"Key", values.Key}, pair{"Secret", values.Secret})
	if err == nil && !c.Active() {
		a.warn("the pair is not active: key %s, secret %s; switch it on with: countersign addon api activate %d", active(c.KeyActive), active(c.SecretActive), c.ID)
	}
	return err
}

// withPair runs a command about the pair whose id is its argument.
func (a *app) withPair(c *cobra.Command, arg string, do func(ctx context.Context, s *addon.Addon, id int64) error) error {
	id, err := parseID(c, "pair", arg)
	if err != nil {
		return err
	}
	return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error { return do(ctx, s, id) })
}
