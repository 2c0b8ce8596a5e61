package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon"
	"github.com/spf13/cobra"
)

func newIAPShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the draft of the in-app purchases, and what apps receive", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withAddon(c, func(ctx context.Context, s *addon.Addon) error {
				iap, err := readIAP(ctx, s)
				if err != nil {
					return err
				}
				return a.printCard(iap.json(), iap.pairs()...)
			})
		},
	}
}

// iap is all that is known of in-app purchases.
type iap struct {
	settings       addon.Settings
	account        addon.ServiceAccountFacts // the draft's
	products       []addon.Product           // the draft's
	packages       []addon.Package
	published      json.RawMessage
	publishedStore countersign.IAPPlatform
}

func readIAP(ctx context.Context, s *addon.Addon) (iap, error) {
	var i iap
	var errs [5]error
	var served *addon.Published
	i.settings, errs[0] = s.Settings(ctx, operator())
	i.account, _, errs[1] = s.ServiceAccount(ctx, operator())
	i.products, errs[2] = s.Products(ctx, operator())
	i.packages, errs[3] = s.Packages(ctx, operator())
	served, errs[4] = s.Published(ctx)
	if err := errors.Join(errs[:]...); err != nil {
		return i, err
	}
	var config countersign.IAPConfig
	if err := json.Unmarshal(served.IAP.JSON, &config); err != nil {
		return i, fmt.Errorf("read the view of in-app purchases: %w", err)
	}
	i.published, i.publishedStore = json.RawMessage(served.IAP.JSON), config.Platforms.Store
	return i, nil
}

// iapJSON is what is known of in-app purchases, as --json prints it.
type iapJSON struct {
	Settings       []settingJSON       `json:"settings"`
	ServiceAccount *serviceAccountJSON `json:"service_account"`
	Products       []productJSON       `json:"products"`
	// Config is what GET /api-addons/iap/config answers.
	Config json.RawMessage `json:"config"`
}

func (i iap) json() iapJSON {
	out := iapJSON{Settings: []settingJSON{}, ServiceAccount: jsonOfServiceAccount(i.account), Products: []productJSON{}, Config: i.published}
	for _, s := range i.settings.List {
		if s.Area == addon.AreaIAP {
			out.Settings = append(out.Settings, jsonOfSetting(s))
		}
	}
	for _, p := range i.products {
		out.Products = append(out.Products, jsonOfProduct(p, i.packages))
	}
	return out
}

func (i iap) pairs() []pair {
	var pairs []pair
	for _, s := range i.settings.List {
		if s.Area == addon.AreaIAP && s.Key != addon.KeyIAPProductMap {
			pairs = append(pairs, pair{s.Key, s.Value + waiting(s)})
		}
	}
	products := make([]string, len(i.products))
	for n, p := range i.products {
		products[n] = fmt.Sprintf("%s: %d %s", p.StoreID, p.PackageID, packageName(p.PackageID, i.packages))
	}
	mapped, _ := i.settings.Get(addon.KeyIAPProductMap)
	pairs = append(pairs, pair{"Products", strings.Join(products, ", ") + waiting(mapped)})
	store := "off"
	if i.publishedStore.Enabled {
		store = "on"
	}
	return append(pairs, pair{"Apps see the store", store})
}

// waiting marks a value that is not published yet.
func waiting(s addon.Setting) string {
	if s.Changed {
		return " (not published yet)"
	}
	return ""
}

func packageName(id int64, packages []addon.Package) string {
	for _, p := range packages {
		if p.ID == id {
			return p.Name
		}
	}
	return ""
}
