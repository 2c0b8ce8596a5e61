package settings

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/iap"
	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
)

// AddProduct maps a store product to a package in the draft. A product that is
// mapped already is a conflict (product_exists).
func (s *Service) AddProduct(ctx context.Context, actor people.Actor, revision int64, storeID string, packageID int64) (Draft, error) {
	storeID = strings.TrimSpace(storeID)
	if problem := iap.CheckProductID(storeID); problem != "" {
		return Draft{}, input.Refused(map[string]string{"product": problem})
	}
	return s.changeProducts(ctx, actor, revision, func(list []iap.Product) ([]iap.Product, error) {
		for _, p := range list {
			if p.StoreID == storeID && p.PackageID != packageID {
				return nil, fault.Conflict("product_exists", fmt.Sprintf("The product %s is already mapped to package %d", storeID, p.PackageID))
			}
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
	return s.changeProducts(ctx, actor, revision, func(list []iap.Product) ([]iap.Product, error) {
		left := slices.DeleteFunc(slices.Clone(list), func(p iap.Product) bool { return p.StoreID == storeID })
		if len(left) == len(list) {
			return nil, fault.NotFound("product_not_found", fmt.Sprintf("No product %s in the map", strconv.Quote(input.Shorten(storeID))))
		}
		return left, nil
	}, iap.KeyProductMap)
}

// changeProducts changes the map in the draft. field names what is wrong when a
// package does not exist.
func (s *Service) changeProducts(ctx context.Context, actor people.Actor, revision int64, change func([]iap.Product) ([]iap.Product, error), field string) (Draft, error) {
	return s.changeDraft(ctx, actor, Edit{Revision: revision}, func(tx *addondb.DB, _ Draft, v values) error {
		list, err := change(v.iap().Products)
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
		return nil
	})
}
