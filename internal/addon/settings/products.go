package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// AddProduct maps a subscription of the store to a package in the draft. A product that is
// mapped already is a conflict (product_exists).
func (s *Service) AddProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID int64) (Draft, error) {
	return s.addProduct(ctx, actor, revision, storeID, packageID, nil)
}

// AddOneTimeProduct is AddProduct for a product that is bought once: for a number of days, or with
// [entitle.Lifetime] for ever.
func (s *Service) AddOneTimeProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID, days int64) (Draft, error) {
	if problem := iap.CheckDays(days); days != entitle.Lifetime && problem != "" {
		return Draft{}, input.Refused(map[string]string{"days": problem})
	}
	return s.addProduct(ctx, actor, revision, storeID, packageID, &days)
}

// addProduct maps a product; days is nil for a subscription.
func (s *Service) addProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID int64, days *int64) (Draft, error) {
	storeID = strings.TrimSpace(storeID)
	if problem := iap.CheckProductID(storeID); problem != "" {
		return Draft{}, input.Refused(map[string]string{"product": problem})
	}
	return s.changeProducts(ctx, actor, revision, func(list []iap.Product, once map[string]int64) ([]iap.Product, error) {
		for _, p := range list {
			if p.StoreID == storeID && p.PackageID != packageID {
				return nil, fault.Conflict("product_exists", fmt.Sprintf("The product %s is already mapped to package %d", storeID, p.PackageID))
			}
		}
		if delete(once, storeID); days != nil {
			once[storeID] = *days
		}
		if len(list) >= iap.MaxProducts {
			return nil, input.Refused(map[string]string{"product": fmt.Sprintf("There are already %d products", len(list))})
		}
		return append(list, iap.Product{StoreID: storeID, PackageID: packageID}), nil
	}, "package")
}

// RemoveProduct takes a store product out of the draft's map. Its error is of kind
// NotFound when it is not in there.
func (s *Service) RemoveProduct(ctx context.Context, actor people.Actor, revision int64, storeID string) (Draft, error) {
	return s.changeProducts(ctx, actor, revision, func(list []iap.Product, once map[string]int64) ([]iap.Product, error) {
		delete(once, storeID)
		left := slices.DeleteFunc(slices.Clone(list), func(p iap.Product) bool { return p.StoreID == storeID })
		if len(left) == len(list) {
			return nil, fault.NotFound("product_not_found", fmt.Sprintf("No product %s in the map", strconv.Quote(input.Shorten(storeID))))
		}
		return left, nil
	}, iap.KeyProductMap)
}

// changeProducts changes the map in the draft, and which of its products are bought once. field names what is wrong
// when a package does not exist.
func (s *Service) changeProducts(ctx context.Context, actor people.Actor, revision int64, change func([]iap.Product, map[string]int64) ([]iap.Product, error), field string) (Draft, error) {
	return s.changeDraft(ctx, actor, Edit{Revision: revision}, func(tx *addondb.DB, _ Draft, v values) error {
		once, _ := iap.ParseOneTime(v[iap.KeyOneTime].Value) // what is saved was checked
		list, err := change(v.iap().Products, once)
		if err != nil {
			return err
		}
		packages, err := tx.Packages(ctx)
		if err != nil {
			return err
		}
		if problem := iap.MissingPackage(list, packages); problem != "" {
			return input.Refused(map[string]string{field: problem})
		}
		v.put(iap.KeyProductMap, TypeProducts, iap.PrintProducts(list))
		v.put(iap.KeyOneTime, TypeText, iap.PrintOneTime(once))
		return nil
	})
}
