package membership

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/countersign/countersign"
	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/sqldb"
)

// printPurchase returns a purchase as others see it (6.4).
func (s *Service) printPurchase(ctx context.Context, tx *addondb.DB, p addondb.Purchase) (countersign.IAPPurchase, error) {
	items, err := tx.PurchaseItems(ctx, p.ID)
	if err != nil {
		return countersign.IAPPurchase{}, err
	}
	packages, err := tx.Packages(ctx)
	if err != nil {
		return countersign.IAPPurchase{}, err
	}
	printed := countersign.IAPPurchase{
		ID: p.Name, Platform: p.Platform, Environment: p.Environment, State: p.Status, Acknowledged: p.Acknowledged, OneTime: p.OneTime,
		StartedAt: timestamp(p.StartedAt), ExpiresAt: timestamp(p.ExpiresAt), AutoResumeAt: timestamp(p.AutoResumeAt),
		Items: make([]countersign.IAPPurchaseItem, len(items)),
	}
	for i, item := range items {
		printed.Items[i] = countersign.IAPPurchaseItem{
			ProductID: item.ProductID, BasePlanID: item.BasePlanID, Package: printPackage(packages, item.PackageID),
			ExpiresAt: timestamp(item.ExpiresAt), AutoRenewing: item.WillRenew,
		}
	}
	if item := mainItem(items); item != nil {
		printed.ProductID, printed.BasePlanID, printed.OfferID, printed.Phase = item.ProductID, item.BasePlanID, optional(item.OfferID), item.Phase
		printed.AutoRenewing, printed.OrderID = item.WillRenew, item.OrderID
		printed.Package = printPackage(packages, item.PackageID)
		if item.Price != "" {
			printed.Price = &countersign.IAPPrice{Amount: json.Number(item.Price), Currency: item.Currency}
		}
	}
	if p.LinkedDigest != nil {
		before, err := tx.PurchaseByToken(ctx, p.Platform, p.LinkedDigest)
		if err := ignoreNotFound(err); err != nil {
			return countersign.IAPPurchase{}, err
		}
		printed.Replaces = optional(before.Name)
	}
	return printed, nil
}

// printPackage returns the package with an id, nil for none.
func printPackage(packages []addondb.Package, id int64) *countersign.IAPPackage {
	i := slices.IndexFunc(packages, func(k addondb.Package) bool { return k.ID == id })
	if i < 0 {
		return nil
	}
	return &countersign.IAPPackage{ID: packages[i].ID, Name: packages[i].Name}
}

// printMembership returns a membership as others see it (6.4).
func printMembership(m addondb.Membership) countersign.IAPMembership {
	d := derivedOf(m)
	printed := countersign.IAPMembership{
		Active: d.Active(), Status: m.Status, Source: optional(m.Source), Since: timestamp(m.Since), Until: timestamp(m.Until),
		WillRenew: m.WillRenew, Grace: d.Status == entitle.Grace, ActionRequired: optional(m.Action), Version: m.Version,
	}
	if m.PackageName != "" {
		printed.Package = &countersign.IAPPackage{ID: m.PackageID, Name: m.PackageName}
	}
	if m.PurchaseID != 0 && !m.OneTime {
		printed.ManageURL = optional(manageURL(m.ProductID, m.Application))
	}
	return printed
}

// manageURL is the store's page where a user manages a subscription.
func manageURL(product, application string) string {
	return "https://play.google.com/store/account/subscriptions?" + "sku=" + url.QueryEscape(product) + "&package=" + url.QueryEscape(application)
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timestamp(t sqldb.Time) *countersign.Timestamp {
	if t.IsZero() {
		return nil
	}
	printed := countersign.At(t.Time)
	return &printed
}

// verified is a verification as the API answers it (6.4).
type verified struct {
	Status string `json:"status"`
	countersign.IAPVerification
}

// Answer returns what the app reads: JSON, and the status 202 for an outcome that is pending,
// else 200.
func (o Outcome) Answer() (status int, body any) {
	status = 200
	if o.Pending {
		status = 202
	}
	return status, verified{"success", countersign.IAPVerification{Result: o.Result, Purchase: o.Purchase, Membership: o.Membership}}
}
