package main

import (
	"context"
	"encoding/base64"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/licensing"
	"github.com/spf13/cobra"
)

func newLicenseKey(a *app) *cobra.Command {
	return newGroup(&cobra.Command{
		Use: "license-key", Short: "Keys that sign licenses: list, rotate", SuggestionsMinimumDistance: 2,
	}, newLicenseKeyList(a), newLicenseKeyRotate(a))
}

// licenseKeyJSON is a key for licenses as --json prints it: its public part.
type licenseKeyJSON struct {
	KeyID     string                 `json:"kid"`
	Public    string                 `json:"x"`
	State     string                 `json:"state"`
	CreatedAt countersign.Timestamp  `json:"created_at"`
	RetiredAt *countersign.Timestamp `json:"retired_at"`
}

func jsonOfLicenseKey(k licensing.Key) licenseKeyJSON {
	state := "earlier"
	if k.Current() {
		state = "current"
	}
	return licenseKeyJSON{k.ID, base64.RawURLEncoding.EncodeToString(k.Public), state, k.CreatedAt, orNull(k.RetiredAt)}
}

func newLicenseKeyList(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys for licenses, the oldest first", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				keys, err := s.Licensing.Keys(ctx, operator())
				if err != nil {
					return err
				}
				l := a.newList("KID", "STATE", "CREATED", "RETIRED")
				for _, k := range keys {
					shown := jsonOfLicenseKey(k)
					if err := l.add(shown, k.ID, shown.State, day(k.CreatedAt), day(k.RetiredAt)); err != nil {
						return err
					}
				}
				return l.end("No license key. The first license creates one.")
			})
		},
	}
}

func newLicenseKeyRotate(a *app) *cobra.Command {
	var dropEarlier bool
	c := &cobra.Command{
		Use: "rotate", Short: "Make a new key that signs licenses from now on", Args: none,
		Long: `Make a new key that signs licenses from now on. Licenses that earlier keys have signed stay
good. Apps carry the key set of their store inside: build them with the new one (from
/.well-known/jwks.json) before licenses of the new key reach them.

--drop-earlier takes the earlier keys out of the key set, as is right when somebody has stolen
one. Every license issued so far then ends where the new key set is known, and buyers have to
fetch theirs again, which costs them no domain.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withStore(c, func(ctx context.Context, s *store.Store) error {
				if dropEarlier {
					if err := a.confirm(ctx, "End all licenses that were signed so far?"); err != nil {
						return err
					}
				}
				k, err := s.Licensing.RotateKey(ctx, operator(), dropEarlier)
				if err != nil {
					return err
				}
				shown := jsonOfLicenseKey(k)
				return a.printCard(shown, pair{"Kid", k.ID}, pair{"Public", shown.Public}, pair{"State", shown.State}, pair{"Created", second(k.CreatedAt)})
			})
		},
	}
	c.Flags().BoolVar(&dropEarlier, "drop-earlier", false, "take the earlier keys out of the key set: what they have signed ends")
	return c
}
