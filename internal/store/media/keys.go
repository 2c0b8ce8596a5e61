package media

import (
	"context"

	"github.com/countersign/countersign/internal/blob"
	"github.com/countersign/countersign/internal/sqldb"
	"github.com/countersign/countersign/internal/store/storedb"
)

// Keys lists the files in the bucket that content refers to: not those that are being
// uploaded, and not those that [Service.Sweep] has noted, which it removes in a day.
func Keys(ctx context.Context, c *sqldb.Content) (list []blob.Expected, err error) {
	err = storedb.MediaInUse(ctx, c, func(m UploadedFile) error {
		list = append(list, expected(m))
		return nil
	})
	return list, err
}
