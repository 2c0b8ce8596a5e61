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
	const name, why = "item pictures", "Clients show the store's default picture for these items."
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
	which := strings.Join(named, ", ")
	if count > int64(len(ids)) {
		which = "the first are " + which
	}
	return health.Finding{
		Name: name, Level: health.Warn, Why: why,
		What: fmt.Sprintf("Items without a thumbnail or a preview image: %d (%s)", count, which),
		Fix: "countersign store item edit ID --thumbnail URL --preview-image URL. " +
			"To list all of them: countersign store item list --without-picture",
	}
}
