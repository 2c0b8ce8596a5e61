package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/addon"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/settings"
	"github.com/spf13/cobra"
)

func newIAPShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the draft of the in-app purchases, and what apps receive", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				all, err := readIAP(ctx, s)
				if err != nil {
					return err
				}
				return a.printCard(all.json(), all.pairs()...)
			})
		},
	}
}

// iapState is all that is known of in-app purchases.
type iapState struct {
	settings  settings.Draft
	account   iap.ServiceAccountFacts // the draft's
	products  []iap.Product           // the draft's
	packages  []iap.Package
	published *iap.Published
}

func readIAP(ctx context.Context, s *addon.Addon) (iapState, error) {
	var i iapState
	var errs [5]error
	i.settings, errs[0] = s.Settings.Draft(ctx, operator())
	i.account, _, errs[1] = s.IAP.ServiceAccount(ctx, operator())
	i.products, errs[2] = s.IAP.Products(ctx, operator())
	i.packages, errs[3] = s.IAP.Packages(ctx, operator())
	i.published, errs[4] = s.IAP.Published(ctx)
	return i, errors.Join(errs[:]...)
}

// iapJSON is what is known of in-app purchases, as --json prints it.
type iapJSON struct {
	Settings       []settingJSON       `json:"settings"`
	ServiceAccount *serviceAccountJSON `json:"service_account"`
	Products       []productJSON       `json:"products"`
	// Config is what GET /api-addons/iap/config answers.
	Config json.RawMessage `json:"config"`
}

func (i iapState) json() iapJSON {
	out := iapJSON{Settings: []settingJSON{}, ServiceAccount: jsonOfServiceAccount(i.account), Products: []productJSON{}, Config: i.published.JSON}
	for _, s := range i.settings.List {
		if s.Area == settings.AreaIAP {
			out.Settings = append(out.Settings, jsonOfSetting(s))
		}
	}
	for _, p := range i.products {
		out.Products = append(out.Products, jsonOfProduct(p, i.packages))
	}
	return out
}

func (i iapState) pairs() []pair {
	var pairs []pair
	for _, s := range i.settings.List {
		if s.Area == settings.AreaIAP && s.Key != iap.KeyProductMap {
			pairs = append(pairs, pair{s.Key, s.Value + waiting(s)})
		}
	}
	products := make([]string, len(i.products))
	for n, p := range i.products {
		products[n] = fmt.Sprintf("%s: %d %s", p.StoreID, p.PackageID, packageName(p.PackageID, i.packages))
	}
	mapped, _ := i.settings.Get(iap.KeyProductMap)
	pairs = append(pairs, pair{"Products", strings.Join(products, ", ") + waiting(mapped)})
	store := "off"
	if i.published.Config.Platforms.Store.Enabled {
		store = "on"
	}
	return append(pairs, pair{"Apps see the store", store})
}

// waiting marks a value that is not published yet.
func waiting(s settings.Setting) string {
	if s.Changed {
		return " (not published yet)"
	}
	return ""
}

func packageName(id int64, packages []iap.Package) string {
	for _, p := range packages {
		if p.ID == id {
			return p.Name
		}
	}
	return ""
}
