package store

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign/countersign/internal/health"
)

// namedItems is how many items a finding names.
const namedItems = 5

// checkPictures lists items for which the API prints a default picture.
func (s *Store) checkPictures(ctx context.Context) health.Finding {
	const name, why = "pictures of items", "Clients show the store's default picture for these items."
	count, ids, err := s.db.ItemsWithoutPicture(ctx, namedItems)
	if err != nil {
		return health.Of(name, err, why, "Check the database.")
	}
	if count == 0 {
		return health.Finding{Name: name, Level: health.OK, What: "Every item has its pictures"}
	}
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = fmt.Sprint(id)
	}
	return health.Finding{
		Name: name, Level: health.Warn, Why: why,
		What: fmt.Sprintf("Items without a thumbnail or a preview image: %d, for example %s", count, strings.Join(named, ", ")),
		Fix:  "Set their URLs as media.thumbnail and media.preview_image, and import the items again.",
	}
}
