package store

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/countersign/countersign/internal/health"
)

// salesSampled is how many purchases are compared with the sums of their day and their item.
const salesSampled = 20

// checkSales compares the sums of sales with a sample of purchases.
func (s *Store) checkSales(ctx context.Context) health.Finding {
	const name, why = "sums of sales", "Reports of sales and revenue are read from sums by day, and by item and month."
	wrong, err := s.db.WrongSales(ctx, rand.Int64(), salesSampled)
	if err == nil && wrong == 0 {
		wrong, err = s.db.WrongSales(ctx, 0, salesSampled)
	}
	switch {
	case err != nil:
		return health.Of(name, err, why, "Check the database.")
	case wrong > 0:
		return health.Finding{
			Name: name, Level: health.Fail, Why: why,
			What: fmt.Sprintf("Purchases whose day or item has another sum than its purchases: %d of a sample", wrong),
			Fix:  "Restore the newest backup, or look for what has written to the database without its triggers.",
		}
	}
	return health.Finding{Name: name, Level: health.OK, What: "The sums of sales are those of the purchases"}
}

// checkItems looks for purchases of items that another workspace has.
func (s *Store) checkItems(ctx context.Context) health.Finding {
	const name, why = "items of purchases", "The licenses of a purchase are for its item, and that item has another seller."
	stray, err := s.db.StraySales(ctx)
	switch {
	case err != nil:
		return health.Of(name, err, why, "Check the database.")
	case stray > 0:
		return health.Finding{
			Name: name, Level: health.Fail, Why: why,
			What: fmt.Sprintf("Items that are in purchases of another workspace than their own: %d. These purchases get no licenses", stray),
			Fix:  "Import these purchases again with an item of their own workspace.",
		}
	}
	return health.Finding{Name: name, Level: health.OK, What: "Every purchase is of an item of its workspace"}
}
