package store

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/countersign/countersign/internal/health"
	"github.com/countersign/countersign/internal/store/storedb"
)

// What is compared with the sums of sales: sampled purchases, each with all of its day and of the month of its item. A quick
// check leaves out days and months with more than quickSales.
const (
	salesSampled, quickSampled = 20, 5
	quickSales                 = 1000
)

// itemsSampled is of how many purchases a quick check looks up the items.
const itemsSampled = 1000

// checkSales compares the sums of sales with a sample of purchases.
func (s *Store) checkSales(ctx context.Context, quick bool) health.Finding {
	const name, why = "sums of sales", "Reports of sales and revenue are read from sums by day, and by item and month."
	sampled, most := salesSampled, int64(math.MaxInt64)
	if quick {
		sampled, most = quickSampled, quickSales
	}
	wrong, err := sample(func(from storedb.Digest) (int64, error) { return s.db.WrongSales(ctx, from, sampled, most) })
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

// sample counts what is wrong with purchases from a random digest on, and with the first ones: from the random one on, a small
// store has none.
func sample(find func(from storedb.Digest) (int64, error)) (wrong int64, err error) {
	if wrong, err = find(rand.Int64()); err != nil || wrong > 0 {
		return wrong, err
	}
	return find(0)
}

// checkItems looks for purchases of items that another workspace has.
func (s *Store) checkItems(ctx context.Context, quick bool) health.Finding {
	const name, why = "items of purchases", "A purchase lets its buyer license its item, and that item has another seller."
	var stray int64
	var err error
	if quick {
		stray, err = sample(func(from storedb.Digest) (int64, error) { return s.db.StraySample(ctx, from, itemsSampled) })
	} else {
		stray, err = s.db.StraySales(ctx)
	}
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
