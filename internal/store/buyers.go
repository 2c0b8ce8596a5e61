package store

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/rules"
	"github.com/countersign/countersign/internal/store/storedb"
)

// maxBuyerPurchases is how many purchases a search for a buyer returns.
const maxBuyerPurchases = 100

// BuyerPurchases are purchases that a search for a buyer has found, newest first.
type BuyerPurchases struct {
	Purchases []Purchase
	// More reports that there are others.
	More bool
}

// FindBuyer lists purchases of a workspace whose buyer's name begins with a text, at most 100. For those who may
// read the e-mail addresses of buyers, it finds these, too. Capitals among a to z are small letters.
func (s *Store) FindBuyer(ctx context.Context, a people.Actor, workspace, text string) (BuyerPurchases, error) {
	w, err := s.Workspace(ctx, a, workspace)
	if err != nil {
		return BuyerPurchases{}, err
	}
	sees, err := access.SeesBuyers(ctx, s.db, a, w.ID)
	if err != nil {
		return BuyerPurchases{}, err
	}
	text = rules.LowerASCII(strings.TrimSpace(text))
	if text == "" {
		return BuyerPurchases{}, nil
	}
	columns := []storedb.BuyerColumn{storedb.BuyerName}
	if sees {
		columns = append(columns, storedb.BuyerEmail)
	}
	var found BuyerPurchases
	for _, by := range columns {
		some, err := s.db.PurchasesOfBuyer(ctx, w.ID, by, text, maxBuyerPurchases+1)
		if err != nil {
			return BuyerPurchases{}, err
		}
		found.Purchases = append(found.Purchases, some...)
	}
	found.sort()
	for i := range found.Purchases {
		if !sees {
			found.Purchases[i].BuyerEmail = ""
		}
	}
	return found, nil
}

// sort has every purchase once, and cuts the list.
func (b *BuyerPurchases) sort() {
	slices.SortFunc(b.Purchases, func(x, y Purchase) int {
		return cmp.Or(y.SoldAt.Compare(x.SoldAt.Time), cmp.Compare(y.ID, x.ID))
	})
	b.Purchases = slices.CompactFunc(b.Purchases, func(x, y Purchase) bool { return x.ID == y.ID })
	if b.More = len(b.Purchases) > maxBuyerPurchases; b.More {
		b.Purchases = b.Purchases[:maxBuyerPurchases]
	}
}
