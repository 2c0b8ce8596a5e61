package storedb

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/internal/sqldb"
)

// BuyerColumn is what a buyer is found by.
type BuyerColumn string

// The columns.
const (
	BuyerName  BuyerColumn = "buyer_name"
	BuyerEmail BuyerColumn = "buyer_email"
)

// lastRune is behind every text that begins alike.
const lastRune = "\U0010FFFF"

// PurchasesOfBuyer lists purchases of a workspace whose buyer's name or e-mail address begins with
// a text in small letters, in the order of the column and then the newest first.
func (d *DB) PurchasesOfBuyer(ctx context.Context, workspace int64, by BuyerColumn, text string, limit int) ([]Purchase, error) {
	return sqldb.List(ctx, d.Queries, scanPurchase, fmt.Sprintf(`SELECT %[1]s FROM purchases
		WHERE workspace_id = $1 AND %[2]s <> '' AND lower(%[2]s) >= $2 AND lower(%[2]s) < $3 ORDER BY lower(%[2]s), sold_at DESC LIMIT $4`,
		purchaseColumns, by), workspace, text, text+lastRune, limit)
}
