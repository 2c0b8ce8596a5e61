package membership

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/entitle"
	"github.com/countersign/countersign/internal/play"
	"github.com/countersign/countersign/internal/sqldb"
)

// namePrefix begins the ids of purchases.
const namePrefix = "pur_"

// at is a time of the store as a column holds it.
func at(t time.Time) sqldb.Time { return sqldb.Time{Time: t.UTC().Truncate(time.Second)} }

// filled returns a purchase and its items as an answer of the store has them. row is the
// purchase before, zero for none.
func (s *Service) filled(ctx context.Context, tx *addondb.DB, row addondb.Purchase, before []addondb.PurchaseItem, r *reading, to owner) (addondb.Purchase, []addondb.PurchaseItem, error) {
	if err := s.grantDays(ctx, tx, row, before, r, to); err != nil {
		return row, nil, err
	}
	next, err := s.begun(ctx, tx, row, r)
	if err != nil {
		return next, nil, err
	}
	voided, err := tx.VoidedOrders(ctx, row.ID)
	if err != nil {
		return next, nil, err
	}
	last := entitle.Decision{Status: entitle.Status(row.Status), Access: row.Access, Until: row.ExpiresAt.Time}
	d := entitle.Decide(r.sub, last, func(order string) bool { return slices.Contains(voided, order) }, r.at)
	if d.Unknown {
		if err := s.raise(ctx, tx, alertUnknownState, string(r.sub.State), fmt.Sprintf("The store sends the state %s, which this version does not know. Access stays as it was", clip(string(r.sub.State)))); err != nil {
			return next, nil, err
		}
	}
	if next.SupersededBy != 0 {
		d.Status, d.Access = entitle.Superseded, false
	}
	s.decided(&next, r.sub, d)
	if to.user != "" && to.user != row.UserID {
		next.UserID, next.Transferred = to.user, to.transferred
		if to.from != "" {
			next.TransferredAt = s.timestamp()
		}
	}
	s.due(&next)
	items := s.itemsOf(r, before, d)
	sealed := tokens{Token: r.token, Linked: r.sub.LinkedToken, Before: r.before, OutOfApp: r.sub.OutOfApp}
	next.Sealed, err = seal(s.box(), next.Name, sealed)
	return next, items, err
}

const alertUnknownState = "unknown_state"

// clip shortens a text of the store for a message.
func clip(text string) string { return text[:min(len(text), 60)] }

// begun is a purchase before its decision: what an answer says of it, and what it had before.
func (s *Service) begun(ctx context.Context, tx *addondb.DB, row addondb.Purchase, r *reading) (addondb.Purchase, error) {
	next := row
	if row.ID == 0 {
		next.Name, next.Platform, next.TokenDigest, next.CreatedAt = namePrefix+strings.ToLower(rand.Text()), platform, r.digest, s.timestamp()
		successor, err := tx.Successor(ctx, r.digest)
		if ignoreNotFound(err) != nil {
			return next, err
		}
		if successor.Retires {
			next.SupersededBy = successor.ID
		}
	}
	next.OneTime = r.sub.OneTime
	next.Environment, next.Application, next.State = string(r.environment), r.selling.Application, string(r.sub.State)
	next.LinkedDigest, next.Retires = linkedDigest(s.box(), r.sub.LinkedToken), entitle.Retires(r.sub)
	next.StartedAt, next.AutoResumeAt = at(r.sub.StartedAt), at(r.sub.AutoResumeAt)
	next.CanceledBy, next.Region, next.PendingOrder = r.sub.CanceledBy, r.sub.Region, r.sub.PendingOrder
	next.Acknowledged, next.ReadAt, next.Reads = r.sub.Acknowledged, s.timestamp(), row.Reads+1
	if r.sub.Account != "" {
		next.AccountID = r.sub.Account
	}
	return next, nil
}

// decided puts a decision into a purchase.
func (s *Service) decided(next *addondb.Purchase, sub play.Subscription, d entitle.Decision) {
	if next.Status != string(d.Status) {
		next.StatusSince = s.timestamp()
	}
	next.Status, next.Access, next.Unverified = string(d.Status), d.Access, false
	if !d.Unknown {
		next.ExpiresAt = at(entitle.End(sub))
	}
}

// due notes since when an acknowledgement is due. A pending purchase can't be acknowledged,
// and one without an owner has brought nobody anything (1.4).
func (s *Service) due(next *addondb.Purchase) {
	switch needed := next.Access && !next.Acknowledged && next.UserID != ""; {
	case !needed:
		next.AcknowledgeSince = sqldb.Time{}
	case next.AcknowledgeSince.IsZero():
		next.AcknowledgeSince = s.timestamp()
	}
}

// itemsOf returns the items of an answer. A product that left the map keeps its package.
func (s *Service) itemsOf(r *reading, before []addondb.PurchaseItem, d entitle.Decision) []addondb.PurchaseItem {
	end := entitle.End(r.sub)
	items := make([]addondb.PurchaseItem, 0, len(r.sub.Items))
	for _, i := range r.sub.Items {
		item := addondb.PurchaseItem{
			ProductID: i.ProductID, BasePlanID: i.BasePlanID, OfferID: i.OfferID, Phase: i.Phase, OrderID: i.OrderID, ExpiresAt: at(i.ExpiresAt),
			PackageID: r.selling.Packages[i.ProductID], Counts: entitle.ItemCounts(r.sub, i, end, r.at), Prepaid: i.Prepaid,
			WillRenew: entitle.WillRenew(r.sub.State, i), Action: string(entitle.ActionFor(d.Status, i)), Deferred: i.Deferred,
		}
		if r.sub.OneTime {
			item.Quantity = i.Quantity
			item.Days, _ = daysOf(i.ProductID, before, r)
		}
		if d.Unknown && len(before) > 0 {
			item.WillRenew = before[0].WillRenew
		}
		if was := slices.IndexFunc(before, func(b addondb.PurchaseItem) bool { return b.ProductID == i.ProductID }); was >= 0 && item.PackageID == 0 {
			item.PackageID = before[was].PackageID
		}
		if i.Price != nil {
			item.Currency, item.Price = i.Price.Currency, decimal(*i.Price)
		}
		items = append(items, item)
	}
	return items
}

// decimal prints an amount with as many decimals as it has, and at least two.
func decimal(m play.Money) string {
	sign := ""
	if m.Units < 0 || m.Nanos < 0 {
		sign, m.Units, m.Nanos = "-", -m.Units, -m.Nanos
	}
	fraction := strings.TrimRight(fmt.Sprintf("%09d", m.Nanos), "0")
	return fmt.Sprintf("%s%d.%s", sign, m.Units, (fraction + "00")[:max(2, len(fraction))])
}

// mainItem is the item that a purchase is shown as: the first one that is paid and activates
// a package, else the first one; nil without items.
func mainItem(items []addondb.PurchaseItem) *addondb.PurchaseItem {
	if len(items) == 0 {
		return nil
	}
	i := slices.IndexFunc(items, func(i addondb.PurchaseItem) bool { return i.Counts && i.PackageID != 0 })
	return &items[max(i, 0)]
}
