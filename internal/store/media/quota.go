package media

import (
	"context"
	"fmt"
	"math"

	"github.com/countersign/countersign/internal/fault"
	"github.com/countersign/countersign/internal/people"
	"github.com/countersign/countersign/internal/store/access"
	"github.com/countersign/countersign/internal/store/storedb"
	"github.com/countersign/countersign/internal/wording"
)

// Usage is what the uploaded files of a workspace take, in bytes. Those that were replaced or removed count until they
// are deleted, a day later.
type Usage struct {
	Used int64
	// Quota is how much they may take, 0 for any amount.
	Quota int64
}

// left is how much may still be uploaded.
func (u Usage) left() int64 {
	if u.Quota == 0 {
		return math.MaxInt64
	}
	return u.Quota - u.Used
}

// refused is the error about a file that does not fit into the quota.
func (u Usage) refused() error {
	return fault.Conflict("upload_quota", fmt.Sprintf("The uploaded files of the workspace may take %s together, and %s is left. "+
		"Files that were replaced or removed count for another day. Nothing was saved", wording.Size(u.Quota), wording.Size(max(0, u.left()))))
}

// Usage returns what the uploaded files of a workspace take, for those who see it.
func (s *Service) Usage(ctx context.Context, a people.Actor, workspace int64) (Usage, error) {
	if err := access.In(ctx, s.db, a, workspace, access.View, ErrNotFound); err != nil {
		return Usage{}, err
	}
	return s.usage(ctx, s.db, workspace)
}

func (s *Service) usage(ctx context.Context, db *storedb.DB, workspace int64) (u Usage, err error) {
	u.Quota = s.quota
	u.Used, err = db.UploadedBytes(ctx, workspace)
	return u, err
}
