package iap

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/access"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/people"
)

// Published is what apps are served (spec 2.7): the view, and its JSON, encoded once.
// Both are immutable.
type Published struct {
	Config  countersign.IAPConfig
	JSON    []byte
	selling Selling
}

// Published returns what apps are served: from the cache, or from the database while
// there is none. Before the first update it is an error of kind Unavailable with the
// code update_needed.
func (s *Service) Published(ctx context.Context) (*Published, error) {
	if s.published.Cached() == nil && !s.access.Installed() {
		return nil, s.access.Ready()
	}
	return s.published.Get(ctx)
}

// Preview is what apps would be served if the draft were published.
func (s *Service) Preview(ctx context.Context, actor people.Actor) (Published, error) {
	if err := s.access.May(actor, access.ManageSettings); err != nil {
		return Published{}, err
	}
	return s.read(ctx, func(tx *addondb.DB) ([]addondb.Setting, error) { return tx.Settings(ctx) })
}

func (s *Service) readPublished(ctx context.Context) (*Published, error) {
	p, err := s.read(ctx, func(tx *addondb.DB) ([]addondb.Setting, error) {
		last, err := tx.LastVersion(ctx)
		return last.Settings.V, err
	})
	return &p, err
}

// read makes the view of some rows of settings.
func (s *Service) read(ctx context.Context, settings func(*addondb.DB) ([]addondb.Setting, error)) (p Published, err error) {
	err = s.db.Snapshot(ctx, func(tx *addondb.DB) error {
		rows, err := settings(tx)
		if err != nil {
			return err
		}
		p, err = s.view(ctx, tx, rows)
		return err
	})
	return p, err
}

// view creates the view of rows of settings.
func (s *Service) view(ctx context.Context, tx *addondb.DB, rows []addondb.Setting) (Published, error) {
	packages, err := tx.Packages(ctx)
	if err != nil {
		return Published{}, err
	}
	accounts, err := ReadAccounts(ctx, tx)
	if err != nil {
		return Published{}, err
	}
	values := ValuesOf(rows)
	config := s.config(values, packages, accounts)
	text, err := countersign.EncodeJSON(config)
	return Published{config, text, s.sellingOf(values, packages, accounts)}, err
}

// serveNow caches what a change of packages has changed. When that fails, the next
// request reads it.
func (s *Service) serveNow(ctx context.Context) {
	if _, err := s.Published(ctx); err != nil && ctx.Err() == nil {
		s.log.Warn("reading the view of in-app purchases failed", "cause", err)
	}
}

// config is the view of in-app purchases (spec 2.7).
func (s *Service) config(v Values, packages []Package, all Accounts) countersign.IAPConfig {
	config := countersign.IAPConfig{
		Enabled: v.Enabled, SandboxEnabled: v.Sandbox,
		Platforms: countersign.IAPPlatforms{Store: countersign.IAPPlatform{PackageName: v.PackageName}},
		Products:  sold(v.Products, packages),
	}
	config.OneTimeProducts = soldOnce(v.Products, packages)
	sells := len(config.Products)+len(config.OneTimeProducts) > 0
	config.Platforms.Store.Enabled = config.Enabled && v.PackageName != "" && sells && s.usable(all, v.Account)
	return config
}

// usable reports whether a service account exists, opens with this key file and parses.
func (s *Service) usable(all Accounts, id string) bool {
	file, ok := openAccount(s.access.Box(), all[id])
	return ok && inspect(file).ok()
}

// sold groups the subscriptions by package: packages ascending by id, products
// ascending. Packages without a product are left out, and products of packages
// that do not exist. A client takes each of these products for a subscription (spec 2.7).
func sold(products []Product, packages []Package) []countersign.IAPProduct {
	list := []countersign.IAPProduct{}
	for _, p := range byID(packages) {
		ids := []string{}
		for _, product := range products {
			if product.PackageID == p.ID && !product.OneTime {
				ids = append(ids, product.StoreID)
			}
		}
		if len(ids) > 0 {
			slices.Sort(ids)
			list = append(list, countersign.IAPProduct{Package: countersign.IAPPackage{ID: p.ID, Name: p.Name}, StoreProductIDs: ids})
		}
	}
	return list
}

// soldOnce lists the one-time products, by package and product.
func soldOnce(products []Product, packages []Package) (list []countersign.IAPOneTimeProduct) {
	for _, p := range byID(packages) {
		for _, product := range products {
			if product.PackageID != p.ID || !product.OneTime {
				continue
			}
			sold := countersign.IAPOneTimeProduct{Package: countersign.IAPPackage{ID: p.ID, Name: p.Name}, StoreProductID: product.StoreID}
			if product.Days != entitle.Lifetime {
				sold.Days = &product.Days
			}
			list = append(list, sold)
		}
	}
	return list
}

func byID(packages []Package) []Package {
	return slices.SortedFunc(slices.Values(packages), func(a, b Package) int { return cmp.Compare(a.ID, b.ID) })
}
