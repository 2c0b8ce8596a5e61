package media

import (
	"context"

	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Keys lists where the bucket has the files that content refers to: not those that are being
// uploaded, and not those that [Service.Sweep] has noted, which it removes in a day.
func Keys(ctx context.Context, c *sqldb.Content) (keys []string, err error) {
	err = storedb.MediaInUse(ctx, c, func(m Medium) error {
		keys = append(keys, key(m))
		return nil
	})
	return keys, err
}
